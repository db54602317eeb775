"""The tables of a league: standings, the matrix of shares, and each encounter in long form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from farpath.base.column import NOTHING, Column, given, number
from farpath.metrics.catalogue import in_mbps
from farpath.metrics.significance import Interval
from farpath.report.table import Table
from farpath.uses.league.conditions import Conditions
from farpath.uses.league.harm import HARMS, harms
from farpath.uses.league.measure import Encounter, Standing, standings
from farpath.uses.league.question import League
from farpath.uses.league.share_intervals import Chance, chance_words


def _of_share(key: str, heading: str, of: Callable[[Any], float]) -> Column[Any]:
    """Return the column of a share, which is shown in per cent."""
    return Column[Any](key, heading, of, shown=lambda row: _per_cent(of(row)))


_STANDINGS: tuple[Column[Standing], ...] = (
    Column("stack", "stack", lambda row: row.stack),
    _of_share("share_mean", "mean share", lambda row: row.won_mean),
    Column(
        "share_least", "its least share", lambda row: row.won_least[0],
        shown=lambda row: f"{_per_cent(row.won_least[0])} beside {row.won_least[1]}",
    ),
    Column("beside", "", lambda row: row.won_least[1], for_people=False),
    Column(
        "left_least", "least share left to another", lambda row: row.left_least[0],
        shown=lambda row: f"{_per_cent(row.left_least[0])} to {row.left_least[1]}",
    ),
    Column("left_to", "", lambda row: row.left_least[1], for_people=False),
    _of_share("own_least", "share beside itself", lambda row: row.own_least),
    Column("delay_p95_ms", "delay p95 ms", lambda row: row.delay_ms, 1),
)  # fmt: skip
#: The columns of an encounter after its options.
_ENCOUNTERS: tuple[Column[Encounter], ...] = (
    *(
        Column[Encounter](key, key, attrgetter(key))
        for key in ("stack", "other", "seed", "draw", "share")
    ),
    Column("throughput_mbps", "throughput_mbps", lambda each: in_mbps(each.throughput_bps), 2),
    *(
        Column[Encounter](key, key, attrgetter(key))
        for key in ("retransmits", "completion_s", "utilisation")
    ),
    Column("delay_p95_ms", "delay_p95_ms", lambda each: each.delay_ms, 1),
    *(Column[Encounter](key, key, attrgetter(key)) for key in ("record", "one_draw")),
)
_ENDS = ("low", "high")
#: The heading of the rows' names in a matrix of shares, which the columns' names follow.
BESIDE = "share beside"
_SHARES_NOTE = (
    "Shares are in per cent of a fair half, of a row's stack beside a column's; of two flows of "
    "one stack, the smaller. {}"
)
_ORDER_NOTE = (
    "Shares are in per cent of a fair half. {} Delay: 95th percentile of ping's RTTs above "
    "the base RTT, mean of all encounters."
)
_HARM_NOTE = (
    "Harm in per cent of what the stack has alone, where more is better, and else of what it has "
    "beside the other: 0 is none (Ware et al., HotNets 2019). A stack's harm to itself is the "
    "measure of the others'. RTT: percentiles of pings; loss: the part of its packets that the "
    "path dropped."
)
_CHANCE_NOTE = (
    "In brackets 95 % intervals over draws, by bootstrap. P: of a difference of throughput from "
    "that beside itself by chance (Welch's test, Holm's correction)."
)
_ORDER = "by the least share that any flow had, the largest first"


def _per_cent(share: float | None) -> str:
    return number(None if share is None else 100 * share, 0)


def runs_words(found: tuple[Encounter, ...]) -> str:
    """Return a sentence on how many runs a share is of."""
    runs = len({each.seed for each in found})
    kind = "seeds" if any(each.draw is None for each in found) else "draws"
    return f"Medians (and ranges) of {runs} {kind}." if runs > 1 else "Each is of one run."


def standings_table(league: League, under: Conditions) -> Table:
    """Return the standings under one set of conditions."""
    heading = f"League table{f', {under.title}' if under.title else ''}, {_ORDER}"
    note = _ORDER_NOTE.format(runs_words(under.found))
    return Table.of("standings", heading, _STANDINGS, standings(league, under.found), note)


def shares_table(league: League, under: Conditions) -> Table:
    """Return the matrix of shares under one set of conditions."""
    rows = tuple(
        (
            stack,
            *(
                under.shares[stack, other].text(_per_cent)
                if (stack, other) in under.shares
                else NOTHING
                for other in league.stacks
            ),
        )
        for stack in league.stacks
    )
    heading = f"Shares{f', {under.title}' if under.title else ''}"
    words = _SHARES_NOTE.format(runs_words(under.found)), chance_words(under.chances)
    return Table.of_texts(heading, (BESIDE, *league.stacks), rows, " ".join(filter(None, words)))


def pairs_table(parts: tuple[Conditions, ...]) -> Table:
    """Return a row for each stack beside each other one, with median and range over runs."""
    options = tuple(parts[0].found[0].conditions) if parts else ()
    keys = (*options, "stack", "other", "runs", "share_median", "share_least", "share_most")
    rows = [
        (
            *(under.found[0].conditions[name] for name in options),
            *(stack, other, share.count, share.median, share.least, share.most),
            *harms(under.without_another(stack), under.beside(stack, other)).values(),
            *_of_chance(under.chances.get((stack, other), Chance())),
        )
        for under in parts
        for (stack, other), share in under.shares.items()
    ]
    columns = (
        *keys,
        *(f"harm_{name}" for name in HARMS),
        *(f"share_{end}" for end in _ENDS),
        *(f"harm_{name}_{end}" for name in HARMS for end in _ENDS),
        "draws_for_5_percent",
        "own_p",
    )
    return Table("pairs", "Pairs", tuple(given(key, key) for key in columns), tuple(rows))


def _of_chance(chance: Chance) -> tuple[float | None, ...]:
    intervals = (chance.share, *map(chance.of_harm, HARMS))
    ends = (end for each in intervals for end in (each.low, each.high))
    return (*map(_known, ends), chance.runs_needed, _known(chance.own_p))


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def harm_table(league: League, under: Conditions) -> Table:
    """Return the harm that each stack suffers beside each other one."""
    rows: list[tuple[str, ...]] = []
    for stack, other in itertools.product(league.stacks, repeat=2):
        beside = under.beside(stack, other)
        values = harms(under.without_another(stack), beside)
        chance = under.chances.get((stack, other), Chance())
        if beside:
            texts = (
                _with_interval(_per_cent(value), chance.of_harm(name))
                for name, value in values.items()
            )
            rows.append((stack, other, *texts, number(chance.own_p, 3)))
    headings = ("harm to", "by", *(name.replace("rtt_", "RTT ") for name in HARMS), "P")
    note = f"{_HARM_NOTE} {_CHANCE_NOTE}"
    if not any(each.share.is_known for each in under.chances.values()):
        headings, rows, note = headings[:-1], [row[:-1] for row in rows], _HARM_NOTE
    heading = f"Harm{f', {under.title}' if under.title else ''}"
    return Table.of_texts(heading, headings, tuple(rows), note)


def _with_interval(text: str, interval: Interval) -> str:
    ends = [_per_cent(end) for end in (interval.low, interval.high)]
    return text if ends[0] == ends[1] else f"{text} ({ends[0]}-{ends[1]})"


def encounters_table(found: tuple[Encounter, ...]) -> Table:
    """Return a row for each flow of each run."""
    options = tuple(found[0].conditions) if found else ()
    of_options = (
        Column[Encounter](name, name, lambda each, name=name: each.conditions[name])  # type: ignore[misc]
        for name in options
    )
    return Table.of("league", "Encounters", (*of_options, *_ENCOUNTERS), found)
