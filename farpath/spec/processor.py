"""Processor: the slow processor of a sending host of 2004, as a queue of what arrives there.

The kernel module ``processor`` (images/kernel/devices) is that queue. The constants come from
measurements of single hosts, and from none of the numbers that a campaign is compared with:

- Hughes-Jones, *Transport Benchmarking*, panel discussion, "TCP Stacks & CPU Load": a Xeon of
  2.8 GHz sends 916 Mbit/s in packets of 1448 bytes, with 43 % of its time in the kernel. Every
  second packet is acknowledged. Shared out evenly over packets and ACKs that is 3.6 us, or 10,150
  cycles, for each. A Pentium III of 1.2 GHz, which sends 980 Mbit/s with 95 %, gives 7.5 us, or
  9,000 cycles.
- The same: a flow at 960 Mbit/s with an RTT of 1 ms falls to 770 Mbit/s at 15 ms, without a loss.
  There the packets sent and not yet acknowledged, 1250 of 2 kB, no longer fit into a cache of
  512 kB. That is 2.98 us more for a packet, whose payload and header take 24 lines of 64 bytes:
  124 ns for a line that has to come from memory. To pass a packet in the list of those sent is to
  read one such line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from farpath.spec.wire import came_later

#: The clocks that a processor of a host may have, in Hz.
FREQUENCY_HZ_RANGE = (1e8, 1e11)
#: Cycles for a packet that arrives or leaves: 0.43 x 2.8 GHz for 916 Mbit/s / (8 x 1448 bytes)
#: packets a second and half as many ACKs.
PACKET_CYCLES = 10_150
#: Time to read a line of memory that is not in the cache, in ns.
MISS_NS = 124
#: Linux 2.4 and 2.6: net.core.netdev_max_backlog (net/core/dev.c).
BACKLOG_PACKETS = 300
#: Whose patches remember where earlier walks had ended.
BY_STACK, ALL, NONE = HINTS = ("stack", "all", "none")
#: Stacks whose patches did: "hints" that were "used by TCP developers (Web100, STCP, BIC) to avoid
#: the 2x linear search" (S. Hemminger, [TCP]: receive path optimization, Linux 2.6.13).
HINTED_STACKS = ("scalable", "scalable_2004", "bic", "bic_2004")


@dataclass(frozen=True)
class Processor:
    """The processor of the sending hosts.

    ``frequency_hz``: its clock. ``processors``: how many a host has; one of them works on what
    arrives. ``load``: other programs of the same priority, which share all processors evenly.
    ``backlog_packets``: what may wait for it. ``throttles``: whether a backlog that was full takes
    no packet before it is empty, as behind a card of Linux 2.4 whose driver did not poll (netif_rx
    in net/core/dev.c). ``hints``: whose walks are remembered: those of the stacks of
    ``HINTED_STACKS`` (``BY_STACK``), of all, or of none.
    """

    frequency_hz: float
    load: int = 0
    processors: int = 1
    backlog_packets: int = BACKLOG_PACKETS
    throttles: bool = False
    hints: str = field(default=BY_STACK, metadata=came_later())

    def remembers_walks(self, stack: str) -> bool:
        """Whether the patch of a stack, by its name, remembers where earlier walks had ended."""
        return self.hints == ALL or (self.hints == BY_STACK and stack in HINTED_STACKS)

    @property
    def share(self) -> float:
        """The fraction of one processor that is there for the network.

        >>> Processor(2.8e9, load=1).share, Processor(2.8e9, load=1, processors=2).share
        (0.5, 1.0)
        """
        return min(1.0, self.processors / (1 + self.load))

    @property
    def packet_ns(self) -> int:
        """The time for a packet that arrives, or that an ACK lets go.

        >>> Processor(2.8e9).packet_ns, Processor(2.8e9, load=1).packet_ns
        (3625, 7250)
        """
        return round(PACKET_CYCLES / self.frequency_hz * 1e9 / self.share)

    @property
    def walk_ns(self) -> int:
        """The time to pass a packet of the list of packets sent, in a walk that a SACK causes.

        Memory decides it, not the clock.
        """
        return round(MISS_NS / self.share)


@dataclass(frozen=True)
class ProcessorQueue:
    """The queue as a qdisc of the port that leads to the host.

    The module has its parameters (``farpath.mechanisms.era.device``).
    """

    def tc_lines(self, port: str) -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port."""
        return [f"qdisc add dev {port} root handle 1: processor"]

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc, as ``tc -j qdisc show`` prints it, differs from this one."""
        kind = qdisc.get("kind")
        return [] if kind == "processor" else [f"kind is {kind}, not processor"]
