"""The table of a sweep in long form: a row for each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from farpath.analysis.run_settings import SETTINGS
from farpath.metrics.column import RUN_RESULTS, Column, Shown, given
from farpath.metrics.estimate import are_alike, estimate_over_seeds
from farpath.metrics.one_draw import is_one_draw, one_draw_notes
from farpath.report.table import Cell, Table, with_interval
from farpath.report.tables.runs import INTERVAL_NOTE, seeds_words
from farpath.report.tables.sweep_results import SHARE, SweepColumn, SweepResults

#: Settings that every row has, with their values as numbers.
_SHOWN = ("stack", "rtt_ms", "rate_bps", "buffer_bytes", "loss")
#: Swept options whose values are among these settings.
_OF_SETTINGS = ("stack", "rtt", "rate", "buffer", "loss")
#: The most flows whose shares the text has; the data have all.
MOST_SHARES = 4
_SHARES_NOTE = "share: of all bits that the flows of the run got."


def sweep_table(results: SweepResults) -> Table:
    """Return a row for each run: its settings, swept options, seed, metrics, flows and record.

    Where runs have several flows the data hold ``flow1_stack``, ``flow1_throughput_mbps``,
    ``flow1_share`` and so on, and the text the shares. ``queue_link`` is there where runs have
    several bottlenecks.
    """
    runs, axes = results.outcome.runs, results.outcome.run_set.axes
    of_runs, of_flows = results.columns[: len(RUN_RESULTS)], results.columns[len(RUN_RESULTS) :]
    shares = [column for column in of_flows if column.key.endswith(f"_{SHARE}")]
    are_few = len(shares) <= MOST_SHARES
    parts: list[tuple[Column[Any], Sequence[Cell]]] = [
        (setting.hidden, [setting.of(member) for member in results.members])
        for setting in SETTINGS
        if setting.key in _SHOWN
    ]
    parts += [
        # As typed for people; the settings above have its value
        (given("" if name in _OF_SETTINGS else name, name), [run.run.values[name] for run in runs])
        for name in axes
    ]
    parts.append((given("seed", "seed"), [swept.run.plan.seed for swept in runs]))
    parts += [(each.column, each.cells) for each in of_runs]
    links = [swept.value.summary.queue_link for swept in runs]
    if any(links):
        parts.append((given("queue_link", "drops at"), [Shown(link, link or "") for link in links]))
    for name in results.flow_names:
        parts.append((given(f"{name}_stack"), results.stacks_of(name)))
        parts += [
            (each.column if are_few and each in shares else each.column.hidden, each.cells)
            for each in of_flows
            if _is_of(each, name)
        ]
    parts += [
        (given("one_draw"), [is_one_draw(swept.run.plan) for swept in runs]),
        (given("record"), [swept.record.name for swept in runs]),
        (given("fingerprint"), [swept.value.fingerprint for swept in runs]),
    ]
    notes = [
        *([_SHARES_NOTE] if shares and are_few else []),
        *one_draw_notes([swept.run.plan for swept in runs]),
    ]
    columns, cells = zip(*parts, strict=True)
    rows = tuple(zip(*cells, strict=True))
    return Table("sweep", "Runs of the sweep", columns, rows, " ".join(notes))


def _is_of(column: SweepColumn, flow: str) -> bool:
    return column.key.partition("_")[0] == flow


def shares_table(results: SweepResults) -> Table | None:
    """Return each flow's share over seeds, a row for each combination of values; None of one flow.

    Interval: as in the tables of runs that differ in nothing but their seeds.
    """
    shares = [column for column in results.columns if column.key.endswith(f"_{SHARE}")]
    if not shares:
        return None
    runs: dict[tuple[str, ...], list[int]] = {}
    for index, swept in enumerate(results.outcome.runs):
        runs.setdefault(tuple(swept.run.values.values()), []).append(index)
    rows: list[tuple[Cell, ...]] = []
    for values, indices in runs.items():
        fingerprints = [results.outcome.runs[index].fingerprint for index in indices]
        means = [
            estimate_over_seeds([column.values[index] for index in indices], fingerprints)
            for column in shares
        ]
        seeds = Shown(len(indices), seeds_words(len(indices), are_alike(fingerprints)))
        rows.append((*values, seeds, *(Shown(m.mean, with_interval(m, 3)) for m in means)))
    columns = (
        *(given(name, name) for name in results.outcome.run_set.axes),
        given("seeds", "seeds"),
        *(column.column for column in shares),
    )
    note = f"{_SHARES_NOTE} {INTERVAL_NOTE}"
    return Table("shares", "Shares of flows", columns, tuple(rows), note)
