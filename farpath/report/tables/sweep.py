"""The table of a sweep in long form: a row for each run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from farpath.analysis.run_settings import SETTINGS
from farpath.metrics.column import RUN_RESULTS
from farpath.metrics.estimate import are_alike, estimate_over_seeds
from farpath.metrics.one_draw import is_one_draw, one_draw_notes
from farpath.report.tables.campaign import with_interval
from farpath.report.tables.formats import CellValue, ResultTable
from farpath.report.tables.regions import TextTable
from farpath.report.tables.runs import INTERVAL_NOTE, seeds_words
from farpath.report.tables.sweep_results import SHARE, SweepColumn, SweepResults

Cell = TypeVar("Cell")
#: Settings that every row has, with their values as numbers.
_SHOWN = ("stack", "rtt_ms", "rate_bps", "buffer_bytes", "loss")
#: Swept options whose values are among these settings.
_OF_SETTINGS = ("stack", "rtt", "rate", "buffer", "loss")
#: The most flows whose shares the text has; the data have all.
MOST_SHARES = 4
_SHARES_NOTE = "share: of all bits that the flows of the run got."


def sweep_table(results: SweepResults) -> ResultTable:
    """Return a row for each run: its settings, swept options, seed, metrics, flows and record.

    Where runs have several flows the data hold ``flow1_stack``, ``flow1_throughput_mbps``,
    ``flow1_share`` and so on, and the text the shares. ``queue_link`` is there where runs have
    several bottlenecks.
    """
    runs, axes = results.outcome.runs, results.outcome.run_set.axes
    settings = [setting for setting in SETTINGS if setting.key in _SHOWN]
    data: dict[str, list[CellValue]] = {
        setting.key: [setting.of(member) for member in results.members] for setting in settings
    }
    for name in axes:
        if name not in _OF_SETTINGS:
            data[name] = [swept.run.values[name] for swept in runs]
    data["seed"] = [swept.run.plan.seed for swept in runs]
    of_runs, of_flows = results.columns[: len(RUN_RESULTS)], results.columns[len(RUN_RESULTS) :]
    data |= {column.key: _data(column) for column in of_runs}
    links = [swept.value.summary.queue_link for swept in runs]
    if any(links):
        data["queue_link"] = list(links)
    for name in results.flow_names:
        data[f"{name}_stack"] = list(results.stacks_of(name))
        data |= {column.key: _data(column) for column in of_flows if _is_of(column, name)}
    one_draw = [is_one_draw(swept.run.plan) for swept in runs]
    data["one_draw"] = list(one_draw)
    data["record"] = [swept.record.name for swept in runs]
    data["fingerprint"] = [swept.value.fingerprint for swept in runs]

    text = {name: [swept.run.values[name] for swept in runs] for name in axes}
    text["seed"] = [str(swept.run.plan.seed) for swept in runs]
    text |= {column.column.heading: column.texts for column in of_runs}
    if any(links):
        text["drops at"] = [link or "" for link in links]
    shares = [column for column in of_flows if column.key.endswith(f"_{SHARE}")]
    if len(shares) <= MOST_SHARES:
        text |= {column.column.heading: column.texts for column in shares}
    notes = [
        *([_SHARES_NOTE] if 0 < len(shares) <= MOST_SHARES else []),
        *one_draw_notes([swept.run.plan for swept in runs]),
    ]
    note = " ".join(notes)
    table = TextTable("Runs of the sweep", tuple(text), _rows(text), note)
    return ResultTable("sweep", table, tuple(data), _rows(data))


def _is_of(column: SweepColumn, flow: str) -> bool:
    return column.key.partition("_")[0] == flow


def _data(column: SweepColumn) -> list[CellValue]:
    """Return values as data; counts stay whole numbers."""
    return [
        None if math.isnan(value) else int(value) if column.column.decimals == 0 else value
        for value in column.values
    ]


def _rows(columns: Mapping[str, Sequence[Cell]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(zip(*columns.values(), strict=True))


def shares_table(results: SweepResults) -> ResultTable | None:
    """Return each flow's share over seeds, a row for each combination of values; None of one flow.

    Interval: as in the tables of runs that differ in nothing but their seeds.
    """
    shares = [column for column in results.columns if column.key.endswith(f"_{SHARE}")]
    if not shares:
        return None
    runs: dict[tuple[str, ...], list[int]] = {}
    for index, swept in enumerate(results.outcome.runs):
        runs.setdefault(tuple(swept.run.values.values()), []).append(index)
    text: list[tuple[str, ...]] = []
    data: list[tuple[CellValue, ...]] = []
    for values, indices in runs.items():
        fingerprints = [results.outcome.runs[index].fingerprint for index in indices]
        means = [
            estimate_over_seeds([column.values[index] for index in indices], fingerprints)
            for column in shares
        ]
        seeds = seeds_words(len(indices), are_alike(fingerprints))
        text.append((*values, seeds, *(with_interval(mean, 3) for mean in means)))
        data.append((*values, len(indices), *(mean.mean for mean in means)))
    axes = tuple(results.outcome.run_set.axes)
    header = (*axes, "seeds", *(column.column.heading for column in shares))
    table = TextTable("Shares of flows", header, tuple(text), f"{_SHARES_NOTE} {INTERVAL_NOTE}")
    columns = (*axes, "seeds", *(column.key for column in shares))
    return ResultTable("shares", table, columns, tuple(data))
