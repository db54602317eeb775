"""The table of a sweep in long form: a row for each run."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from farpath.base.column import Column, Shown, Value, given
from farpath.metrics.estimate import are_alike, estimate_over_seeds
from farpath.metrics.one_draw import is_one_draw, one_draw_notes
from farpath.metrics.record_set import Group
from farpath.metrics.run_settings import SETTINGS
from farpath.report.table import Cell, Table
from farpath.report.tables.run_table import INTERVAL_NOTE, mean_text, seeds_words
from farpath.report.tables.sweep_results import OF_FLOWS, OF_RUNS, SHARE, SweepResults, SweptRun

#: Settings that every row has, with their values as numbers.
_SHOWN = ("stack", "rtt_ms", "rate_bps", "buffer_bytes", "loss")
#: Swept options whose values are among these settings.
_OF_SETTINGS = ("stack", "rtt", "rate", "buffer", "loss")
#: The most flows whose shares the text has; the data have all.
MOST_SHARES = 4
_RTT_NOTE = (
    "ping: RTTs of pings beside the flows, as Flent's Ping (ms) ICMP. flow RTT: smoothed RTTs of "
    "the flows' senders, as Flent's tcp_rtt; a dash: they know none, as of datagrams."
)
_SHARES_NOTE = "share: of all bits that the flows of the run got."


def sweep_table(results: SweepResults) -> Table:
    """Return a row for each run: its settings, swept options, seed, metrics, flows and record.

    Where runs have several flows the data hold ``flow1_stack``, ``flow1_throughput_mbps``,
    ``flow1_share``, ``flow1_smoothed_rtt_median_ms`` and so on, and the text the shares.
    ``queue_link`` is there where runs have several bottlenecks.
    """
    runs = results.runs
    are_few = len(results.shares) <= MOST_SHARES
    columns: list[Column[SweptRun]] = [
        setting.seen_from(attrgetter("member")).hidden
        for setting in SETTINGS
        if setting.key in _SHOWN
    ]
    columns += [_option(name) for name in results.outcome.run_set.axes]
    columns.append(Column("seed", "seed", lambda run: run.plan.seed))
    columns += OF_RUNS
    columns += [
        column
        for column in results.of_mechanisms
        if any(column.of(run) is not None for run in runs)
    ]
    if any(_drops_at(run) for run in runs):
        columns.append(Column("queue_link", "drops at", _drops_at, shown=_drops_at))
    for name in results.flow_names:
        columns.append(_stack(name))
        for key in OF_FLOWS:
            column = results.column_of_flow(name, key)
            columns.append(column if key == SHARE and are_few else column.hidden)
    columns += [
        _of_files("one_draw", lambda run: is_one_draw(run.plan)),
        _of_files("record", lambda run: run.made.record.name),
        _of_files("fingerprint", lambda run: run.made.value.fingerprint),
    ]
    notes = [
        _RTT_NOTE,
        *([_SHARES_NOTE] if results.shares and are_few else []),
        *one_draw_notes([run.plan for run in runs]),
    ]
    return Table.of("sweep", "Runs of the sweep", columns, runs, " ".join(notes))


def _option(name: str) -> Column[SweptRun]:
    """Return the column of a swept option: as typed for people, unless a setting has its value."""
    return Column("" if name in _OF_SETTINGS else name, name, lambda run: run.values[name])


def _stack(flow: str) -> Column[SweptRun]:
    """Return the column of the stack of a flow, empty where there is no such flow."""
    return _of_files(
        f"{flow}_stack", lambda run: run.flows[flow].stack if flow in run.flows else ""
    )


def _of_files(key: str, of: Callable[[SweptRun], Value]) -> Column[SweptRun]:
    """Return a column that only files have."""
    return Column(key, "", of, for_people=False)


def _drops_at(run: SweptRun) -> str:
    """Return the link whose drops a run counts; empty of one bottleneck."""
    return run.made.value.summary.queue_link or ""


def shares_table(results: SweepResults) -> Table | None:
    """Return each flow's share over seeds, a row for each combination of values; None of one flow.

    Interval: as in the tables of runs that differ in nothing but their seeds.
    """
    if not results.shares:
        return None
    by_values: dict[tuple[str, ...], list[SweptRun]] = {}
    for run in results.runs:
        by_values.setdefault(tuple(run.values.values()), []).append(run)
    rows: list[tuple[Cell, ...]] = []
    for values, runs in by_values.items():
        fingerprints = [run.made.fingerprint for run in runs]
        hardly = Group(tuple(run.member for run in runs)).are_hardly_random
        means = [
            estimate_over_seeds([share.number_of(run) for run in runs], fingerprints)
            for share in results.shares
        ]
        seeds = Shown(len(runs), seeds_words(len(runs), are_alike(fingerprints), hardly))
        rows.append((*values, seeds, *(Shown(m.mean, mean_text(m, 3, hardly)) for m in means)))
    columns: tuple[Column[Any], ...] = (
        *(given(name, name) for name in results.outcome.run_set.axes),
        given("seeds", "seeds"),
        *results.shares,
    )
    note = f"{_SHARES_NOTE} {INTERVAL_NOTE}"
    return Table("shares", "Shares of flows", columns, tuple(rows), note)
