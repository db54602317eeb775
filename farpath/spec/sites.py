"""Sites: which plans run in one guest for each side of their far links, and these links' delays.

A packet that enters a far link leaves it one delay later. So what one site does within a delay
cannot depend on what another does meanwhile, and each site runs in a guest of its own, on a core
of its own, which waits for another only where it is ahead of that by a delay
(images/kernel/devices).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.spec.hosts import RECEIVER, SENDER
from farpath.spec.layout import Layout, Port
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.settings import VIRTUAL, VIRTUAL_CLOCK
from farpath.spec.stack import IPERF3

#: Least delay of a far link in s. Each wait of a guest for another takes some ten microseconds of
#: real time; below this the waits take more than a second core gains (docs/performance.md).
LEAST_DELAY_S = 1e-3
#: Start of every guest's virtual clock, in ns: 9 November 2004, 11:33:20 UTC.
CLOCK_START_NS = 1_100_000_000_000_000_000
#: Start of the first window by the same clock. Each guest needs about one virtual second to set
#: up its part of the network.
FIRST_WINDOW_NS = CLOCK_START_NS + 4_000_000_000
#: Most windows that one site may be ahead of another: a site that is ahead has not waited for the
#: other, but each end of a window costs some microseconds.
MOST_LEAD = 8
#: The kernel's tick (HZ is 1000). Windows are whole ticks and so end with one. An end between ticks
#: is an interrupt more, which can meet a program, and then a trace would move packets.
TICK_NS = 1_000_000


def far_delays_s(plan: Plan) -> tuple[float, float] | None:
    """Return the delays of a plan's far links, towards receivers and back, in s.

    None if the plan runs in one guest. Jitter stays on netem, which delays by the jitter on the
    average, and so does reordering, for which netem needs the whole delay. Of an RTT that changes a
    far link has the least, and netem what is above it. The answer follows
    from the plan alone, never from the machine, so that a fingerprint does not depend on cores.
    """
    path, settings = plan.path, plan.settings
    there_s = path.least_one_way_delay_s - path.jitter_ms / 1e3
    if (settings.lab, settings.clock) != (VIRTUAL, VIRTUAL_CLOCK) or settings.one_guest:
        return None
    if path.reorder:
        return None
    is_far = round(there_s * 1e9) >= round(LEAST_DELAY_S * 1e9)
    return (there_s, path.least_one_way_delay_s) if is_far else None


def side_of(layout: Layout, site: int) -> str:
    """Return the side of a site: the receivers' site is one, all sites of senders are the other."""
    return RECEIVER if site == layout.site_of(RECEIVER) else SENDER


def check_sides(layout: Layout) -> None:
    """Raise BadInputError if a run of this layout cannot have another kernel for each side."""
    if layout.sites == 1:
        raise BadInputError(
            problem="a kernel for one side needs a guest for each side, and this run has one for "
            "both",
            remedy="take `clock=virtual` and a one-way delay that exceeds `jitter` by 1 ms or "
            "more, without `reorder`, and in a parking lot without `drop` towards senders",
        )


def discards_payload(plan: Plan, flow: Flow) -> bool:
    """Whether a flow's receiving kernel discards the payload, which nobody reads then."""
    return plan.settings.receiver_discards and plan.stack_of(flow).program == IPERF3


@dataclass(frozen=True)
class FarEnd:
    """A site's end of a far link: its port, its two channels, and the delay of what arrives."""

    port: Port
    sends_to: int
    receives_from: int
    delay_ns: int


def far_ends(layout: Layout, site: int) -> tuple[FarEnd, ...]:
    """Return a site's ends of far links; each link has two channels, in the order of links."""
    ends = []
    for number, link in enumerate(layout.far_links):
        from_one_s, from_other_s = link.far_delays_s or (0.0, 0.0)
        there, back = 2 * number, 2 * number + 1
        if layout.site_of(link.one.node) == site:
            ends.append(FarEnd(link.one, there, back, round(from_other_s * 1e9)))
        if layout.site_of(link.other.node) == site:
            ends.append(FarEnd(link.other, back, there, round(from_one_s * 1e9)))
    return tuple(ends)


def channels(layout: Layout) -> int:
    """Return the number of channels of a layout's far links."""
    return 2 * len(layout.far_links)


def _delays_ns(layout: Layout) -> list[int]:
    return [
        round(delay_s * 1e9) for link in layout.far_links for delay_s in link.far_delays_s or ()
    ]


def lead(layout: Layout) -> int:
    """Return how many windows one site may be ahead of another: as many as the least delay has."""
    return min(MOST_LEAD, max(1, min(_delays_ns(layout)) // TICK_NS))


def window_ns(layout: Layout) -> int:
    """Return the length of a window in ns: as many ticks as fit into the least delay."""
    return min(_delays_ns(layout)) // lead(layout) // TICK_NS * TICK_NS


def slots(layout: Layout) -> int:
    """Return how many windows' packets a channel holds.

    They are those on their way to a site that is behind by the lead, and of the window that such
    a site has open.
    """
    on_the_way = math.ceil(max(_delays_ns(layout)) / window_ns(layout))
    return on_the_way + lead(layout) + 1
