"""Views: how a set of records is shown in tables, in figures and as a site."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path as FilePath
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from farpath.analysis.record_set import STUDY, RecordSet
from farpath.base.errors import BadInputError
from farpath.base.experiment_modules import VIEW, experiment_module
from farpath.base.project import EXPERIMENTS
from farpath.planning.experiment import experiment_names

if TYPE_CHECKING:
    from farpath.analysis.results import RunSummary
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


def study_module(experiments: FilePath = EXPERIMENTS) -> ModuleType:
    """Return the view.py of the first experiment that has one.

    ``view_of(records, held_out)`` is the view of a set of its records, ``tables_of(results, path,
    held_out)`` the tables of results alone.
    """
    modules = (experiment_module(name, VIEW, experiments) for name in experiment_names(experiments))
    return next(module for module in modules if module is not None)


def view_for(records: RecordSet, held_out: Collection[str] = ()) -> View:
    """Return the view of a record set: the study's, which marks held-out stacks, or the runs'.

    ``held_out``: stacks as typed. Raises BadInputError if stacks are held out of a set that is not
    the study's.
    """
    from farpath.report.site.runs import RunsView

    if records.view == STUDY:
        view: View = study_module().view_of(records, held_out)
        return view
    if held_out:
        raise BadInputError(
            option="held_out",
            given=",".join(held_out),
            problem="it goes with records of the 2005 study, and those in "
            f"{records.directory} are not",
            remedy="leave it out",
        )
    return RunsView(records)
