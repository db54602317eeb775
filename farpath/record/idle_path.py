"""Idle path: the RTT of pings before any traffic, held against the delays of the plan.

A ping's RTT is the sum of the delays on its way there and back, and the lab's additions to them. On
the virtual clock these are the lateness of the guest's timers. A delay line reads a clock of 256 ns
when a packet comes, and sets a timer. If the clock does not yet show the packet's time when the
timer comes, the timer is set again, for half a microsecond. So a delay ends with a step of this
clock, or with the one after. The place of the timer within a step decides that, and each timer
moves the place of the next. No plan tells the places, but over all of them the mean is known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean, median
from typing import Any

from farpath.base.errors import CheckFailedError
from farpath.spec.ethernet import ETHERNET_HEADER_BYTES
from farpath.spec.hosts import PINGER
from farpath.spec.layout import Layout, Port
from farpath.spec.plan import Plan
from farpath.spec.processor import ProcessorQueue
from farpath.spec.qdiscs import LinkBottleneck, NetemDelay, NicQueue, Qdisc
from farpath.tools import ping
from topologies import lay_out, sites

#: Step of the virtual clock, and the least time for which a timer is set, which then comes 1 ns
#: later (TIMER_MULTIPLIER, TIMER_MIN_DELTA and itimer_next_event in arch/um/kernel/time.c).
CLOCK_STEP_NS, LEAST_TIMER_NS, TIMER_EXTRA_NS = 256, 500, 1
#: By how much an RTT may differ from its mean over all places of timers, however many there are on
#: the way, up to MANY_DELAYS: simulated and measured ones of 80 differed by 3 us at most. Of more
#: delays it grows with the square root of their number. An error of 10 us is found on each way.
SPREAD_NS, MANY_DELAYS = 4_000, 80
#: ping prints the difference of two times in whole microseconds.
PING_NS = 1_000
#: Most that a far link between two guests may add to its delay, or take from it.
FAR_NS = 250
#: Tolerance on clocks on which the kernel's work takes time, and on the wall clock the machine's
#: other load, in ms.
RTT_TOLERANCE_MS = {"cpu": 5.0, "wall": 25.0}
#: The first ping that comes back waits on its way for Open vSwitch to learn it at each link, 26 us
#: at most on drawn ways. It counts only where it is the only one.
FIRST_PING_LINK_MS = 0.03
#: What ping sends by default, in bytes.
PING_DATA_BYTES = 56
#: The chance of an event that does not happen: pings all lost, or jitter that does not cancel out.
NEVER = 1e-12


@dataclass(frozen=True)
class Late:
    """An addition to a delay in ns: the least, the mean and the most."""

    least_ns: float
    mean_ns: float
    most_ns: float


@functools.cache
def timer_late(delay_ns: int) -> Late:
    """Return how late a timer of the virtual clock is, of a delay that begins at a clock's step.

    >>> timer_late(5_000_192).least_ns, timer_late(5_000_192).most_ns
    (0, 256)
    """
    late_ns = [_passed_ns(delay_ns, place) - delay_ns for place in range(CLOCK_STEP_NS)]
    return Late(min(late_ns), fmean(late_ns), max(late_ns))


def _passed_ns(delay_ns: int, place: int) -> int:
    """Return the clock after a timer's work, with the timer set ``place`` ns later."""
    now_ns, shown_ns = place, 0
    while shown_ns < delay_ns:
        left_ns = delay_ns - shown_ns
        set_ns = left_ns if left_ns > LEAST_TIMER_NS else LEAST_TIMER_NS
        now_ns += set_ns + TIMER_EXTRA_NS
        shown_ns = now_ns // CLOCK_STEP_NS * CLOCK_STEP_NS
    return shown_ns


def link_late(sending_ns: int) -> Late:
    """Return by how much a link's time for a packet is off: it ends at the clock's step before.

    >>> link_late(1742), link_late(78)
    (Late(least_ns=-206, mean_ns=-205.0, most_ns=50), Late(least_ns=-78, mean_ns=-78, most_ns=-78))
    """
    steps_ns = sending_ns // CLOCK_STEP_NS * CLOCK_STEP_NS
    timer = timer_late(steps_ns) if steps_ns else Late(0, 0, 0)
    early_ns = sending_ns - steps_ns
    return Late(timer.least_ns - early_ns, timer.mean_ns - early_ns, timer.most_ns - early_ns)


#: Of a delay that nobody knows to the ns, which may end anywhere in a step.
ANY_LATE = Late(0, 254, 511)


@dataclass(frozen=True)
class PortEffect:
    """The effect of one port on a ping on the idle path.

    ``delay_ns``, ``jitter_ns``: its delay and the largest deviation of it. ``sending_ns``: time in
    which a link sends the ping. ``overtakes``: whether some packets skip the delay. ``timer``:
    lateness of its timer. ``further``: other additions.
    """

    delay_ns: int = 0
    sending_ns: int = 0
    jitter_ns: int = 0
    overtakes: bool = False
    timer: Late | None = None
    further: Late = Late(0, 0, 0)


def effect_of(qdisc: Qdisc | None, plan: Plan) -> PortEffect:
    """Return the effect of a port's qdisc on a ping on the idle path.

    A link takes the time in which it sends the ping. A tbf does nothing: its bucket has the tokens
    of a full frame then, so that a ping leaves at once (``farpath.spec.qdiscs.bucket_bytes``). Nor
    does a trace, which has not begun.
    """
    if isinstance(qdisc, NetemDelay) and qdisc.delay_ns:
        jitter_ns = round(qdisc.jitter_s * 1e9)
        timer = ANY_LATE if jitter_ns else timer_late(qdisc.delay_ns)
        return PortEffect(qdisc.delay_ns, 0, jitter_ns, qdisc.reorder > 0, timer)
    if isinstance(qdisc, LinkBottleneck):
        sending_ns = round(ping_frame_bytes(plan) * 8e9 / qdisc.rate_bps)
        return PortEffect(sending_ns=sending_ns, timer=link_late(sending_ns))
    if isinstance(qdisc, NicQueue):
        sent_ns = ping_frame_bytes(plan) * 8e9 / qdisc.rate_bps
        most_ns = sent_ns + 2 * qdisc.half_jitter_ns + ANY_LATE.most_ns
        return PortEffect(further=Late(0, most_ns / 2, most_ns))
    if isinstance(qdisc, ProcessorQueue) and plan.era.processor:
        most_ns = plan.era.processor.packet_ns + ANY_LATE.most_ns
        return PortEffect(further=Late(0, most_ns / 2, most_ns))
    return PortEffect()


def ping_frame_bytes(plan: Plan) -> int:
    """Return the size of the frame of a ping in bytes: data, and headers of ICMP, IP, Ethernet."""
    return PING_DATA_BYTES + 8 + {4: 20, 6: 40}[plan.ip_version] + ETHERNET_HEADER_BYTES


def effects(plan: Plan, layout: Layout, one: str, other: str) -> tuple[PortEffect, ...]:
    """Return the effects of all ports on the way from one host to another and back, in order."""
    found = []
    for start, end in ((one, other), (other, one)):
        for port, far_delay_s in _way(plan, layout, start, end):
            found.append(effect_of(port.queue, plan))
            if far_delay_s:
                far = Late(-FAR_NS, 0, FAR_NS)
                found.append(PortEffect(round(far_delay_s * 1e9), further=far))
    return tuple(found)


def _way(plan: Plan, layout: Layout, start: str, end: str) -> list[tuple[Port, float]]:
    """Return the ports by which packets leave on their way, and the delays of far links.

    There is one way, but in a network of sites, whose switches are told which one to take.
    """
    far_s = {
        port.name: delay_s
        for link in layout.far_links
        for port, delay_s in zip((link.one, link.other), link.far_delays_s or (), strict=True)
    }
    if plan.topology == sites.NAME:
        ports = sites.way_ports(plan, start, end)
        return [(port, far_s.get(port.name, 0.0)) for port in ports]
    leaving: dict[str, list[tuple[Port, str, float]]] = {}
    for link in layout.links:
        for port, other in ((link.one, link.other), (link.other, link.one)):
            delay_s = far_s.get(port.name, 0.0)
            leaving.setdefault(port.node, []).append((port, other.node, delay_s))
    ways: dict[str, list[tuple[Port, float]]] = {start: []}
    for node in (found := [start]):
        for port, neighbour, delay_s in leaving[node]:
            if neighbour not in ways:
                ways[neighbour] = [*ways[node], (port, delay_s)]
                found.append(neighbour)
    return ways[end]


@dataclass(frozen=True)
class Expected:
    """The RTTs that a ping may have.

    ``rtt_ns``: the sum of its delays and of ``sending_ns``, in which links send it. ``least_ns``,
    ``most_ns``: bounds of the lab's addition. ``jitters_ns``: the largest deviation of each delay.
    """

    rtt_ns: int
    least_ns: float
    most_ns: float
    jitters_ns: tuple[int, ...] = ()
    sending_ns: int = 0

    def bounds_ms(self, count: int | None = None) -> tuple[float, float]:
        """Return the least and largest RTT of a ping in ms, or of the mean of ``count`` pings.

        Jitter is uniform and independent. By Hoeffding's inequality (1963, theorem 2) the mean of
        n pings differs by more than sqrt(ln(2/p) / 2n x sum of squared widths) with chance p.
        """
        jitter_ns = float(sum(self.jitters_ns))
        if count:
            squares = sum((2 * jitter_ns) ** 2 for jitter_ns in self.jitters_ns)
            jitter_ns = min(jitter_ns, math.sqrt(math.log(2 / NEVER) / (2 * count) * squares))
        low_ns = self.rtt_ns + self.least_ns - jitter_ns
        return max(0.0, low_ns) / 1e6, (self.rtt_ns + self.most_ns + jitter_ns) / 1e6


def expected(plan: Plan, layout: Layout, one: str, other: str) -> tuple[Expected, ...]:
    """Return the possible RTTs of a ping from one host to another, on the idle path.

    The first is of a ping that overtakes nothing. The others are of pings that skip one delay or
    more (``REORDER``).
    """
    found = effects(plan, layout, one, other)
    skipping = [stage for stage in found if stage.overtakes]
    return tuple(
        _sum([stage for stage in found if all(stage is not one for one in skipped)], plan)
        for skipped in _subsets(skipping)
    )


def _subsets(items: Sequence[PortEffect]) -> Iterator[tuple[PortEffect, ...]]:
    for count in range(len(items) + 1):
        yield from combinations(items, count)


def _sum(met: Sequence[PortEffect], plan: Plan) -> Expected:
    """Return the RTT of a ping that meets these stages."""
    timers = [stage.timer for stage in met if stage.timer]
    spread_ns = SPREAD_NS * math.sqrt(max(1.0, len(timers) / MANY_DELAYS))
    mean_ns = sum(timer.mean_ns for timer in timers)
    least_ns = max(sum(timer.least_ns for timer in timers), mean_ns - spread_ns)
    most_ns = min(sum(timer.most_ns for timer in timers), mean_ns + spread_ns)
    further_ns = sum(stage.further.most_ns for stage in met)
    tolerance_ns = RTT_TOLERANCE_MS.get(plan.settings.clock, 0.0) * 1e6 or float(PING_NS)
    sending_ns = sum(stage.sending_ns for stage in met)
    return Expected(
        sum(stage.delay_ns for stage in met) + sending_ns,
        least_ns + sum(stage.further.least_ns for stage in met) - tolerance_ns,
        most_ns + further_ns + tolerance_ns,
        tuple(stage.jitter_ns for stage in met if stage.jitter_ns),
        sending_ns,
    )


def ping_rtt_ms(plan: Plan, name: str = PINGER) -> float:
    """Return the RTT in ms of a ping over the idle path that the lab adds nothing to.

    It is the path's, and the time in which each link on the way sends the ping. ``name``: one of
    the plan's ``idle_pings``.
    """
    host, receiver = plan.idle_pings[name]
    possible = _as_asked(expected(plan, lay_out(plan), host, receiver), plan, host)
    return possible[0].rtt_ns / 1e6


@dataclass(frozen=True)
class IdleRtt:
    """Result of the pings over the idle path.

    ``rtt_ms``: RTT of the pings that overtook no other: their median, or their mean on a path with
    jitter; None if there were none. ``warnings``: sentences about checks that were not possible.
    """

    rtt_ms: float | None
    warnings: tuple[str, ...] = ()


def check_base_rtt(output: str, plan: Plan, name: str = PINGER) -> IdleRtt:
    """Check an RTT over the idle path and return it.

    ``output``: of ping, before any traffic. ``name``: one of the plan's ``idle_pings``.
    Where some packets overtake others, each ping belongs to the RTT that it may have, if it skips
    some delays or none, and each RTT is checked. That no ping comes back is a warning where it may
    happen by the loss of the plan. Raises CheckFailedError if an RTT is not the planned one.
    """
    host, receiver = plan.idle_pings[name]
    to_receiver = f" to {receiver}" if plan.user_network else ""
    way = "" if host == PINGER else f" from {host}{to_receiver}"
    pings = ping.parse(output)
    rtts_ms = [reply.rtt_ms for reply in pings.replies]
    if not rtts_ms:
        return _nothing_back(pings.sent, plan, host, receiver, way)
    layout = lay_out(plan)
    possible = _as_asked(expected(plan, layout, host, receiver), plan, host)
    # Further replies do not meet a switch that has to learn where their receiver is
    is_alone = len(rtts_ms) == 1
    links = len(_way(plan, layout, host, receiver))
    late_ms = FIRST_PING_LINK_MS * links if is_alone else 0.0
    groups: dict[int, list[float]] = {}
    for rtt_ms in rtts_ms if is_alone else rtts_ms[1:]:
        groups.setdefault(_nearest(rtt_ms, possible), []).append(rtt_ms)
    shown: dict[int, float] = {}
    for number, group in groups.items():
        mean_counts = bool(possible[number].jitters_ns) and not plan.path.duplicate
        mean_counts = mean_counts and len(possible) == 1
        shown[number] = round(fmean(group) if mean_counts else median(group), 6)
        low_ms, high_ms = possible[number].bounds_ms(len(group) if mean_counts else None)
        if not low_ms <= shown[number] <= high_ms + late_ms:
            raise CheckFailedError(
                f"the idle path's RTT{way} is {shown[number]:.3f} ms, not "
                f"{possible[number].rtt_ns / 1e6:g} ms (on the {plan.settings.clock} clock pings "
                f"may take {low_ms:.4f} to {high_ms + late_ms:.4f} ms)"
            )
    if 0 in shown:
        return IdleRtt(shown[0])
    all_of_them = f"all {len(rtts_ms)} pings that came back over the idle path{way}"
    return IdleRtt(None, (f"{all_of_them} overtook others: its whole RTT was not checked",))


def _as_asked(possible: Sequence[Expected], plan: Plan, host: str) -> tuple[Expected, ...]:
    """Return the possible RTTs about that which was asked of a host, if its layout has another.

    A user's own network is asked by its links alone.
    """
    if plan.user_network:
        return tuple(possible)
    delays_ns = possible[0].rtt_ns - possible[0].sending_ns
    missing_ns = round(plan.host_rtt_ms(host) * 1e6) - delays_ns
    return tuple(replace(each, rtt_ns=each.rtt_ns + missing_ns) for each in possible)


def _nothing_back(sent: int, plan: Plan, host: str, receiver: str, way: str) -> IdleRtt:
    """Return the warning that no ping came back; raises CheckFailedError if that cannot happen."""
    lost = plan.ping_loss(host, receiver)
    if lost**sent <= NEVER:
        raise CheckFailedError(
            f"no ping of {sent} came back over the idle path{way}, which loses {100 * lost:.2g} % "
            "of them"
        )
    return IdleRtt(
        None,
        (
            f"no ping of {sent} came back over the idle path{way}, which loses {100 * lost:.2g} % "
            "of them: its RTT was not checked",
        ),
    )


def _nearest(rtt_ms: float, possible: Sequence[Expected]) -> int:
    """Return the number of the RTT that a ping may have had, or else of the nearest one."""

    def distance(number: int) -> tuple[bool, float]:
        low_ms, high_ms = possible[number].bounds_ms()
        return not low_ms <= rtt_ms <= high_ms, abs(rtt_ms - possible[number].rtt_ns / 1e6)

    return min(range(len(possible)), key=distance)


def idle_rtts(found: Mapping[str, IdleRtt]) -> dict[str, Any]:
    """Return the base RTTs in ms, by the plan's ``idle_pings``, as entries of the read-back.

    One that no ping has shown is None.
    """
    first = PINGER if PINGER in found else next(iter(found))
    by_name = {name: idle.rtt_ms for name, idle in found.items() if name != PINGER}
    return {"idle_rtt_ms": found[first].rtt_ms, **({"idle_rtts_ms": by_name} if by_name else {})}


def idle_warnings(found: Mapping[str, IdleRtt]) -> tuple[str, ...]:
    """Return the warnings of all idle pings."""
    return tuple(warning for idle in found.values() for warning in idle.warnings)
