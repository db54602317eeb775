"""Run tables: a set's runs with their settings and figures, and what these are over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from farpath.analysis.metrics import Summary
from farpath.analysis.record_set import Group, Member, RecordSet
from farpath.analysis.run_settings import SETTINGS, further_settings, group_settings
from farpath.report.tables.campaign import with_interval
from farpath.report.tables.formats import Datum, Sheet
from farpath.report.tables.regions import NOTHING, Grid, number

NOTE = (
    "S: standard deviation over mean of each second's throughput, all flows together. F: Jain's "
    "fairness index, the least of the regions with several flows. RTT p99: of the pings. drops: "
    "by the bottleneck."
)
INTERVAL_NOTE = "Means over seeds; ±: half of the 95 % confidence interval (Student's t)."
ALIKE_NOTE = (
    "Runs {} are the same packet for packet: nothing in them is random, so seeds say nothing."
)


@dataclass(frozen=True)
class Figure:
    """A figure of a run: its heading, its key with its unit, and how it is shown."""

    heading: str
    key: str
    of: Callable[[Summary], float]
    decimals: int


FIGURES = (
    Figure("mean Mbit/s", "mean_mbps", lambda run: run.mean_bps / 1e6, 2),
    Figure("S", "stability", lambda run: run.stability, 2),
    Figure("F min", "fairness_min", lambda run: run.fairness_min, 2),
    Figure("RTT p99 ms", "rtt_p99_ms", lambda run: run.rtt_p99_ms, 1),
    Figure("drops", "queue_drops", lambda run: run.queue_drops, 0),
)


def run_sheets(records: RecordSet) -> tuple[Sheet, ...]:
    """Every run, means over seeds where there are several, and where the records are."""
    groups = zip(records.groups, group_settings(records), strict=True)
    several = [(group, about) for group, about in groups if len(group.seeds) > 1]
    over_seeds = (_over_seeds(records, several),) if several else ()
    return (_runs(records), *over_seeds, _places(records))


def _settings_data(member: Member, further: str) -> list[Datum]:
    values = [setting.value(member) for setting in SETTINGS]
    plan = member.plan
    return [*values, plan.schedule.region_s, plan.path.name, plan.era.name, further]


_SETTINGS_COLUMNS = (*(setting.key for setting in SETTINGS), "region_s", "path", "era", "further")


def _runs(records: RecordSet) -> Sheet:
    further = further_settings(records)
    rows, data = [], []
    for place, member in enumerate(records.members, 1):
        run, seed = member.run, member.plan.seed
        texts = [setting.text(member) for setting in SETTINGS]
        figures = [number(figure.of(run.summary), figure.decimals) for figure in FIGURES]
        rows.append((str(place), *texts, str(seed), *figures))
        values = [figure.of(run.summary) for figure in FIGURES]
        made = (run.kernel, run.record, run.fingerprint)
        data.append((place, *_settings_data(member, further[run.record]), seed, *values, *made))
    settings = tuple(setting.heading for setting in SETTINGS)
    header = ("run", *settings, "seed", *(figure.heading for figure in FIGURES))
    keys = (*_SETTINGS_COLUMNS, "seed", *(figure.key for figure in FIGURES))
    columns = ("run", *keys, "kernel", "record", "fingerprint")
    note = " ".join([*_further_notes(further), NOTE])
    return Sheet("runs", Grid("Runs", header, tuple(rows), note), columns, tuple(data))


def _further_notes(further: Mapping[str, str]) -> list[str]:
    """A sentence for each text of further settings: which runs have it."""
    runs: dict[str, list[int]] = {}
    for place, text in enumerate(further.values(), 1):
        runs.setdefault(text, []).append(place)
    return [
        f"Run{'s' if len(places) > 1 else ''} {_numbers(places)}: {text}."
        for text, places in runs.items()
        if text
    ]


def _numbers(places: Sequence[int]) -> str:
    """Numbers of runs, in ranges where they follow each other.

    >>> _numbers([1, 2, 3, 5])
    '1-3, 5'
    """
    ranges: list[list[int]] = []
    for place in places:
        if ranges and ranges[-1][-1] == place - 1:
            ranges[-1].append(place)
        else:
            ranges.append([place])
    return ", ".join(str(each[0]) if len(each) == 1 else f"{each[0]}-{each[-1]}" for each in ranges)


def _over_seeds(records: RecordSet, groups: Sequence[tuple[Group, str]]) -> Sheet:
    further = further_settings(records)
    rows, data, alike = [], [], []
    for group, about in groups:
        first = group.members[0]
        places = _numbers([records.members.index(member) + 1 for member in group.members])
        means = [group.over_seeds(figure.of) for figure in FIGURES]
        texts = [
            with_interval(mean, figure.decimals)
            for mean, figure in zip(means, FIGURES, strict=True)
        ]
        seeds = len(group.seeds)
        if len({member.run.fingerprint for member in group.members}) == 1:
            alike.append(ALIKE_NOTE.format(places))
        rows.append((places, first.stacks, about or NOTHING, str(seeds), *texts))
        both = [datum for mean in means for datum in (mean.mean, mean.half_width)]
        settings = _settings_data(first, further[first.run.record])
        data.append((places, *settings, seeds, *both))
    header = ("runs", "stack", "settings", "seeds", *(figure.heading for figure in FIGURES))
    keys = [key for each in FIGURES for key in (each.key, f"{each.key}_half_width_95")]
    note = " ".join([INTERVAL_NOTE, *alike])
    grid = Grid("Runs that differ in nothing but their seeds", header, tuple(rows), note)
    return Sheet("over-seeds", grid, ("runs", *_SETTINGS_COLUMNS, "seeds", *keys), tuple(data))


def _places(records: RecordSet) -> Sheet:
    """Which record is which run's, for the forms that show no other link."""
    rows, data = [], []
    for place, member in enumerate(records.members, 1):
        run = member.run
        rows.append((str(place), run.record, run.kernel, run.fingerprint[:12]))
        data.append((place, run.record, run.kernel, run.fingerprint))
    header = ("run", "record", "kernel", "fingerprint")
    grid = Grid(f"Records in {records.directory}", header, tuple(rows))
    return Sheet("records", grid, header, tuple(data))
