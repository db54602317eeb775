"""Views: how a set of records is shown in tables, in figures and as a site."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol, cast

from farpath.base.errors import BadInputError
from farpath.base.experiment_modules import STUDY, experiment_module, experiments_with
from farpath.base.project import EXPERIMENTS
from farpath.metrics.record_set import RecordSet
from farpath.metrics.studies import titles

if TYPE_CHECKING:
    from farpath.metrics.results import ResultSet, RunSummary
    from farpath.report.html.run_page import NavLinks
    from farpath.report.site.thumbnail import Area
    from farpath.report.table import Table


class View(Protocol):
    """The interface that tables, figures and sites need to show records."""

    @property
    def names(self) -> Mapping[str, str]:
        """The file name of each run's page, by record."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each property of the records that a reader has to know."""

    @property
    def missing(self) -> tuple[str, ...]:
        """A sentence for each figure that cannot be drawn."""

    def tables(self, path: str | None = None) -> tuple[Table, ...]:
        """Return all tables, or those of one path."""

    def site_tables(self) -> tuple[Table, ...]:
        """Return the tables of a site."""

    def write_figures(self, out: FilePath, hatched: bool = False) -> Iterator[FilePath]:
        """Draw all figures; yield each file once it is written."""

    def write_site_figures(self, out: FilePath) -> Iterator[FilePath]:
        """Draw the figures of a site's index."""

    def links(self, run: RunSummary) -> NavLinks:
        """Return the links of a run's page of a site."""

    def index(self, thumbnails: Mapping[str, tuple[Area, ...]]) -> str:
        """Return the index of a site as HTML."""


class StudyOfRecords(Protocol):
    """The functions in a study.py that show its records; ``held_out``: stacks as typed."""

    def view_of(self, records: RecordSet, held_out: Collection[str] = ()) -> View:
        """Return the view of records; ``held_out``: stacks that no path was fitted to."""

    def tables_of(
        self, results: ResultSet, path: str | None = None, held_out: Collection[str] = ()
    ) -> tuple[Table, ...]:
        """Return the tables of results without their records, of all paths or of one."""


def study_named(name: str, experiments: FilePath = EXPERIMENTS) -> StudyOfRecords:
    """Return the study of an experiment; raise BadInputError for one without study.py."""
    module = experiment_module(name, STUDY, experiments)
    if module is None:
        names = ", ".join(experiments_with(STUDY, experiments)) or "none"
        raise BadInputError(
            option="experiment",
            given=name,
            problem=f"it has no {STUDY}.py, which shows results beside published ones",
            remedy=f"there are {names} with one",
        )
    return cast(StudyOfRecords, module)


def view_for(records: RecordSet, held_out: Collection[str] = ()) -> View:
    """Return the view of a record set: a study's, which marks held-out stacks, or the runs'.

    ``held_out``: stacks as typed. Raises BadInputError if stacks are held out of a set that is not
    a study's.
    """
    from farpath.report.site.plain_site import RunsView

    if records.study is not None:
        return cast(StudyOfRecords, records.study).view_of(records, held_out)
    if held_out:
        raise BadInputError(
            option="held_out",
            given=",".join(held_out),
            problem=f"it goes with records of {titles()}, and those in {records.directory} are not",
            remedy="leave it out",
        )
    return RunsView(records)
