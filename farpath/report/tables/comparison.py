"""Comparison of a few records: in which settings and results they differ, and their curves."""

from __future__ import annotations

import dataclasses
import math
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farpath.base.column import NOTHING, Column, number
from farpath.base.errors import BadInputError
from farpath.metrics.catalogue import FLOW, FLOWS_RTT, RUN_RESULTS, SPURIOUS
from farpath.metrics.flow_summary import FlowSummary, flows_of
from farpath.metrics.link import busiest, summarise_record
from farpath.metrics.record_set import RUNS, Member, make_record_set
from farpath.metrics.results import run_summary
from farpath.metrics.run import Summary, aggregate, per_second
from farpath.metrics.run_settings import SETTINGS, further_settings
from farpath.record.record_directory import short_fingerprint
from farpath.report.table import Table
from farpath.report.tables.deviations import difference, ratio

if TYPE_CHECKING:
    from farpath.record.record import Record
    from farpath.spec.schedule import Flow

#: The most records of a comparison: as many as figures have colours.
MOST_RECORDS = 12
#: The row that says which of several bottlenecks a run's drops are of.
QUEUED_MOST = "link that queued most"
#: The most flows that have panels of their own, and settings whose values a title has.
MOST_FLOWS, MOST_IN_TITLE = 4, 2
#: Settings by the names that ``by`` takes, and what a run has that differs in nothing unusual.
STACK, BUFFER, SEED, USUAL = "stack", "buffer", "seed", "as usual"
#: By which part a buffer may differ from the multiple of a BDP that it is called.
BDP_PART = 0.01
#: The quantities of flows: of several, and of a run's only one, which shares the others with it.
_OF_FLOWS = ("throughput_mbps", "share", "completion_s", "drops", *FLOWS_RTT)
_OF_ONE_FLOW = ("completion_s",)
_RUNS_NOTE = "Numbers are of one run each: with other seeds they differ too."
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


def flow_curve(name: str) -> Callable[[Record], Curve]:
    """Return what gives a flow's throughput in Mbit/s in each second."""

    def curve(record: Record) -> Curve:
        rates = per_second(record.samples, record.plan.schedule)[name] / 1e6
        return Curve([t_s - 0.5 for t_s in rates.index], list(rates))

    return curve


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


#: The quantities of whole runs.
_RESULTS: tuple[Column[Compared], ...] = (
    *(column.seen_from(lambda run: run.summary) for column in RUN_RESULTS),
    *(column.seen_from(lambda run: run.record) for column in FLOWS_RTT.values()),
    SPURIOUS.seen_from(lambda run: run.flows),
)


@dataclass(frozen=True)
class Comparison:
    """The records of a comparison in their order; differences are from the first.

    ``title``: what they have in common, and in what they differ. ``is_ordered``: whether they
    differ in numbers alone, by which they are sorted.
    """

    runs: tuple[Compared, ...]
    title: str
    is_ordered: bool = True

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows, if all runs have the same several ones; else none."""
        first, *others = ([(flow.name, flow.stack) for flow in _flows(run)] for run in self.runs)
        several = 1 < len(first) <= MOST_FLOWS
        return _flows(self.runs[0]) if several and all(other == first for other in others) else ()

    @property
    def quantities(self) -> dict[str, Callable[[Record], Curve]]:
        """What is drawn: each flow's throughput if all runs have the same, else that of all."""
        of_all, *others = QUANTITIES.items()
        of_flows = [
            (f"{flow.name} {flow.stack} (Mbit/s)", flow_curve(flow.name)) for flow in self.flows
        ]
        return dict([*(of_flows or [of_all]), *others])

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each record with the same samples as the first."""
        first, *others = self.runs
        return tuple(
            f"{other.letter} has the fingerprint of {first.letter}: the same packets at the same "
            "times"
            for other in others
            if other.record.fingerprint == first.record.fingerprint
        )

    @property
    def records_table(self) -> Table:
        """Return which record has which letter."""
        rows = tuple(
            (run.letter, run.settings or NOTHING, short_fingerprint(run.record.fingerprint),
             str(run.record.directory))
            for run in self.runs
        )  # fmt: skip
        return Table.of_texts("Records", ("", "differs in", "fingerprint", "record"), rows)

    @property
    def runs_table(self) -> Table:
        """Return a row for each run for programs: what differs, all results, and the record.

        Columns are those of a sweep's table. ``flow1_stack`` and further columns of flows are there
        where a run has several; ``queue_link`` where one has several bottlenecks.
        """
        most = max(len(run.flows) for run in self.runs)
        names = [f"flow{number}" for number in range(1, most + 1)] if most > 1 else []
        of_flows = [_of_flow(name, key) for name in names for key in ("stack", *_OF_FLOWS)]
        links: list[Column[Compared]] = [
            Column("queue_link", "", lambda run: run.summary.queue_link, for_people=False)
        ]
        columns: list[Column[Compared]] = [
            Column("run", "", lambda run: run.letter),
            Column("differs_in", "differs in", lambda run: run.settings),
            Column("seed", "seed", lambda run: run.record.plan.seed),
            *_RESULTS,
            *(links if any(run.summary.queue_link for run in self.runs) else []),
            *of_flows,
            Column("record", "record", lambda run: str(run.record.directory)),
            Column("fingerprint", "fingerprint", lambda run: run.record.fingerprint),
        ]
        return Table.of("comparison", self.title, columns, self.runs)

    @property
    def results_table(self) -> Table:
        """Return what was measured.

        Of two runs a row is a metric, with each record's value and the difference from the first.
        Of more runs each has a row, which is named by its settings, with the metrics as columns.
        """
        first, *others = self.runs
        if len(others) > 1:
            return self._table_by_run()
        header = ["", first.letter]
        for other in others:
            header += [other.letter, f"{other.letter} against {first.letter}"]
        rows = [
            _row(column.words, [column.number_of(run) for run in self.runs], column.decimals)
            for column in self._of_runs
        ]
        rows += self._link_rows()
        rows += self._flow_rows()
        note = _NOTE.format(first=first.letter)
        return Table.of_texts("Results", tuple(header), tuple(rows), note)

    @property
    def _of_runs(self) -> tuple[Column[Compared], ...]:
        """The quantities of whole runs; spurious retransmissions only if there are any."""
        wasted = any(SPURIOUS.of(run.flows) for run in self.runs)
        return _RESULTS if wasted else _RESULTS[:-1]

    def _table_by_run(self) -> Table:
        columns = {
            column.heading: [column.text(run) for run in self.runs] for column in self._of_runs
        }
        links = [run.summary.queue_link for run in self.runs]
        if any(links):
            columns[QUEUED_MOST] = [link or NOTHING for link in links]
        few = all(len(run.flows) <= MOST_FLOWS for run in self.runs)
        for words, values, decimals in self._flow_metrics() if few else ():
            columns[words] = [number(value, decimals) for value in values]
        rows = zip([run.label for run in self.runs], *columns.values(), strict=True)
        return Table.of_texts("Results", ("", *columns), tuple(rows), _RUNS_NOTE)

    def _link_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the link that drops are of, where a run has several bottlenecks."""
        first, *others = (run.summary.queue_link for run in self.runs)
        if first or any(others):
            cells = (cell for link in others for cell in (link or NOTHING, NOTHING))
            yield (QUEUED_MOST, first or NOTHING, *cells)

    def _flow_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield a row for each metric of each flow that some run knows."""
        for words, values, decimals in self._flow_metrics():
            yield _row(words, values, decimals)

    def _flow_metrics(self) -> Iterator[tuple[str, list[float], int]]:
        """Yield words, values and decimals of each metric of each flow that some run knows.

        What a single flow shares with the whole run is left out.
        """
        most = max(len(run.flows) for run in self.runs)
        for index in range(most):
            flows = [run.flows[index] if index < len(run.flows) else None for run in self.runs]
            stacks = dict.fromkeys(flow.stack for flow in flows if flow)
            for column in [FLOW[key] for key in (_OF_FLOWS if most > 1 else _OF_ONE_FLOW)]:
                values = [column.number_of(flow) if flow else math.nan for flow in flows]
                if not all(map(math.isnan, values)):
                    words = f"flow{index + 1} {' or '.join(stacks)} ({column.heading})"
                    yield words, values, column.decimals


def _of_flow(name: str, key: str) -> Column[Compared]:
    """Return a quantity of the flow of that name; a run without it has no value."""

    def flow_of(run: Compared) -> FlowSummary | None:
        return next((flow for flow in run.flows if flow.flow == name), None)

    column = FLOW[key]
    return dataclasses.replace(
        column.seen_from(flow_of), key=f"{name}_{key}", heading=f"{name} {column.heading}"
    )


def _flows(run: Compared) -> tuple[Flow, ...]:
    return run.record.plan.schedule.flows


def _row(words: str, values: Sequence[float], decimals: int) -> tuple[str, ...]:
    first, *others = values
    cells = [words, number(first, decimals)]
    for value in others:
        cells.append(number(value, decimals))
        cells.append(
            NOTHING
            if not math.isfinite(first)
            else ratio(value, first)
            if first
            else difference(value, first, decimals)
        )
    return tuple(cells)


def compare(records: Iterable[Record], by: str = "") -> Comparison:
    """Compare records, sorted by the settings in which they differ, of which ``by`` is the first.

    Raises BadInputError for fewer than two records, too many, or one given twice, and for a setting
    that there is not.
    """
    chosen = list(records)
    if not 2 <= len(chosen) <= MOST_RECORDS:
        raise BadInputError(
            problem=f"{len(chosen)} record{'s' * (len(chosen) != 1)}",
            remedy=f"give 2 to {MOST_RECORDS} to compare",
        )
    directories = [record.directory.resolve() for record in chosen]
    for record, directory in zip(chosen, directories, strict=True):
        if directories.count(directory) > 1:
            raise BadInputError(
                problem=f"{record.directory}: is given twice", remedy="give different records"
            )
    differences = _differences(chosen, by)
    order = sorted(range(len(chosen)), key=lambda index: differences.keys[index])
    runs = tuple(
        Compared(letter, chosen[index], ", ".join(differences.texts[index]))
        for letter, index in zip(string.ascii_uppercase, order, strict=False)
    )
    return Comparison(runs, differences.title(order), differences.is_ordered)


@dataclass(frozen=True)
class _Differences:
    """Differences of records: the keys that sort them, their texts, and titles.

    ``common``: the stacks of all. ``parts``: for each setting its words, and each record's value.
    ``is_ordered``: whether all of them are numbers.
    """

    keys: tuple[tuple[Any, ...], ...]
    texts: tuple[tuple[str, ...], ...]
    common: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    is_ordered: bool

    def title(self, order: Sequence[int]) -> str:
        """Return the common settings of the records, and the differing values in order."""
        if not self.parts:
            return f"{len(order)} runs of {self.common}"
        if len(self.parts) > MOST_IN_TITLE:
            names = [words.partition("{}")[0].strip() or words for words, _ in self.parts]
            return f"{self.common}: {len(order)} runs that differ in {', '.join(names)}"
        parts = [
            words.format(", ".join(dict.fromkeys(values[index] for index in order)))
            for words, values in self.parts
        ]
        return f"{self.common}: {'; '.join(parts)}"


def _differences(records: Sequence[Record], by: str) -> _Differences:
    # A directory's name may occur twice among records of several directories
    members = [
        Member(record.plan, dataclasses.replace(run_summary(record), record=str(index)))
        for index, record in enumerate(records)
    ]
    settings = {setting.key.partition("_")[0]: setting for setting in SETTINGS}
    allowed = [*settings, SEED]
    if by and by not in allowed:
        raise BadInputError(option="by", given=by, remedy=f"it must be one of {', '.join(allowed)}")
    parts: dict[str, tuple[str, list[str]]] = {}
    sort: dict[str, list[Any]] = {}
    for name, setting in settings.items():
        texts = [setting.text(member) for member in members]
        if len(set(texts)) > 1:
            words, values = setting.words, texts
            if name == BUFFER and (multiples := _bdp_multiples(members)):
                words, values = "buffer {} BDP", multiples
            parts[name] = (words, values)
            sort[name] = [setting.of(member) for member in members]
    further = further_settings(make_record_set(records[0].directory.parent, members, RUNS))
    shared = set.intersection(*(set(text.split(", ")) for text in further.values()))
    others = [
        tuple(
            part for part in further[member.run.record].split(", ") if part and part not in shared
        )
        for member in members
    ]
    seeds = [record.plan.seed for record in records]
    if len(set(seeds)) > 1:
        parts[SEED], sort[SEED] = ("seed {}", [str(seed) for seed in seeds]), list(seeds)
    texts_of = [
        (
            *(
                words.format(values[index])
                for name, (words, values) in parts.items()
                if name != SEED
            ),
            *others[index],
            *(
                words.format(values[index])
                for name, (words, values) in parts.items()
                if name == SEED
            ),
        )
        for index in range(len(records))
    ]
    names = sorted(sort, key=lambda name: name != by)
    keys = [
        (*(sort[name][index] for name in names if name != SEED or by == SEED), others[index],
         seeds[index], index)
        for index in range(len(records))
    ]  # fmt: skip
    in_title = [(words, tuple(values)) for name, (words, values) in parts.items() if name != STACK]
    if any(others):
        in_title.append(("{}", tuple(", ".join(other) or USUAL for other in others)))
    stacks = dict.fromkeys(member.stacks for member in members)
    numbers = all(isinstance(value, int | float) for values in sort.values() for value in values)
    is_ordered = numbers and not any(others)
    return _Differences(
        tuple(keys), tuple(texts_of), ", ".join(stacks), tuple(in_title), is_ordered
    )


def _bdp_multiples(members: Sequence[Member]) -> list[str] | None:
    """Return buffers as multiples of bandwidth-delay products, if all are short numbers of it."""
    ratios = [m.plan.path.buffer_bytes / m.plan.path.bdp_bytes for m in members]
    if any(abs(round(ratio, 2) - ratio) > BDP_PART * ratio for ratio in ratios):
        return None
    return [f"{round(ratio, 2):g}" for ratio in ratios]
