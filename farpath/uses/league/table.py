"""The tables of a league: standings, the matrix of shares, and each encounter in long form."""

from __future__ import annotations

from farpath.metrics.column import NOTHING, number
from farpath.report.tables.formats import CellValue, ResultTable
from farpath.report.tables.regions import TextTable
from farpath.uses.league.measure import Encounter, mean_shares, standings
from farpath.uses.league.question import League

_STANDINGS = (
    "stack", "mean share", "least share", "beside", "least share left", "to", "beside itself",
    "delay p95 ms",
)  # fmt: skip
_SHARES_NOTE = (
    "Shares are in per cent of a fair half, of a row's stack beside a column's; of two flows of "
    "one stack, the smaller. Means over seeds."
)
_ORDER_NOTE = (
    "Shares are in per cent of a fair half, means over seeds. Stacks come in the order of the "
    "least share that a flow had in their encounters. Delay: 95th percentile of ping's RTTs above "
    "the base RTT, mean of all encounters."
)


def _per_cent(share: float | None) -> str:
    return number(None if share is None else 100 * share, 0)


def standings_table(league: League, found: tuple[Encounter, ...], title: str) -> ResultTable:
    """Return the standings under one set of conditions, which ``title`` names."""
    rows = standings(league, found)
    data: tuple[tuple[CellValue, ...], ...] = tuple(
        (row.stack, row.won_mean, *row.won_least, *row.left_least, row.own_least, row.delay_ms)
        for row in rows
    )
    texts = tuple(
        (
            row.stack, _per_cent(row.won_mean), _per_cent(row.won_least[0]), row.won_least[1],
            _per_cent(row.left_least[0]), row.left_least[1], _per_cent(row.own_least),
            number(row.delay_ms, 1),
        )
        for row in rows
    )  # fmt: skip
    heading = f"League table{f', {title}' if title else ''}"
    return ResultTable("standings", TextTable(heading, _STANDINGS, texts, _ORDER_NOTE), (
        "stack", "share_mean", "share_least", "beside", "left_least", "left_to", "own_least",
        "delay_p95_ms",
    ), data)  # fmt: skip


def shares_table(league: League, found: tuple[Encounter, ...], title: str) -> TextTable:
    """Return the matrix of shares under one set of conditions."""
    shares = mean_shares(found)
    rows = tuple(
        (stack, *(_per_cent(shares.get((stack, other))) for other in league.stacks))
        for stack in league.stacks
    )
    heading = f"Shares{f', {title}' if title else ''}"
    return TextTable(heading, ("beside", *league.stacks), rows, _SHARES_NOTE)


def encounters_table(found: tuple[Encounter, ...]) -> ResultTable:
    """Return a row for each flow of each run."""
    options = tuple(found[0].conditions) if found else ()
    columns = (
        *options, "stack", "other", "seed", "share", "throughput_mbps", "retransmits",
        "completion_s", "utilisation", "delay_p95_ms", "record", "one_draw",
    )  # fmt: skip
    data: tuple[tuple[CellValue, ...], ...] = tuple(
        (
            *each.conditions.values(), each.stack, each.other, each.seed, each.share,
            each.throughput_bps / 1e6, each.retransmits, each.completion_s, each.utilisation,
            each.delay_ms, each.record, each.one_draw,
        )
        for each in found
    )  # fmt: skip
    texts = tuple(tuple(NOTHING if cell is None else str(cell) for cell in row) for row in data)
    return ResultTable("league", TextTable("Encounters", columns, texts), columns, data)
