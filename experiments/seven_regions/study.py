"""The 2005 study: which runs are its own, and how records are shown beside what it printed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.programs.catalog import catalogue
from farpath.spec.labels import stacks_label
from farpath.spec.schedule import SEVEN_REGIONS

from .paper_stacks import (
    PAPER_ERA,
    cpu_runs_of,
    intended_differences,
    labels_by_paper_name,
    paper_names,
    runs_of,
)
from .published import published_for, published_paths

if TYPE_CHECKING:
    from farpath.metrics.record_set import RecordSet
    from farpath.metrics.results import ResultSet
    from farpath.record.record import Record
    from farpath.report.table import Table
    from farpath.spec.plan import Plan

    from .view import StudyView

__all__ = ["cpu_runs_of", "runs_of"]

VIEW = "study"
TITLE = "the 2005 study"

stack_names = paper_names
stacks_of = labels_by_paper_name
differences = intended_differences


def is_run(plan: Plan) -> bool:
    """Whether a run belongs to the study by its test, hosts, stack and path."""
    entry = catalogue().get(stacks_label(plan.schedule))
    return (
        plan.schedule.name == SEVEN_REGIONS
        and plan.era.name == PAPER_ERA
        and plan.path.name in published_paths()
        and entry is not None
        and bool(entry.published)
    )


def run_tables(record: Record) -> tuple[Table, ...]:
    """Return the paper's tables of a run, if it prints numbers of such a run."""
    published = published_for(record.plan)
    if published is None:
        return ()
    from farpath.metrics.link import summarise_record

    from .run_tables import run_table_1, run_table_2

    summary = summarise_record(record)
    return run_table_1(summary, published), run_table_2(summary, published)


def select_records(results: FilePath) -> tuple[str, list[FilePath], tuple[str, ...]]:
    """Return the origin and directories of own records, else of shipped ones, and problems."""
    from . import selection

    return selection.select_records(results)


def view_of(records: RecordSet, held_out: Collection[str] = ()) -> StudyView:
    """Return the view of records; ``held_out``: stacks that no path was fitted to, as typed."""
    from .agreement import parse_paper_stacks
    from .view import StudyView

    return StudyView(records, parse_paper_stacks(held_out))


def tables_of(
    results: ResultSet, path: str | None = None, held_out: Collection[str] = ()
) -> tuple[Table, ...]:
    """Return the tables of results without their records; ``held_out`` as of ``view_of``."""
    from .agreement import all_tables, parse_paper_stacks

    return all_tables(results, path, parse_paper_stacks(held_out))
