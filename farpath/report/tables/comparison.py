"""Comparison of a few records: in which settings and results they differ, and their curves."""

from __future__ import annotations

import dataclasses
import math
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from farpath.analysis.metrics import Summary, aggregate
from farpath.analysis.queues import busiest, summarise_record
from farpath.analysis.record_set import RUNS, Member, make_record_set
from farpath.analysis.results import run_summary
from farpath.analysis.run_settings import SETTINGS, further_settings
from farpath.base.errors import BadInputError
from farpath.report.flow_summary import FlowSummary, flows_of
from farpath.report.tables.regions import NOTHING, TextTable, difference, number, ratio
from farpath.report.tables.run_metrics import FLOW_METRICS, METRICS

if TYPE_CHECKING:
    from farpath.record.record import Record

#: The most records of a comparison: as many as figures have colours.
MOST_RECORDS = 12
#: The row that says which of several bottlenecks a run's drops are of.
QUEUED_MOST = "link that queued most"
_NOTE = (
    "Differences from {first} are in per cent, or plain where its value is 0. Numbers are of one "
    "run each: with other seeds they differ too."
)


@dataclass(frozen=True)
class Curve:
    """A quantity of a run over time: points in s and in the quantity's unit."""

    t_s: Sequence[float]
    values: Sequence[float]


def _throughput(record: Record) -> Curve:
    total = aggregate(record.samples, record.plan.schedule) / 1e6
    return Curve([t_s - 0.5 for t_s in total.index], list(total))


def _ping(record: Record) -> Curve:
    answered = record.samples.ping.dropna()
    return Curve(list(answered["t_s"]), list(answered["rtt_ms"]))


def _queue(record: Record) -> Curve:
    queue = busiest(record).samples
    return Curve(list(queue["t_s"]), list(queue["backlog_bytes"] / 1e6))


#: The quantities that are drawn, with their units.
QUANTITIES: dict[str, Callable[[Record], Curve]] = {
    "throughput (Mbit/s)": _throughput,
    "ping RTT (ms)": _ping,
    "queue (MB)": _queue,
}


@dataclass(frozen=True)
class Compared:
    """One record of a comparison: its letter, its record, and its settings that others lack."""

    letter: str
    record: Record
    settings: str

    @property
    def label(self) -> str:
        """The letter and the settings, for people."""
        return f"{self.letter}: {self.settings}" if self.settings else self.letter

    @cached_property
    def summary(self) -> Summary:
        """The metrics of the whole run."""
        return summarise_record(self.record)

    @cached_property
    def flows(self) -> tuple[FlowSummary, ...]:
        """The results of each flow."""
        return flows_of(self.record)


@dataclass(frozen=True)
class Comparison:
    """The records of a comparison in their order; differences are from the first."""

    runs: tuple[Compared, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each record whose samples are those of the first."""
        first, *others = self.runs
        return tuple(
            f"{other.letter} has the fingerprint of {first.letter}: the same packets at the same "
            "times"
            for other in others
            if other.record.fingerprint == first.record.fingerprint
        )

    @property
    def records_table(self) -> TextTable:
        """Return which record has which letter."""
        rows = tuple(
            (run.letter, run.settings or NOTHING, run.record.fingerprint[:12],
             str(run.record.directory))
            for run in self.runs
        )  # fmt: skip
        return TextTable("Records", ("", "differs in", "fingerprint", "record"), rows)

    @property
    def results_table(self) -> TextTable:
        """Return a row for each metric: each record's value, and its difference from the first."""
        first, *others = self.runs
        header = ["", first.letter]
        for other in others:
            header += [other.letter, f"{other.letter} against {first.letter}"]
        rows = [
            _row(metric.words, [metric.of(run.summary) for run in self.runs], metric.decimals)
            for metric in METRICS
        ]
        rows += self._link_rows()
        rows += self._flow_rows()
        note = _NOTE.format(first=first.letter)
        return TextTable("Results", tuple(header), tuple(rows), note)

    def _link_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the link that drops are of, where a run has several bottlenecks."""
        first, *others = (run.summary.queue_link for run in self.runs)
        if first or any(others):
            cells = (cell for link in others for cell in (link or NOTHING, NOTHING))
            yield (QUEUED_MOST, first or NOTHING, *cells)

    def _flow_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield a row for each metric of each flow that some run knows.

        What a single flow shares with the whole run is left out.
        """
        most = max(len(run.flows) for run in self.runs)
        for index in range(most):
            flows = [run.flows[index] if index < len(run.flows) else None for run in self.runs]
            stacks = dict.fromkeys(flow.stack for flow in flows if flow)
            for metric in FLOW_METRICS:
                values = [metric.of(flow) if flow else None for flow in flows]
                if any(value is not None for value in values) and (most > 1 or metric.of_one_flow):
                    words = f"flow{index + 1} {' or '.join(stacks)} ({metric.words})"
                    known = [math.nan if value is None else value for value in values]
                    yield _row(words, known, metric.decimals)


def _row(words: str, values: Sequence[float], decimals: int) -> tuple[str, ...]:
    first, *others = values
    cells = [words, number(first, decimals)]
    for value in others:
        cells.append(number(value, decimals))
        cells.append(
            NOTHING if not math.isfinite(first)
            else ratio(value, first) if first
            else difference(value, first, decimals)
        )  # fmt: skip
    return tuple(cells)


def compare(records: Iterable[Record]) -> Comparison:
    """Compare records; raise BadInputError for fewer than two, too many, or one given twice."""
    chosen = list(records)
    if not 2 <= len(chosen) <= MOST_RECORDS:
        raise BadInputError(
            f"{len(chosen)} record{'s' * (len(chosen) != 1)}: give 2 to {MOST_RECORDS} to compare"
        )
    directories = [record.directory.resolve() for record in chosen]
    for record, directory in zip(chosen, directories, strict=True):
        if directories.count(directory) > 1:
            raise BadInputError(f"{record.directory}: is given twice: give different records")
    settings = _settings(chosen)
    letters = string.ascii_uppercase
    return Comparison(
        tuple(
            Compared(letter, record, text)
            for letter, record, text in zip(letters, chosen, settings, strict=False)
        )
    )


def _settings(records: Sequence[Record]) -> list[str]:
    """Return, for each record, its values of the settings in which the records differ."""
    # A directory's name may occur twice among records of several directories
    members = [
        Member(record.plan, dataclasses.replace(run_summary(record), record=str(index)))
        for index, record in enumerate(records)
    ]
    differing = [
        setting for setting in SETTINGS if len({setting.text(member) for member in members}) > 1
    ]
    further = further_settings(make_record_set(records[0].directory.parent, members, RUNS))
    shared = set.intersection(*(set(text.split(", ")) for text in further.values()))
    seeds = len({record.plan.seed for record in records}) > 1
    return [
        ", ".join(
            [
                *(setting.words.format(setting.text(member)) for setting in differing),
                *(part for part in further[member.run.record].split(", ") if part not in shared),
                *([f"seed {member.plan.seed}"] if seeds else []),
            ]
        )
        for member in members
    ]
