"""Bus: the PCI-X bus between a host's memory and its card.

The bus carries a packet in segments of at most ``mmrbc_bytes`` (the maximum memory read byte
count of the card), and pauses after each for arbitration. The pause is the only constant that
was measured:

- Cottrell et al., *Characterization and Evaluation of TCP and UDP-based Transport on Real
  Networks*, IV.B: 133 MHz by 64 bits carry 8.53 Gbit/s, and "the effective bus throughput was
  ~ 6.83 Gbit/s with the mmrbc of 4096 bytes", in the packets of 16,080 bytes of Hughes-Jones,
  *Transport Benchmarking*, panel discussion, "10 Gigabit Ethernet: Tuning PCI-X".

docs/eras.md compares other published rates with what this gives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

WIDTH_BITS = 64
#: Clocks of PCI-X by the names that they go by, in Hz (PCI-X Addendum to the PCI Local Bus
#: Specification, Revision 1.0a).
CLOCKS_HZ = {"66MHz": 200e6 / 3, "100MHz": 100e6, "133MHz": 400e6 / 3}
#: What a card may read at once, by the same specification; the first is the default.
MMRBC_BYTES = (512, 1024, 2048, 4096)
#: The pause after a segment: 16,080 bytes in four segments at 6.83 Gbit/s instead of 8.53.
PAUSE_S = (16_080 * 8 / 6.83e9 - 16_080 * 8 / (WIDTH_BITS * CLOCKS_HZ["133MHz"])) / 4


@dataclass(frozen=True)
class Bus:
    """The bus of the sending hosts.

    ``clock``: a name of ``CLOCKS_HZ``. ``mmrbc_bytes``: of the card. ``toe``: whether the card
    makes packets itself (TCP offload engine), and so reads whole segments whatever the packets.
    """

    clock: str
    mmrbc_bytes: int = MMRBC_BYTES[0]
    toe: bool = False

    def rate_bps(self, frame_bytes: int) -> int:
        """Return the rate at which frames of a size reach the card.

        >>> [Bus("133MHz", mmrbc).rate_bps(9014) // 1_000_000 for mmrbc in (512, 4096)]
        [2842, 6398]
        >>> Bus("133MHz", 4096, toe=True).rate_bps(1514) // 1_000_000
        6855
        """
        size_bytes = self.mmrbc_bytes if self.toe else frame_bytes
        pauses_s = math.ceil(size_bytes / self.mmrbc_bytes) * PAUSE_S
        carried_s = size_bytes * 8 / (WIDTH_BITS * CLOCKS_HZ[self.clock])
        return round(size_bytes * 8 / (carried_s + pauses_s))
