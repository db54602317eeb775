"""Tables of a set's runs with their settings and results, and of means over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from farpath.base.column import NOTHING, Column, Shown, given, number
from farpath.mechanisms.era.mechanism import era_text
from farpath.mechanisms.registry import mechanism_columns
from farpath.metrics.catalogue import FLOWS_RTT, RUN
from farpath.metrics.estimate import Estimate
from farpath.metrics.record_set import Group, Member, RecordSet
from farpath.metrics.run_settings import SETTINGS, further_settings, group_settings
from farpath.record.record_directory import short_fingerprint
from farpath.report.table import Cell, Table, with_interval

NOTE = (
    "CoV, the coefficient of variation (the paper's S): standard deviation over mean of each "
    "second's throughput, all flows together; 0 is constant. F: Jain's "
    "fairness index, the least of the regions with several flows. ping p99: 99th percentile of the "
    "RTTs of pings beside the flows. flow RTT p99: of the smoothed RTTs of the flows' senders. "
    "drops: by the bottleneck; of several, by the link on which packets waited longest."
)
INTERVAL_NOTE = "Means over seeds; ±: half of the 95 % confidence interval (Student's t)."
ALIKE_NOTE = (
    "Runs {} are the same packet for packet with each seed: nothing in them is random, so seeds "
    "say nothing."
)
HARDLY_NOTE = (
    "Nothing in runs {} is random, so that seeds say little: they move only the start of programs, "
    "by microseconds."
)


def _of_run(key: str) -> Column[Member]:
    return RUN[key].seen_from(lambda member: member.run.summary)


def _of_values(column: Column[Any]) -> Column[Member]:
    return Column(
        key=column.key,
        heading=column.heading,
        of=lambda member: member.values.get(column.key),
        decimals=column.decimals,
        counts=column.counts,
    )


#: The results of runs; with many settings beside them a heading says that the rate is a mean.
METRICS: tuple[Column[Member], ...] = (
    replace(_of_run("throughput_mbps"), heading="mean Mbit/s"),
    *map(_of_run, ("cov", "fairness_min", "rtt_p99_ms")),
    _of_values(FLOWS_RTT["smoothed_rtt_median_ms"]).hidden,
    _of_values(FLOWS_RTT["smoothed_rtt_p99_ms"]),
    _of_run("queue_drops"),
)


def run_tables(records: RecordSet) -> tuple[Table, ...]:
    """Return every run, means over seeds if there are several, and where the records are."""
    groups = zip(records.groups, group_settings(records), strict=True)
    several = [(group, settings_text) for group, settings_text in groups if len(group.seeds) > 1]
    over_seeds = (_over_seeds(records, several),) if several else ()
    return (_runs_table(records), *over_seeds, _records_table(records))


def _settings_cells(member: Member, further: str) -> list[Cell]:
    plan = member.plan
    shown = [setting.cell(member) for setting in SETTINGS]
    return [*shown, plan.schedule.region_s, plan.path.name, era_text(plan.era), further]


_FURTHER_SETTINGS = tuple(map(given, ("region_s", "path", "era", "further")))


def _of_mechanisms(records: RecordSet) -> list[Column[Member]]:
    """Return the columns of mechanisms that some run of a set has a value of."""
    return [
        _of_values(column)
        for column in mechanism_columns()
        if any(column.key in member.values for member in records.members)
    ]


def _runs_table(records: RecordSet) -> Table:
    further, of_mechanisms = further_settings(records), _of_mechanisms(records)
    rows = tuple(
        (
            index,
            *_settings_cells(member, further[member.run.record]),
            member.plan.seed,
            *(metric.cell(member) for metric in METRICS),
            *(column.cell(member) for column in of_mechanisms),
            member.run.kernel,
            member.run.record,
            member.run.fingerprint,
        )
        for index, member in enumerate(records.members, 1)
    )
    columns: tuple[Column[Any], ...] = (
        given("run", "run"), *SETTINGS, *_FURTHER_SETTINGS, given("seed", "seed"), *METRICS,
        *of_mechanisms, *map(given, ("kernel", "record", "fingerprint")),
    )  # fmt: skip
    return Table("runs", "Runs", columns, rows, " ".join([*_further_notes(further), NOTE]))


def _further_notes(further: Mapping[str, str]) -> list[str]:
    """Return a sentence for each text of further settings: which runs have it."""
    runs: dict[str, list[int]] = {}
    for index, text in enumerate(further.values(), 1):
        runs.setdefault(text, []).append(index)
    return [
        f"Run{'s' if len(run_numbers) > 1 else ''} {_numbers(run_numbers)}: {text}."
        for text, run_numbers in runs.items()
        if text
    ]


def _numbers(run_numbers: Sequence[int]) -> str:
    """Format run numbers, as ranges where they are consecutive.

    >>> _numbers([1, 2, 3, 5])
    '1-3, 5'
    """
    ranges: list[list[int]] = []
    for run_number in run_numbers:
        if ranges and ranges[-1][-1] == run_number - 1:
            ranges[-1].append(run_number)
        else:
            ranges.append([run_number])
    return ", ".join(str(span[0]) if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in ranges)


def _over_seeds(records: RecordSet, groups: Sequence[tuple[Group, str]]) -> Table:
    further = further_settings(records)
    rows: list[tuple[Cell, ...]] = []
    alike: list[int] = []
    hardly: list[int] = []
    for group, settings_text in groups:
        first, seeds = group.members[0], len(group.seeds)
        run_numbers = [records.members.index(member) + 1 for member in group.members]
        alike += run_numbers if group.are_alike else []
        hardly += run_numbers if group.are_hardly_random else []
        means = [(metric, group.over_seeds(metric.number_of)) for metric in METRICS]
        cells: Iterator[tuple[Cell, Cell]] = (
            (
                Shown(mean.mean, mean_text(mean, metric.decimals, group.are_hardly_random)),
                mean.half_width,
            )
            for metric, mean in means
        )
        rows.append(
            (
                _numbers(run_numbers),
                *_settings_cells(first, further[first.run.record]),
                settings_text or NOTHING,
                Shown(seeds, seeds_words(seeds, group.are_alike, group.are_hardly_random)),
                *(cell for pair in cells for cell in pair),
            )
        )
    of_metrics: Iterator[tuple[Column[Any], Column[Any]]] = (
        (metric, given(f"{metric.key}_half_width_95")) for metric in METRICS
    )
    columns: tuple[Column[Any], ...] = (
        given("runs", "runs"), SETTINGS[0], *(setting.hidden for setting in SETTINGS[1:]),
        *_FURTHER_SETTINGS, given("", "settings"), given("seeds", "seeds"),
        *(column for pair in of_metrics for column in pair),
    )  # fmt: skip
    title = "Runs that differ in nothing but their seeds"
    notes = (
        INTERVAL_NOTE,
        *([ALIKE_NOTE.format(_numbers(alike))] if alike else []),
        *([HARDLY_NOTE.format(_numbers(hardly))] if hardly else []),
    )
    return Table("over-seeds", title, columns, tuple(rows), " ".join(notes))


def mean_text(estimated: Estimate, decimals: int, hardly_random: bool) -> str:
    """Format a mean, of runs that are hardly random without an interval that rounds to zero."""
    if hardly_random and round(estimated.half_width, decimals) == 0:
        return number(estimated.mean, decimals)
    return with_interval(estimated, decimals)


def seeds_words(seeds: int, are_alike: bool, are_hardly_random: bool = False) -> str:
    """Return how many seeds runs had, and whether these decided nothing, or hardly anything.

    >>> seeds_words(3, True), seeds_words(3, False), seeds_words(3, False, True)
    ('3, not random', '3', '3, hardly random')
    """
    words = ", not random" if are_alike else ", hardly random" if are_hardly_random else ""
    return f"{seeds}{words}"


def _records_table(records: RecordSet) -> Table:
    """Return which record belongs to which run, for formats that have no other link."""
    rows = tuple(
        (
            index,
            member.run.record,
            member.run.kernel,
            Shown(member.run.fingerprint, short_fingerprint(member.run.fingerprint)),
        )
        for index, member in enumerate(records.members, 1)
    )
    columns = tuple(given(key, key) for key in ("run", "record", "kernel", "fingerprint"))
    return Table("records", f"Records in {records.directory}", columns, rows)
