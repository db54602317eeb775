"""Study: the 2005 study's records as the paper shows its own, stacks against paths first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath

from farpath import __version__
from farpath.analysis.claims import count_states, judge_all
from farpath.analysis.paper_stacks import labels_by_paper_name
from farpath.analysis.published import PUBLISHED_PATH
from farpath.analysis.record_set import RecordSet
from farpath.analysis.results import ResultSet, RunSummary, mixed
from farpath.report.figures.paper import captions, missing_figures, write_figures
from farpath.report.figures.style import NORMAL, Style
from farpath.report.html.render import render
from farpath.report.html.run_page import NavLinks
from farpath.report.site.matrix import heads, makes, matrix
from farpath.report.site.pages import ASSETS_DIR, FIGURES_DIR, TABLES_DIR, file_names, links_of
from farpath.report.site.thumbnail import HEIGHT, WIDTH
from farpath.report.tables.agreement import all_sheets
from farpath.report.tables.formats import SUFFIXES, Sheet, file_name
from farpath.report.tables.regions import Grid


@dataclass(frozen=True)
class StudyView:
    """A set of records as the 2005 study; ``held_out``: stacks that no path was fitted to."""

    records: RecordSet
    held_out: Collection[str] = ()

    @cached_property
    def campaign(self) -> ResultSet:
        """The runs; BadInputError if two are of one path, stack and seed."""
        return self.records.study

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The file name of each run's page, by record."""
        return file_names(self.campaign)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each thing in which the runs are mixed."""
        return mixed(self.campaign)

    @property
    def missing(self) -> tuple[str, ...]:
        """A sentence for each of the paper's figures that no run is there for."""
        return missing_figures(self.campaign)

    def sheets(self, path: str | None = None) -> tuple[Sheet, ...]:
        """The paper's tables; of one path its tables 1 and 2 alone."""
        return all_sheets(self.campaign, path, self.held_out)

    def write_figures(self, out: FilePath, styles: Sequence[Style]) -> Iterator[FilePath]:
        """The paper's figures, each once it is written."""
        return write_figures(self.campaign, self.records.directory, out, styles)

    def write_site_figures(self, out: FilePath, styles: Sequence[Style]) -> Iterator[FilePath]:
        """Those of a site's index: the same."""
        return self.write_figures(out, styles)

    def links(self, run: RunSummary) -> NavLinks:
        """Where a run's page leads."""
        return links_of(run, self.campaign, self.names)

    def index(self, thumbnails: Mapping[str, tuple[str, ...]]) -> str:
        """The index of a site, as HTML; ``thumbnails`` by record."""
        return _index(self, thumbnails)

    def site_sheets(self) -> tuple[Sheet, ...]:
        """The tables of a site: none if none of the paper's stacks ran."""
        return _sheets(self.campaign, held_out=self.held_out)


def _index(view: StudyView, thumbnails: Mapping[str, tuple[str, ...]]) -> str:
    campaign = view.campaign
    made, marks = makes(campaign.runs)
    table = matrix(campaign, view.names, thumbnails, marks)
    cells = [cell for row in table for cell in row.cells]
    verdicts = judge_all(campaign)
    return render(
        "index.html",
        heading="Nine transport stacks over three paths",
        assets=ASSETS_DIR,
        version=__version__,
        columns=heads(campaign),
        rows=table,
        runs=len(campaign.runs),
        seeds=sorted({run.seed for run in campaign.runs}),
        filled=sum(cell is not None for cell in cells),
        cells=len(cells),
        flows=_most_flows(campaign),
        thumbnail=(WIDTH, HEIGHT),
        figures=captions(campaign),
        figures_dir=FIGURES_DIR,
        missing_figures=missing_figures(campaign),
        sheets=_shown(view.site_sheets(), campaign),
        tables_dir=TABLES_DIR,
        verdicts=verdicts,
        states=count_states(verdicts),
        makes=made,
        mixed=mixed(campaign),
        problems=view.records.problems,
    )


def _most_flows(campaign: ResultSet) -> int:
    """How many flows the run has that has most, of those that have a colour."""
    summaries = [run.summary for run in campaign.runs]
    flows = [{name for region in each.regions for name in region.flows} for each in summaries]
    return min(max(map(len, flows)), len(NORMAL.flows))


def _sheets(
    campaign: ResultSet, path: str | None = None, held_out: Collection[str] = ()
) -> tuple[Sheet, ...]:
    """All tables, of one path alone if it is given; none if none of the paper's stacks ran."""
    return all_sheets(campaign, path, held_out) if labels_by_paper_name(campaign) else ()


def _shown(
    sheets: tuple[Sheet, ...], campaign: ResultSet
) -> list[tuple[Grid, dict[str, str], bool]]:
    """Each table, its files by form, and whether it is open; those first.

    Tables of a path that has no published ones are closed.
    """
    others = (path for path in campaign.paths if path != PUBLISHED_PATH)
    aside = {sheet.name for path in others for sheet in _sheets(campaign, path)}
    shown = [
        (
            sheet.grid,
            {form: file_name(sheet, suffix) for form, suffix in SUFFIXES.items()},
            sheet.name not in aside,
        )
        for sheet in sheets
    ]
    return sorted(shown, key=lambda each: not each[2])
