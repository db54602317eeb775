"""Stopping: brings all sites of a run to an instant, or to an event at one of them.

A site that has reached an instant has handed over all that it sent before. So of two sites the
other one can follow alone, without a wait for the first. Of three or more, two that are behind may
wait for each other: they stay where they are, at most a delay away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import gdb

from farpath.uses.debug.inside.inferiors import CLOCK, Site, Sites, run_silently

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The kernel's count of ticks, one in each virtual ms: few stops until shortly before an instant.
TICKS = "jiffies_64"
TICK_NS = 1_000_000
#: How many sites can be brought to one instant.
EXACT_SITES = 2


class NotReached(Exception):
    """The run has ended before the stop."""


@dataclass(frozen=True)
class Found:
    """An event that an earlier run has found: its site, and its instant by the sites' clocks."""

    site: int
    ns: int


class Ahead(Exception):
    """Another site has passed the instant of an event; a further run can stop it there."""

    def __init__(self, found: Found) -> None:
        super().__init__(found)
        self.found = found


class _ClockWatch(gdb.Breakpoint):
    """Stops a site when a word that goes with its clock is written at or after an instant.

    The guest writes it at each step of its clock. A hardware watchpoint changes neither the guest's
    code nor its memory.
    """

    def __init__(self, site: Site, symbol: str, until_ns: int) -> None:
        with site.selected():
            address = int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))
            super().__init__(f"*(long *){address}", gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        self.silent = True
        self._site, self._until_ns = site, until_ns

    def stop(self) -> bool:
        """Whether gdb is to stop here: the site's clock is there."""
        return self._site.now_ns >= self._until_ns


class EventBreakpoint(gdb.Breakpoint):
    """Stops at a function if all conditions hold, each of which is asked there.

    By hardware, since programs that the guest starts share its text.
    """

    def __init__(self, function: str, conditions: Sequence[Callable[[], bool]] = ()) -> None:
        super().__init__(function, gdb.BP_HARDWARE_BREAKPOINT, internal=True)
        self.silent = True
        self._conditions = conditions

    def stop(self) -> bool:
        """Whether gdb is to stop here: all conditions hold."""
        return all(holds() for holds in self._conditions)


class FieldWatch(gdb.Breakpoint):
    """Stops where a word of the guest is written if the condition holds then."""

    def __init__(self, expression: str, holds: Callable[[], bool]) -> None:
        super().__init__(expression, gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        self.silent = True
        self._holds = holds

    def stop(self) -> bool:
        """Whether gdb is to stop here: the condition holds."""
        return self._holds()


@contextmanager
def _armed(breakpoints: Sequence[gdb.Breakpoint]) -> Iterator[None]:
    try:
        yield
    finally:
        for one in breakpoints:
            if one.is_valid():
                one.delete()


def _continue(sites: Sites) -> None:
    run_silently("continue")
    if sites.is_over():
        raise NotReached


def _together(sites: Sites, symbol: str, until_ns: int) -> None:
    """Run all sites until one of them is at an instant."""
    if any(site.now_ns >= until_ns for site in sites.all):
        return
    with _armed([_ClockWatch(site, symbol, until_ns) for site in sites.all]):
        _continue(sites)


@contextmanager
def _alone(site: Site) -> Iterator[None]:
    """Let this site run alone as long as the context lasts."""
    site.select()
    run_silently("set schedule-multiple off")
    try:
        yield
    finally:
        run_silently("set schedule-multiple on")


def _follow(sites: Sites, until_ns: int) -> None:
    """Bring the other one of two sites to an instant that the first has reached."""
    if len(sites.all) > EXACT_SITES:
        return
    for site in sites.all:
        with _alone(site):
            for symbol, end_ns in ((TICKS, until_ns - 2 * TICK_NS), (CLOCK, until_ns)):
                if site.now_ns < end_ns:
                    with _armed([_ClockWatch(site, symbol, end_ns)]):
                        _continue(sites)


def bring_to(sites: Sites, until_ns: int) -> Site:
    """Bring all sites to an instant; each stops at its first step of the clock at or after it.

    Returns the first of the sites that are there. Raises NotReached if the run ends before.
    """
    _together(sites, TICKS, until_ns - 2 * TICK_NS)
    _together(sites, CLOCK, until_ns)
    _follow(sites, until_ns)
    first = max(sites.all, key=lambda site: site.now_ns >= until_ns)
    first.select()
    return first


#: Makes the breakpoints of an event. It gets a condition beside its own: whether it counts yet.
MakeBreakpoints = Callable[[Callable[[], bool]], Sequence[gdb.Breakpoint]]


def bring_to_event(
    sites: Sites, make: MakeBreakpoints, found: Found | None = None, first_ns: int = 0
) -> Site:
    """Run all sites until an event; return its site. The others are brought to its instant.

    ``found``: the event, if an earlier run has found it. ``first_ns``: when events count from.
    Raises NotReached if the run ends before, and Ahead if another site has passed the instant.
    """
    if found is not None:
        first_ns = found.ns
        bring_to(sites, found.ns - TICK_NS)
    watches = []
    if found is not None and len(sites.all) == EXACT_SITES:
        others = [site for site in sites.all if site.number != found.site]
        watches = [_ClockWatch(site, CLOCK, found.ns) for site in others]
    breakpoints = make(lambda: sites.current.now_ns >= first_ns)
    with _armed([*breakpoints, *watches]):
        _continue(sites)
        site = sites.current
        if found is not None and site.number != found.site:
            for watch in watches:
                watch.delete()
            site = next(one for one in sites.all if one.number == found.site)
            with _alone(site):
                _continue(sites)
    if found is None and any(one.now_ns > site.now_ns for one in sites.others(site)):
        raise Ahead(Found(site.number, site.now_ns))
    _follow(sites, site.now_ns)
    site.select()
    return site
