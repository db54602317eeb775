"""Far links: the memory that the guests of one run share to hand packets to each other.

The layout of the memory is that of images/kernel/devices/shared.h.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import MachineLacksError
from farpath.planning.memory import in_flight_bytes
from farpath.programs.registry import program_of
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import FAR_LINK_FILE
from farpath.spec.site_network import SiteNetwork
from farpath.spec.sites import FIRST_WINDOW_NS, channels, lead, slots, window_ns

#: struct far_header without its end: magic, version, sites, channels, slots of a channel, bytes of
#: a slot, length of a window and start of the first, both in ns, and lead.
HEADER = struct.Struct("<QIIIIQQQI")
#: struct far_site as far as it is read here: two counts, then the length of the critical path.
SITE = struct.Struct("<IIQ")
MAGIC, VERSION = int.from_bytes(b"FFARLINK", "little"), 2
HEADER_BYTES, SITE_BYTES = 64, 192
PAGE_BYTES = 4096
#: Room for the packets of one window: the bytes that may be on their way, with a record for each
#: packet, twice, since acknowledgements are small, and this much for pings and connections' starts.
PER_BYTE, BASE_BYTES = 2, 16 << 20
#: The same for a link between services without a rate, in place of bytes on their way.
RATELESS_BYTES = 64 << 20


def slot_bytes(plan: Plan, window_s: float) -> int:
    """Return the room for the packets of one window, in whole pages.

    Windows limit the bytes of connections on the way, but neither datagrams nor background traffic.
    """
    if isinstance(plan.user_network, SiteNetwork):
        return _whole_pages(_services_bytes(plan.user_network, window_s))
    background = plan.path.background
    unbound_bps = background.rate_bps * background.sources if background else 0
    stacks = [plan.stack_of(flow) for flow in plan.schedule.all_flows]
    unbound_bps += sum(program_of(one).unbound_bps(one, plan.ip_version) for one in stacks)
    return _whole_pages(
        PER_BYTE * (in_flight_bytes(plan) + round(unbound_bps * window_s / 8)) + BASE_BYTES
    )


def _services_bytes(network: SiteNetwork, window_s: float) -> int:
    """Return the room for what links between services let through in a window."""
    cables = [network.cables[one.number] for one in network.far]
    rates_bps = [shaping.rate_bps for cable in cables for shaping in (cable.there, cable.back)]
    if not all(rates_bps):
        return RATELESS_BYTES
    return PER_BYTE * round(max(rates_bps) * window_s / 8) + BASE_BYTES


def start_bytes(sites: int) -> int:
    """Return where the slots begin, behind the header and what each site writes."""
    return _whole_pages(HEADER_BYTES + sites * SITE_BYTES)


def _whole_pages(size_bytes: int) -> int:
    return -(-size_bytes // PAGE_BYTES) * PAGE_BYTES


@dataclass(frozen=True)
class FarMemory:
    """The memory of a run's far links, by a descriptor that every guest inherits."""

    descriptor: int
    sites: int

    def critical_cpu_s(self) -> float:
        """Return the critical path in s: the duration of the run with a core for each site.

        It is CPU time of the sites' kernels, without waits for other processes.
        """
        paths_ns = []
        for site in range(self.sites):
            counted = os.pread(self.descriptor, SITE.size, HEADER_BYTES + site * SITE_BYTES)
            _closed, _done, critical_ns = SITE.unpack(counted)
            paths_ns.append(critical_ns)
        return float(max(paths_ns) / 1e9)


@contextmanager
def shared_memory(
    plan: Plan, layout: Layout, share: FilePath, first_window_ns: int = FIRST_WINDOW_NS
) -> Iterator[FarMemory]:
    """Make the memory of a run's far links.

    ``share``: the shared directory, where a link leads to the descriptor. ``first_window_ns``: when
    the first window begins, by the guests' clocks. The memory has no
    other name, so it ends with the last process that has it. Pages that no packet has used take
    none. Raises MachineLacksError if the machine makes no such memory.
    """
    window = window_ns(layout)
    capacity_bytes = slot_bytes(plan, window / 1e9)
    header = HEADER.pack(
        *(MAGIC, VERSION, layout.sites, channels(layout), slots(layout)),
        *(capacity_bytes, window, first_window_ns, lead(layout)),
    )
    start = start_bytes(layout.sites)
    try:
        descriptor = os.memfd_create(FAR_LINK_FILE, 0)
    except OSError as error:
        raise MachineLacksError(
            f"no memory for the links between sites: memfd_create(2) says {error.strerror}; "
            "allow it (seccomp profile, vm.memfd_noexec)"
        ) from error
    try:
        os.ftruncate(descriptor, start + channels(layout) * slots(layout) * capacity_bytes)
        os.pwrite(descriptor, header, 0)
        (share / FAR_LINK_FILE).symlink_to(f"/proc/self/fd/{descriptor}")
        yield FarMemory(descriptor, layout.sites)
    finally:
        os.close(descriptor)
