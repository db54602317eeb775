"""Site clock: the moments upon which the guests of a deployment's sites agree in advance."""

from __future__ import annotations

from itertools import accumulate

from farpath.spec.plan import Plan
from farpath.spec.services import Services
from farpath.spec.sites import CLOCK_START_NS, FIRST_WINDOW_NS

NS_PER_S = 1_000_000_000
#: When the first window begins, after the start of the clock.
WINDOWS_NS = FIRST_WINDOW_NS - CLOCK_START_NS
#: Virtual time in which a guest makes a service's host; measured: 5 ms.
HOST_NS = 50_000_000
#: Time between two pings of the idle path, and how long ping waits for an answer beyond two RTTs,
#: both in s.
IDLE_INTERVAL_S, LOST_S = 0.2, 0.1


def first_turn_after_ns(services: Services) -> int:
    """Return when the pings of the idle paths begin, in ns after the start of the clock."""
    return WINDOWS_NS + HOST_NS * len(services.services)


def turns_after_ns(plan: Plan, services: Services) -> dict[str, int]:
    """Return when the pings of each pair begin, in ns after the start of the clock.

    Only one pair pings at a time, so that no ping waits for another's.
    """
    starts = accumulate(_lengths_ns(plan), initial=first_turn_after_ns(services))
    return dict(zip(plan.idle_pings, starts, strict=False))


def epoch_after_ns(plan: Plan, services: Services) -> int:
    """Return when the first services start, in ns after the start of the clock: a whole second."""
    end_ns = first_turn_after_ns(services) + sum(_lengths_ns(plan))
    return (end_ns // NS_PER_S + 1) * NS_PER_S


def _lengths_ns(plan: Plan) -> list[int]:
    """Return the length of each pair's turn."""
    lengths_s = [
        plan.idle_ping_count * IDLE_INTERVAL_S + 3 * plan.pair_rtt_ms(*pair) / 1e3 + LOST_S
        for pair in plan.idle_pings.values()
    ]
    return [round(length_s * NS_PER_S) for length_s in lengths_s]


def clock_start_ns(plan: Plan, services: Services) -> int:
    """Return what the guests' clocks show at their start, so that services find their date.

    The links between guests go by this clock, and it is not set while they carry packets.
    """
    if services.date_s is None or plan.settings.one_guest:
        return CLOCK_START_NS
    return services.date_s * NS_PER_S - epoch_after_ns(plan, services)
