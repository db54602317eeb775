"""Tracepoints that kernels have passed and written (images/kernel/tracepoints)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from farpath.base.errors import LabFailedError
from farpath.spec.site_clock import NS_PER_S

#: A field as "snd_cwnd=10" or "length = 36, ".
_FIELD = re.compile(r"(\w+) ?= ?([^\s,]+)")
_WHOLE = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True)
class Event:
    """A tracepoint that a kernel has passed.

    ``at_ns``: by the sites' clocks. ``site``: its number. ``process``, ``command``: the
    program that was running. ``context``: task, softirq or hardirq. ``system``: the group of the
    event. ``text``: its fields, as the kernel prints them.
    """

    at_ns: int
    site: int
    process: int
    command: str
    context: str
    system: str
    name: str
    text: str

    @property
    def fields(self) -> dict[str, str | int]:
        """The fields that are printed as pairs of a name and a value; numbers are numbers."""
        return {
            name: int(value) if _WHOLE.fullmatch(value) else value
            for name, value in _FIELD.findall(self.text)
        }


@dataclass(frozen=True)
class SiteTrace:
    """The events of a site, as its kernel has written them.

    ``known``: all events that it has, by group. ``lost``: how many came beyond the most that are
    written.
    """

    events: Sequence[Event]
    known: Mapping[str, frozenset[str]]
    lost: int


def parse(lines: Iterable[str], site: int) -> SiteTrace:
    """Return the lines of a site's file; raise LabFailedError if their end is missing."""
    events: list[Event] = []
    known: dict[str, set[str]] = {}
    lost: int | None = None
    for line in lines:
        match line.rstrip("\n").split("\t", 6):
            case ["event", at_ns, process, command, context, system, printed]:
                name, _, text = printed.partition(": ")
                events.append(
                    Event(
                        *(int(at_ns), site, int(process), command, context, system),
                        name.rstrip(":"),
                        text.strip(),
                    )
                )
            case ["has", system, name]:
                known.setdefault(system, set()).add(name)
            case ["lost", count]:
                lost = int(count)
            case _:
                raise LabFailedError(f"the kernel's trace of site {site} is broken: {line[:120]!r}")
    if lost is None:
        raise LabFailedError(f"the kernel's trace of site {site} has no end")
    return SiteTrace(events, {system: frozenset(names) for system, names in known.items()}, lost)


def in_time(traces: Iterable[SiteTrace]) -> list[Event]:
    """Return the events of all sites in their order; those of one instant by site."""
    return sorted(
        (event for trace in traces for event in trace.events), key=lambda event: event.at_ns
    )


def as_text(events: Iterable[Event], titles: Sequence[str], epoch_ns: int) -> str:
    """Return events as lines: time from the schedule's start in s, site, where, process, event.

    ``titles``: of the sites. ``epoch_ns``: the schedule's start by the sites' clocks.
    """
    width = max(map(len, titles))
    return "".join(
        f"{(event.at_ns - epoch_ns) / NS_PER_S:14.9f} {titles[event.site]:<{width}} "
        f"{event.context:<7} {event.command}-{event.process} "
        f"{event.system}:{event.name}: {event.text}\n"
        for event in events
    )
