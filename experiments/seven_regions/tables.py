"""The paper's tables over all stacks, measured and published.

Measured values are means over seeds with their 95 % confidence interval (Student's t). Published
values are as printed: tables for the path to CERN only, means over stacks for all three paths.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

from farpath.base.column import NOTHING, Column, Value, number
from farpath.metrics.estimate import Estimate, estimate, estimate_over_seeds
from farpath.metrics.results import ResultSet, RunSummary, cpu_measurement_note, mixed
from farpath.metrics.run import Summary
from farpath.report.table import Table, with_interval
from farpath.report.tables.deviations import difference

from .paper_columns import PaperColumn, paper_column
from .paper_stacks import (
    cpu_runs_of,
    intended_differences,
    paper_names,
    runs_of,
)
from .published import (
    PUBLISHED_PATH,
    Published,
    all_published,
    published_paths,
)
from .run_tables import SENT_NOTE

#: The numbers of the paper's regions.
REGION_NUMBERS = range(1, 8)
NOT_RUN = Estimate(math.nan, math.nan, 0)


#: The columns of table 1 in the paper's order.
COLUMNS = (
    paper_column("mean_mbps", "mean Mbit/s", "throughput_mbps",
                 lambda row: row.mean_mbps, 1, 0, "ratio"),
    paper_column("sent_mean_mbps", "sent", "sent_mbps",
                 lambda row: row.mean_mbps, 1, 0, "ratio"),
    paper_column("std_mbps", "s Mbit/s", "std_mbps",
                 lambda row: row.std_mbps, 1, 0, "ratio"),
    paper_column("stability", "S = s/mean", "cov", lambda row: row.stability, 2, 2),
    paper_column("sent_stability", "S sent", "sent_cov", lambda row: row.stability, 2, 2),
    paper_column("fairness_min", "F min", "fairness_min", lambda row: row.fairness_min, 2, 2),
    paper_column("fairness_max", "F max", "fairness_max", lambda row: row.fairness_max, 2, 2),
    paper_column("cpu_percent", "CPU %", "cpu_percent",
                 lambda row: row.cpu_util_as_printed, 1, 3, "", on_cpu=True),
    paper_column("mhz_per_mbps", "MHz / Mbps", "mhz_per_mbps",
                 lambda row: row.mhz_per_mbps, 2, 2, "", on_cpu=True),
    paper_column("rtt_std_ms", "SD(RTT) ms", "rtt_std_ms", lambda row: row.rtt_std_ms, 1, 0),
)  # fmt: skip


def measured(column: PaperColumn, campaign: ResultSet, path: str, name: str) -> Estimate:
    """Return a column's mean over the seeds of one of the paper's stacks."""
    find_runs = cpu_runs_of if column.on_cpu else runs_of
    return over_seeds(find_runs(campaign, path, name), column.measured.number_of)


def over_seeds(runs: Iterable[RunSummary], metric: Callable[[Summary], float | None]) -> Estimate:
    """Return a metric's mean over runs, and its interval; NaN where a run has no value."""
    runs = tuple(runs)
    values = [metric(run.summary) for run in runs]
    return estimate_over_seeds(
        [math.nan if value is None else value for value in values],
        [run.fingerprint for run in runs],
    )


def table_1(campaign: ResultSet, path: str) -> Table:
    """Return table 1 of a path: throughput, S, F, CPU and SD(RTT) of each stack.

    Deviations of throughputs are in per cent of the printed value, all others are differences.
    """
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for name in paper_names():
        estimates = [measured(column, campaign, path, name) for column in COLUMNS]
        printed = all_published()[name] if path == PUBLISHED_PATH else None
        rows += _table_1_rows(name, estimates, printed)
        data.append((name, len(runs_of(campaign, path, name)), *_table_1_data(estimates, printed)))
    header = ("stack", "", *(column.heading for column in COLUMNS))
    title = f"Table 1: all seven regions, path {path}, {_seeds(campaign, path)}"
    note = _note(
        campaign,
        path,
        _interval_note(campaign, path),
        _deviation_note(path, "Deviations of mean and s in per cent, of the others differences."),
        SENT_NOTE,
        _cpu_note(campaign, path),
    )
    columns = ("stack", "seeds", *_table_1_columns())
    return Table.of_values(
        f"table1-{path}", columns, data, Table.of_texts(title, header, tuple(rows), note)
    )


def _table_1_rows(
    name: str, estimates: Sequence[Estimate], printed: Published | None
) -> list[tuple[str, ...]]:
    pairs = list(zip(COLUMNS, estimates, strict=True))
    rows = [(name, "measured", *(number(value.mean, each.decimals) for each, value in pairs))]
    if any(value.count > 1 for value in estimates):
        rows.append(("", "±", *(number(value.half_width, each.decimals) for each, value in pairs)))
    if printed is not None:
        rows.append(("", "published", *(_printed(column.printed, printed) for column, _ in pairs)))
    if printed is not None and any(value.count for value in estimates):
        rows.append(
            ("", "deviation", *(column.deviation_text(value, printed) for column, value in pairs))
        )
    return rows


def _printed(column: Column[Published], row: Published) -> str:
    """Format a value as the paper prints it: its CPU column has no trailing zeros."""
    return column.text(row) if column.decimals < 3 else f"{column.of(row):g}"


def _table_1_columns() -> list[str]:
    names = []
    for column in COLUMNS:
        suffixes = ["", "_half_width_95", "_published"]
        if column.deviation:
            suffixes.append("_deviation_percent" if column.deviation == "ratio" else "_deviation")
        # The paper's heading, per cent, does not fit its values.
        printed = "cpu_util_as_printed" if column.key == "cpu_percent" else ""
        names += [printed if printed and k == "_published" else column.key + k for k in suffixes]
    return names


def _table_1_data(estimates: Sequence[Estimate], printed: Published | None) -> list[Value]:
    data: list[Value] = []
    for column, value in zip(COLUMNS, estimates, strict=True):
        data += [
            value.mean,
            value.half_width,
            column.printed.number_of(printed) if printed else None,
        ]
        if column.deviation:
            data.append(column.deviation_of(value, printed) if printed else None)
    return data


def table_2(campaign: ResultSet, path: str) -> Table:
    """Return table 2 of a path: S and F of each stack in each region.

    Deviations are differences.
    """
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for name in paper_names():
        runs = runs_of(campaign, path, name)
        estimates = [_of_region(runs, region) for region in REGION_NUMBERS]
        printed = all_published()[name].regions if path == PUBLISHED_PATH else ()
        rows.append((name, "measured", *(_pair(s.mean, f.mean) for s, f in estimates)))
        if len(runs) > 1:
            rows.append(("", "±", *(_pair(s.half_width, f.half_width) for s, f in estimates)))
        if printed:
            rows.append(("", "published", *(_pair(p.stability, p.fairness) for p in printed)))
        if printed and runs:
            deviations = [
                f"{difference(s.mean, p.stability)}/{difference(f.mean, p.fairness)}"
                for (s, f), p in zip(estimates, printed, strict=True)
            ]
            rows.append(("", "deviation", *deviations))
        for region, (s, f) in zip(REGION_NUMBERS, estimates, strict=True):
            p = printed[region - 1] if printed else None
            data.append(
                (
                    name,
                    region,
                    len(runs),
                    *_comparison(s, p.stability if p else None),
                    *_comparison(f, p.fairness if p else None),
                )
            )
    header = ("stack", "", *(f"reg. {region}" for region in REGION_NUMBERS))
    title = f"Table 2: S / F of each region, path {path}, {_seeds(campaign, path)}"
    note = _note(
        campaign,
        path,
        _interval_note(campaign, path),
        _deviation_note(path, "Deviations are differences."),
    )
    columns = ("stack", "region", "seeds", *_comparison_columns("stability"),
               *_comparison_columns("fairness"))  # fmt: skip
    return Table.of_values(
        f"table2-{path}", columns, data, Table.of_texts(title, header, tuple(rows), note)
    )


def _of_region(runs: Sequence[RunSummary], region: int) -> tuple[Estimate, Estimate]:
    """Return S and F of a region, counted from 1."""
    return (
        over_seeds(runs, lambda run: run.regions[region - 1].stability),
        over_seeds(runs, lambda run: run.regions[region - 1].fairness),
    )


def _pair(first: float, second: float) -> str:
    if math.isnan(first) and math.isnan(second):
        return NOTHING
    return f"{number(first, 2)} / {number(second, 2)}"


def _comparison_columns(key: str) -> tuple[str, ...]:
    return key, f"{key}_half_width_95", f"{key}_published", f"{key}_deviation"


def _comparison(measured: Estimate, printed: float | None) -> tuple[Value, ...]:
    deviation = None if printed is None else measured.mean - printed
    return measured.mean, measured.half_width, printed, deviation


def path_means(campaign: ResultSet) -> Table:
    """Return the means over stacks of S and of each stack's smallest F, for each path.

    The paper's 0.42 and 0.77 for CERN are the means over its table 1 of S (0.418) and of the
    smallest F (0.768), so these are meant. It does not print the single values of its other paths.
    """
    rows: list[tuple[str, ...]] = []
    data: list[tuple[Value, ...]] = []
    for path in _paths(campaign):
        printed = published_paths().get(path)
        measured = (
            mean_over_stacks(campaign, path, lambda run: run.stability),
            mean_over_stacks(campaign, path, lambda run: run.fairness_min),
        )
        stacks = len(run_stacks(campaign, path))
        rows.append(
            (path, "measured", *(with_interval(value, 2) for value in measured), str(stacks))
        )
        if printed:
            published = (printed.mean_stability, printed.mean_fairness)
            nine = str(len(paper_names()))
            rows.append(("", "published", *(number(value, 2) for value in published), nine))
            deviations = [difference(e.mean, p) for e, p in zip(measured, published, strict=True)]
            rows.append(("", "deviation", *deviations, NOTHING))
        s, f = measured
        data.append(
            (
                path,
                stacks,
                *_comparison(s, printed.mean_stability if printed else None),
                *_comparison(f, printed.mean_fairness if printed else None),
            )
        )
    note = _note(
        campaign, None, "F is each stack's smallest over regions with several flows, as in table 1."
    )
    header = ("path", "", "mean S", "mean of F min", "stacks")
    columns = ("path", "stacks", *_comparison_columns("mean_stability"),
               *_comparison_columns("mean_fairness_min"))  # fmt: skip
    text_table = Table.of_texts("Means over stacks, for each path", header, tuple(rows), note)
    return Table.of_values("path-means", columns, tuple(data), text_table)


def run_stacks(campaign: ResultSet, path: str) -> tuple[str, ...]:
    """Return the paper's stacks that were run on a path."""
    return tuple(name for name in paper_names() if runs_of(campaign, path, name))


def mean_over_stacks(
    campaign: ResultSet, path: str, metric: Callable[[Summary], float]
) -> Estimate:
    """Return a metric's mean over those of the paper's stacks that were run on a path.

    Its interval is that over the means of the seeds with which all of them were run.
    """
    by_stack = {
        name: {run.seed: metric(run.summary) for run in runs_of(campaign, path, name)}
        for name in run_stacks(campaign, path)
    }
    if not by_stack:
        return NOT_RUN
    mean = statistics.fmean(statistics.fmean(values.values()) for values in by_stack.values())
    common = set.intersection(*(set(values) for values in by_stack.values()))
    per_seed = [
        statistics.fmean(values[seed] for values in by_stack.values()) for seed in sorted(common)
    ]
    return Estimate(mean, estimate(per_seed).half_width, len(common))


def _paths(campaign: ResultSet) -> tuple[str, ...]:
    """Return the paper's paths, the shortest first, then others that were run."""
    return tuple(dict.fromkeys((*published_paths(), *campaign.paths)))


def _seeds(campaign: ResultSet, path: str) -> str:
    """Return the number of seeds of a path's stacks: ``3 seeds``, ``2 to 3 seeds``."""
    counts = {len(runs_of(campaign, path, name)) for name in run_stacks(campaign, path)}
    if not counts:
        return "no runs"
    low, high = min(counts), max(counts)
    count = f"{high}" if low == high else f"{low} to {high}"
    return f"{count} seed{'' if high == 1 else 's'}"


def _interval_note(campaign: ResultSet, path: str) -> str:
    several = any(len(runs_of(campaign, path, name)) > 1 for name in paper_names())
    return "±: half of the 95 % confidence interval over seeds." if several else ""


def _deviation_note(path: str, note: str) -> str:
    return note if path == PUBLISHED_PATH else f"The paper prints it for {PUBLISHED_PATH} only."


def _cpu_note(campaign: ResultSet, path: str) -> str:
    """Say where the columns on CPU come from."""
    cpu_runs = [run for name in paper_names() for run in cpu_runs_of(campaign, path, name)]
    if not cpu_runs:
        return "CPU: no run in which it was counted; on the virtual clock it is free."
    return f"{cpu_measurement_note(cpu_runs)} The published CPU % is as printed, its unit unknown."


def _note(campaign: ResultSet, path: str | None, *parts: str) -> str:
    """Return the note of a table: mixtures and intended differences first."""
    runs = [run for run in campaign.runs if path in (None, run.path)]
    sentences = [f"MIXED: {sentence}." for sentence in mixed(campaign)]
    sentences += intended_differences(runs)
    if path is not None:
        missing = [name for name in paper_names() if not runs_of(campaign, path, name)]
        sentences += [f"Not run: {', '.join(missing)}."] if missing else []
    return " ".join(part for part in (*sentences, *parts) if part)
