"""The reports of a search over seeds, and of the smallest schedule of faults of a failing run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from farpath.planning.faults import fault_text
from farpath.report.report import Report
from farpath.report.table import TEXT_COLUMNS, as_csv, render, rich_table
from farpath.report.tables.seed_search import counts_text, seeds_table, tries_table
from farpath.runs.search.result import SeedSearch, faults_command, seed_command
from farpath.runs.search.shrink import Shrunk

#: The files of a search and of shrinking, below the directory of records.
SEEDS_FILE, TRIES_FILE = "seeds.csv", "shrink.csv"
#: Most runs of a table for people; of more, those that failed.
MOST_SHOWN = 30


def search_report(search: SeedSearch, command: Sequence[str]) -> Report:
    """Return the table of all runs, the counts, and the command that repeats a failing seed."""
    table = seeds_table(search, command)
    shown = search.results if len(search.results) <= MOST_SHOWN else search.failures
    people = seeds_table(SeedSearch(search.seeds, shown), command)
    texts = [
        *([render(rich_table(people), width_columns=TEXT_COLUMNS)] if shown else []),
        counts_text(search),
    ]
    if search.first:
        texts += [f"repeat      {seed_command(command, search.first.seed)}"]
    data = {
        "runs": table.objects,
        "failed": len(search.failures),
        "seeds_left": len(search.seeds) - len(search.results),
        "first_failing_seed": search.first and search.first.seed,
    }
    return Report({SEEDS_FILE: as_csv(table)}, "\n".join(texts), data)


def shrink_report(shrunk: Shrunk, command: Sequence[str]) -> Report:
    """Return the smallest schedule, a fault in each line, and the command of its run."""
    seed, before = shrunk.failing.seed, len(shrunk.failing.faults)
    repeat = faults_command(command, seed, shrunk.faults)
    tries = f"{len(shrunk.tries)} tries" if len(shrunk.tries) != 1 else "1 try"
    if shrunk.needs_none:
        texts = [f"Seed {seed} fails without any fault ({tries}): the schedule is not the cause."]
    else:
        texts = [f"Seed {seed} fails with {len(shrunk.faults)} of {before} faults ({tries}):"]
        texts += [f"  {fault_text(fault)}" for fault in shrunk.faults]
    texts += [f"repeat      {repeat}"]
    if shrunk.ended.fingerprint:
        texts += [f"fingerprint {shrunk.ended.fingerprint}"]
    data: dict[str, Any] = {
        "seed": seed,
        "faults": [fault_text(fault) for fault in shrunk.faults],
        "command": repeat,
        "status": shrunk.ended.status,
        "fingerprint": shrunk.ended.fingerprint or None,
        "tries": tries_table(shrunk).objects,
    }
    return Report({TRIES_FILE: as_csv(tries_table(shrunk))}, "\n".join(texts), data)
