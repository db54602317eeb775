"""The results of a search over seeds, and the smallest schedule of faults of a failing run."""

from __future__ import annotations

from collections.abc import Sequence

from farpath.base.column import Column, Value
from farpath.planning.faults import fault_text
from farpath.record.record_directory import short_fingerprint
from farpath.report.table import Table
from farpath.runs.search.result import SeedResult, SeedSearch, seed_command
from farpath.runs.search.shrink import Shrunk, Try
from farpath.spec.services import Fault

_BETWEEN = "; "


def faults_text(faults: Sequence[Fault]) -> str:
    """Return faults as they are typed, in one line."""
    return _BETWEEN.join(map(fault_text, faults)) or "none"


def seeds_table(search: SeedSearch, command: Sequence[str]) -> Table:
    """Return a row for each seed: how its run ended, its faults as drawn, and its record.

    ``command``: the words of the command of a run, without its seed. People read a fault in each
    line.
    """
    columns = [
        Column[SeedResult]("seed", "seed", lambda result: result.seed),
        Column[SeedResult]("result", "result", lambda result: result.ended.words),
        Column[SeedResult]("status", "", lambda result: result.ended.status).hidden,
        Column[SeedResult]("took_s", "virtual s", lambda result: result.ended.took_s, decimals=3),
        Column[SeedResult]("record", "", _record).hidden,
        Column[SeedResult](
            "fingerprint",
            "fingerprint",
            lambda result: result.ended.fingerprint or None,
            shown=lambda result: short_fingerprint(result.ended.fingerprint) or "-",
        ),
        Column[SeedResult]("command", "", lambda result: seed_command(command, result.seed)).hidden,
        Column[SeedResult](
            "faults",
            "faults",
            lambda result: faults_text(result.faults),
            shown=lambda result: "\n".join(map(fault_text, result.faults)) or "none",
        ),
    ]
    return Table.of("seeds", "Runs of seeds", columns, search.results)


def _record(result: SeedResult) -> Value:
    return None if result.ended.record is None else result.ended.record.name


def counts_text(search: SeedSearch) -> str:
    """Say how many runs were made and failed, and whether seeds are left."""
    made, failed = len(search.results), len(search.failures)
    left = len(search.seeds) - made
    recorded = f", {search.cached} recorded before" if search.cached else ""
    rest = f"; stopped at the first that failed, seeds left: {left}" if left else ""
    return f"{failed} of {made} runs failed{recorded}{rest}"


def tries_table(shrunk: Shrunk) -> Table:
    """Return a row for each try: its faults, and how its run ended."""
    columns = [
        Column[Try]("try", "try", lambda tried: tried.number),
        Column[Try]("result", "result", lambda tried: tried.ended.words),
        Column[Try]("fails", "", lambda tried: int(tried.fails)).hidden,
        Column[Try]("took_s", "virtual s", lambda tried: tried.ended.took_s, decimals=3),
        Column[Try]("faults", "faults", lambda tried: faults_text(tried.faults)),
        Column[Try](
            "record", "", lambda tried: tried.ended.record.name if tried.ended.record else None
        ).hidden,
        Column[Try]("fingerprint", "", lambda tried: tried.ended.fingerprint or None).hidden,
    ]
    return Table.of("shrink", "Tries", columns, shrunk.tries)
