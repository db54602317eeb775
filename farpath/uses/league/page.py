"""The self-contained page of a league: standings and a coloured matrix for each condition."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from farpath.base.column import number
from farpath.metrics.estimate import Spread
from farpath.report.html.render import render
from farpath.report.table import Table
from farpath.uses.league.conditions import Conditions
from farpath.uses.league.measure import Encounter
from farpath.uses.league.question import League
from farpath.uses.league.table import BESIDE, harm_table, runs_words, standings_table


@dataclass(frozen=True)
class Cell:
    """The share of a row's stack beside a column's: as text, a colour, and more in words.

    ``href``: the address of its run, or of the first of several; empty without one.
    """

    share: str
    colour: str
    about: str
    href: str


@dataclass(frozen=True)
class Part:
    """One condition: its title, standings, harm, and the matrix as rows of cells by stack."""

    title: str
    standings: Table
    harm: Table
    matrix: dict[str, tuple[Cell | None, ...]]


def render_league(
    league: League,
    found: tuple[Conditions, ...],
    remarks: tuple[str, ...],
    hrefs: Mapping[str, str] | None = None,
) -> str:
    """Return the page as HTML.

    ``remarks``: sentences above it, without their full stops. ``hrefs``: addresses of runs, by the
    names of their records.
    """
    parts = [_part(league, under, hrefs or {}) for under in found]
    return render(
        "league.html",
        heading=f"League of {len(league.stacks)} stacks",
        assets="",
        remarks=remarks,
        stacks=league.stacks,
        parts=parts,
        beside=BESIDE,
        runs=runs_words(tuple(each for under in found for each in under.found)),
    )


def _part(league: League, under: Conditions, hrefs: Mapping[str, str]) -> Part:
    matrix = {
        stack: tuple(
            _cell(under.shares[stack, other], under.beside(stack, other), hrefs)
            if (stack, other) in under.shares
            else None
            for other in league.stacks
        )
        for stack in league.stacks
    }
    tables = standings_table(league, under), harm_table(league, under)
    return Part(under.title or "Shares", *tables, matrix)


def _cell(share: Spread, group: list[Encounter], hrefs: Mapping[str, str]) -> Cell:
    per_cent = 100 * share.median
    red, green, blue = (178, 24, 43) if per_cent < 100 else (33, 102, 172)
    depth = min(1.0, abs(per_cent - 100) / 100)
    delays_ms = [each.delay_ms for each in group if each.delay_ms is not None]
    delay = number(statistics.fmean(delays_ms) if delays_ms else None, 1)
    mbps = statistics.fmean(each.throughput_bps for each in group) / 1e6
    used = 100 * statistics.fmean(each.utilisation for each in group)
    about = f"{mbps:.1f} Mbit/s of data; both: {used:.0f} % of the rate, delay p95 {delay} ms"
    if share.count > 1:
        about = f"{100 * share.least:.0f} to {100 * share.most:.0f} in {share.count} runs; {about}"
    href = hrefs.get(min(group, key=lambda each: each.seed).record, "")
    return Cell(f"{per_cent:.0f}", f"rgba({red}, {green}, {blue}, {0.75 * depth:.2f})", about, href)
