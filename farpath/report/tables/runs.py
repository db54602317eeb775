"""Tables of a set's runs with their settings and results, and of means over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from farpath.analysis.record_set import Group, Member, RecordSet
from farpath.analysis.run_settings import SETTINGS, further_settings, group_settings
from farpath.mechanisms.era import era_text
from farpath.metrics.column import NOTHING, RUN
from farpath.report.tables.campaign import with_interval
from farpath.report.tables.formats import CellValue, ResultTable
from farpath.report.tables.regions import TextTable

NOTE = (
    "CoV, the coefficient of variation (the paper's S): standard deviation over mean of each "
    "second's throughput, all flows together; 0 is constant. F: Jain's "
    "fairness index, the least of the regions with several flows. RTT p99: of the pings. drops: "
    "by the bottleneck; of several, by the link on which packets waited longest."
)
INTERVAL_NOTE = "Means over seeds; ±: half of the 95 % confidence interval (Student's t)."
ALIKE_NOTE = (
    "Runs {} are the same packet for packet: nothing in them is random, so seeds say nothing."
)


#: The results of runs; with many settings beside them a heading says that the rate is a mean.
METRICS = (
    replace(RUN["throughput_mbps"], heading="mean Mbit/s"),
    *(RUN[key] for key in ("cov", "fairness_min", "rtt_p99_ms", "queue_drops")),
)


def run_tables(records: RecordSet) -> tuple[ResultTable, ...]:
    """Return every run, means over seeds if there are several, and where the records are."""
    groups = zip(records.groups, group_settings(records), strict=True)
    several = [(group, settings_text) for group, settings_text in groups if len(group.seeds) > 1]
    over_seeds = (_over_seeds(records, several),) if several else ()
    return (_runs_table(records), *over_seeds, _records_table(records))


def _settings_data(member: Member, further: str) -> list[CellValue]:
    values = [setting.of(member) for setting in SETTINGS]
    plan = member.plan
    return [*values, plan.schedule.region_s, plan.path.name, era_text(plan.era), further]


_SETTINGS_COLUMNS = (*(setting.key for setting in SETTINGS), "region_s", "path", "era", "further")


def _runs_table(records: RecordSet) -> ResultTable:
    further = further_settings(records)
    rows, data = [], []
    for index, member in enumerate(records.members, 1):
        run, seed = member.run, member.plan.seed
        texts = [setting.text(member) for setting in SETTINGS]
        values_text = [metric.text(run.summary) for metric in METRICS]
        rows.append((str(index), *texts, str(seed), *values_text))
        values = [metric.of(run.summary) for metric in METRICS]
        provenance = (run.kernel, run.record, run.fingerprint)
        data.append(
            (index, *_settings_data(member, further[run.record]), seed, *values, *provenance)
        )
    settings = tuple(setting.heading for setting in SETTINGS)
    header = ("run", *settings, "seed", *(metric.heading for metric in METRICS))
    keys = (*_SETTINGS_COLUMNS, "seed", *(metric.key for metric in METRICS))
    columns = ("run", *keys, "kernel", "record", "fingerprint")
    note = " ".join([*_further_notes(further), NOTE])
    return ResultTable("runs", TextTable("Runs", header, tuple(rows), note), columns, tuple(data))


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


def _over_seeds(records: RecordSet, groups: Sequence[tuple[Group, str]]) -> ResultTable:
    further = further_settings(records)
    rows, data, alike = [], [], []
    for group, settings_text in groups:
        first = group.members[0]
        run_numbers = _numbers([records.members.index(member) + 1 for member in group.members])
        means = [group.over_seeds(metric.number_of) for metric in METRICS]
        texts = [
            with_interval(mean, metric.decimals)
            for mean, metric in zip(means, METRICS, strict=True)
        ]
        seeds = len(group.seeds)
        if group.are_alike:
            alike.append(ALIKE_NOTE.format(run_numbers))
        seeds_text = seeds_words(seeds, group.are_alike)
        rows.append((run_numbers, first.stacks, settings_text or NOTHING, seeds_text, *texts))
        estimates = [datum for mean in means for datum in (mean.mean, mean.half_width)]
        settings_data = _settings_data(first, further[first.run.record])
        data.append((run_numbers, *settings_data, seeds, *estimates))
    header = ("runs", "stack", "settings", "seeds", *(metric.heading for metric in METRICS))
    keys = [key for metric in METRICS for key in (metric.key, f"{metric.key}_half_width_95")]
    note = " ".join([INTERVAL_NOTE, *alike])
    text_table = TextTable("Runs that differ in nothing but their seeds", header, tuple(rows), note)
    return ResultTable(
        "over-seeds", text_table, ("runs", *_SETTINGS_COLUMNS, "seeds", *keys), tuple(data)
    )


def seeds_words(seeds: int, are_alike: bool) -> str:
    """Return how many seeds runs had, and whether these decided nothing.

    >>> seeds_words(3, True), seeds_words(3, False)
    ('3, not random', '3')
    """
    return f"{seeds}, not random" if are_alike else str(seeds)


def _records_table(records: RecordSet) -> ResultTable:
    """Return which record belongs to which run, for formats that have no other link."""
    rows, data = [], []
    for index, member in enumerate(records.members, 1):
        run = member.run
        rows.append((str(index), run.record, run.kernel, run.fingerprint[:12]))
        data.append((index, run.record, run.kernel, run.fingerprint))
    header = ("run", "record", "kernel", "fingerprint")
    text_table = TextTable(f"Records in {records.directory}", header, tuple(rows))
    return ResultTable("records", text_table, header, tuple(data))
