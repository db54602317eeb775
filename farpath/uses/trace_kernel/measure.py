"""Measure: makes a run again on kernels with tracepoints, and reads their events."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath

from farpath.lab import uml
from farpath.lab.artifacts.elf import symbol
from farpath.lab.artifacts.images import Images
from farpath.lab.artifacts.kernels import title_of, with_tracepoints
from farpath.lab.process import Watch
from farpath.lab.run import run as run_plan
from farpath.lab.watchdog import CLOCK_SYMBOL
from farpath.record.record import load_record
from farpath.record.record_directory import short_fingerprint
from farpath.runs.again import (
    Repetition,
    reasons_of_difference,
    schedule_start_ns,
    site_titles,
)
from farpath.spec.schedule import Flow
from farpath.spec.site_clock import NS_PER_S
from farpath.uses.trace_kernel.question import ALL, Question, require_known, unknown
from farpath.uses.trace_kernel.tracepoints import Event, SiteTrace, in_time, parse
from topologies import lay_out

#: How many events of a site are written at most.
MOST_EVENTS = 100_000
#: The highest virtual time of a kernel.
FOREVER_NS = 2**63 - 1


@dataclass(frozen=True)
class KernelTrace:
    """Tracepoints of all kernels of a run.

    ``events``: in their order. ``titles``: of the sites. ``epoch_ns``: the schedule's start by the
    sites' clocks. ``flows``: of the run. ``lost``: how many events of each site came beyond the
    most. ``fingerprint``: of this run; ``expected``: that of the record, empty without one.
    ``kernel``: the kernels for people. ``reasons``: why the run may be another one; empty if it is
    that of the record.
    """

    events: Sequence[Event]
    titles: Sequence[str]
    epoch_ns: int
    flows: Sequence[Flow]
    lost: Sequence[int]
    fingerprint: str
    expected: str
    kernel: str
    reasons: str = ""

    @property
    def is_of_record(self) -> bool:
        """Whether these are the packets of the record."""
        return self.expected == self.fingerprint

    @property
    def verdict(self) -> str:
        """Whether this is the record's run, as a sentence."""
        made = short_fingerprint(self.fingerprint)
        if not self.expected:
            return f"fingerprint {made}"
        if self.is_of_record:
            return f"fingerprint {made}, as recorded: tracepoints moved no packet"
        return (
            f"fingerprint {made} in place of {short_fingerprint(self.expected)}: the run is "
            f"another one, and these events are of that one ({self.reasons})"
        )


def measure(
    question: Question,
    again: Repetition,
    directory: FilePath,
    tell: Callable[[str], None],
    watch: Watch = lambda _event: None,
) -> KernelTrace:
    """Make the run of a record again with tracepoints.

    ``directory``: of the record. ``tell``: called with lines about progress, ``watch`` with events
    of the guests. Raises BadInputError for events that the kernel does not have, and as
    ``farpath.lab.artifacts.kernels.with_tracepoints`` and ``farpath.lab.run.run``.
    """
    plan, images = again.planned.plan, again.planned.images
    assert images is not None
    layout = lay_out(plan)
    epoch_ns = schedule_start_ns(directory, again)
    traced = with_tracepoints(images, plan.stacks, tell)
    kernels = [traced.at_site(layout, site) for site in range(layout.sites)]
    for linux in {kernel.linux_elf for kernel in kernels}:
        require_known(question, linux)
    with tempfile.TemporaryDirectory(prefix="farpath-trace-") as temporary:
        place = FilePath(temporary)
        asked = partial(_environment, question, kernels, epoch_ns, place)
        play = partial(uml.play, environment=asked)
        tell("making the run again, with tracepoints")
        outcome = run_plan(plan, place / "record", True, watch, traced, play=play)
        traces = [_read(_file(place, site), site) for site in range(layout.sites)]
        record = load_record(outcome.directory, verify=False)
    for trace in traces:
        _require_of_groups(question, trace)
    return KernelTrace(
        *(in_time(traces), site_titles(layout), epoch_ns, plan.schedule.all_flows),
        lost=[trace.lost for trace in traces],
        fingerprint=record.fingerprint,
        expected=again.expected,
        kernel=title_of(traced),
        reasons=(
            ""
            if again.expected in ("", record.fingerprint)
            else reasons_of_difference(again, record, "tracepoints moved packets")
        ),
    )


def _file(place: FilePath, site: int) -> FilePath:
    return place / f"site-{site}.txt"


def _environment(
    question: Question, kernels: Sequence[Images], epoch_ns: int, place: FilePath, site: int
) -> Mapping[str, str]:
    """Return the variables that trace_file.c reads."""
    from_ns, to_ns = (_clock_ns(at_s, epoch_ns) for at_s in (question.from_s, question.to_s))
    return {
        "FARPATH_TRACE_FILE": str(_file(place, site)),
        "FARPATH_TRACE_EVENTS": question.text,
        "FARPATH_TRACE_FROM_NS": str(from_ns),
        "FARPATH_TRACE_TO_NS": str(to_ns),
        "FARPATH_TRACE_MOST": str(MOST_EVENTS),
        "FARPATH_TRACE_CLOCK": str(symbol(kernels[site].linux_elf.read_bytes(), CLOCK_SYMBOL)),
    }


def _clock_ns(at_s: float, epoch_ns: int) -> int:
    """Return a time from the schedule's start, as the sites' clocks show it."""
    return round(min(epoch_ns + at_s * NS_PER_S, FOREVER_NS))


def _read(file: FilePath, site: int) -> SiteTrace:
    # Some events print names of files, in any encoding
    with file.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        return parse(lines, site)


def _require_of_groups(question: Question, trace: SiteTrace) -> None:
    """Raise BadInputError for an event that is in another group than the one that was named."""
    for system, event in question.patterns:
        if event != ALL and event not in (names := trace.known.get(system, frozenset())):
            raise unknown(f"{system}:{event}", f"event of {system} called", event, names)
