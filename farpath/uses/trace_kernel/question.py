"""Question: which tracepoints of a run are wanted, and of which interval."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.lab.artifacts import elf
from farpath.mechanisms.quantities import MOMENT_S
from farpath.planning.yaml_text import nearest

_PATTERN = re.compile(r"([a-z0-9_]+):(\*|[a-z0-9_]+)")
#: Symbols of a kernel by which it has a trace event, and a group of them (include/trace/stages/).
EVENT_PREFIX, SYSTEM = b"__event_", re.compile(rb"str__(\w+)__trace_system_name")
ALL = "*"


@dataclass(frozen=True)
class Question:
    """Tracepoints that are wanted.

    ``patterns``: pairs of a group of events, which the kernel calls a system, and an event, or
    ``ALL`` of the group. ``from_s``, ``to_s``: the interval, from the schedule's start.
    """

    patterns: tuple[tuple[str, str], ...]
    from_s: float = 0.0
    to_s: float = math.inf

    @property
    def text(self) -> str:
        """The events as they are typed."""
        return ",".join(f"{system}:{event}" for system, event in self.patterns)


def parse(events: str, from_: str | None = None, to: str | None = None) -> Question:
    """Return the question of an option's texts; raise BadInputError for others.

    >>> parse("tcp:*,qdisc:qdisc_dequeue", "2s").patterns
    (('tcp', '*'), ('qdisc', 'qdisc_dequeue'))
    """
    matches = [_PATTERN.fullmatch(word.strip()) for word in events.split(",")]
    if not all(matches):
        raise BadInputError(
            option="events",
            given=events,
            remedy="it must be groups and events of the kernel, as tcp:*,qdisc:qdisc_dequeue",
        )
    patterns = dict.fromkeys((match[1], match[2]) for match in matches if match)
    from_s = MOMENT_S.parse(from_, "from") if from_ is not None else 0.0
    to_s = MOMENT_S.parse(to, "to") if to is not None else math.inf
    if to_s <= from_s:
        raise BadInputError(option="to", given=to, problem="the interval ends before it begins")
    return Question(tuple(patterns), from_s, to_s)


def require_known(question: Question, kernel: FilePath) -> None:
    """Raise BadInputError for a group or an event that is in no tracepoint of a kernel's ELF file.

    An event of another group is found by the kernel alone (``farpath.uses.trace_kernel.measure``).
    """
    names = list(elf.symbol_names(kernel.read_bytes()))
    systems = {match[1].decode() for name in names if (match := SYSTEM.fullmatch(name))}
    events = {
        name.removeprefix(EVENT_PREFIX).decode() for name in names if name.startswith(EVENT_PREFIX)
    }
    for system, event in question.patterns:
        if system not in systems:
            raise unknown(f"{system}:{event}", "group of events", system, systems)
        if event not in {ALL, *events}:
            raise unknown(f"{system}:{event}", "event", event, events)


def unknown(given: str, kind: str, name: str, names: Iterable[str]) -> BadInputError:
    """Return the error of a name that the kernel does not have."""
    known = sorted(names)
    listed = f"it has {', '.join(known)}" if kind != "event" else "see `events=tcp:*`"
    return BadInputError(
        option="events",
        given=given,
        problem=f"the kernel has no {kind} {name}{nearest(name, known)}",
        remedy=listed,
    )
