"""View: how a set of records is shown, in tables, in figures and as a site."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol

from farpath.analysis.record_set import STUDY, RecordSet
from farpath.base.errors import BadInputError

if TYPE_CHECKING:
    from farpath.analysis.results import RunSummary
    from farpath.report.figures.style import Style
    from farpath.report.html.run_page import NavLinks
    from farpath.report.tables.formats import Sheet


class View(Protocol):
    """What tables, figures and site need of a way to show records."""

    @property
    def names(self) -> Mapping[str, str]:
        """The file name of each run's page, by record."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each thing that a reader has to know of the records together."""

    @property
    def missing(self) -> tuple[str, ...]:
        """A sentence for each figure that cannot be drawn."""

    def sheets(self, path: str | None = None) -> tuple[Sheet, ...]:
        """All tables, or those of one path."""

    def site_sheets(self) -> tuple[Sheet, ...]:
        """The tables that a site has."""

    def write_figures(self, out: FilePath, styles: Sequence[Style]) -> Iterator[FilePath]:
        """Draw all figures; yields each file once it is written."""

    def write_site_figures(self, out: FilePath, styles: Sequence[Style]) -> Iterator[FilePath]:
        """Draw the figures of a site's index."""

    def links(self, run: RunSummary) -> NavLinks:
        """Where a run's page of a site leads."""

    def index(self, thumbnails: Mapping[str, tuple[str, ...]]) -> str:
        """The index of a site, as HTML."""


def shown_as(records: RecordSet, held_out: Collection[str] = ()) -> View:
    """A set's view: the study's, whose tables mark stacks held out, or that of plain runs."""
    from farpath.report.site.runs import RunsView
    from farpath.report.site.study import StudyView

    if records.view == STUDY:
        return StudyView(records, held_out)
    if held_out:
        raise BadInputError(
            f"--held-out is '{','.join(held_out)}': it goes with records of the 2005 study, and "
            f"those in {records.directory} are not: leave it out"
        )
    return RunsView(records)
