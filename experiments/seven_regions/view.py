"""A site of the 2005 study's records as in the paper, with stacks against paths first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath

from farpath import __version__
from farpath.metrics.record_set import RecordSet
from farpath.metrics.results import ResultSet, RunSummary, mixed
from farpath.report.html.render import render
from farpath.report.html.run_page import NavLinks
from farpath.report.site.pages import ASSETS_DIR, FIGURES_DIR, TABLES_DIR, file_names
from farpath.report.site.provenance_table import provenance_groups
from farpath.report.site.thumbnail import HEIGHT, WIDTH, Area
from farpath.report.table import SUFFIXES, Table, file_name
from farpath.runs.claims import count_states, judge_all

from .agreement import all_tables
from .matrix import column_heads, links_of, matrix
from .paper_figures import captions, missing_figures, write_figures
from .paper_stacks import labels_by_paper_name
from .published import PUBLISHED_PATH


@dataclass(frozen=True)
class StudyView:
    """A set of records, shown as the 2005 study.

    ``held_out``: the paper's stacks that no path was fitted to.
    """

    records: RecordSet
    held_out: Collection[str] = ()

    @cached_property
    def campaign(self) -> ResultSet:
        """The runs; BadInputError if two have the same path, stack and seed."""
        return self.records.results

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The file name of each run's page, by record."""
        return file_names(self.campaign)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each property in which the runs are mixed."""
        return mixed(self.campaign)

    @property
    def missing(self) -> tuple[str, ...]:
        """A sentence for each of the paper's figures that has no run."""
        return missing_figures(self.campaign)

    def tables(self, path: str | None = None) -> tuple[Table, ...]:
        """Return the paper's tables; for a single path only tables 1 and 2."""
        return all_tables(self.campaign, path, self.held_out)

    def write_figures(self, out: FilePath, hatched: bool = False) -> Iterator[FilePath]:
        """Draw the paper's figures; yield each file once it is written."""
        return write_figures(self.campaign, self.records.directory, out, hatched)

    def write_site_figures(self, out: FilePath) -> Iterator[FilePath]:
        """Draw the same figures for the site's index."""
        return self.write_figures(out)

    def links(self, run: RunSummary) -> NavLinks:
        """Return the links of a run's page."""
        return links_of(run, self.campaign, self.names)

    def index(self, thumbnails: Mapping[str, tuple[Area, ...]]) -> str:
        """Return the index of a site as HTML; ``thumbnails`` are by record."""
        return _index(self, thumbnails)

    def site_tables(self) -> tuple[Table, ...]:
        """Return the tables of a site: none if none of the paper's stacks ran."""
        return _tables(self.campaign, held_out=self.held_out)


def _index(view: StudyView, thumbnails: Mapping[str, tuple[Area, ...]]) -> str:
    campaign = view.campaign
    groups, marks = provenance_groups(campaign.runs)
    rows = matrix(campaign, view.names, thumbnails, marks)
    cells = [cell for row in rows for cell in row.cells]
    verdicts = judge_all(campaign)
    return render(
        "index.html",
        heading="Nine transport stacks over three paths",
        assets=ASSETS_DIR,
        version=__version__,
        columns=column_heads(campaign),
        rows=rows,
        runs=len(campaign.runs),
        seeds=sorted({run.seed for run in campaign.runs}),
        filled=sum(cell is not None for cell in cells),
        cells=len(cells),
        thumbnail=(WIDTH, HEIGHT),
        figures=captions(campaign),
        figures_dir=FIGURES_DIR,
        missing_figures=missing_figures(campaign),
        tables=_table_entries(view.site_tables(), campaign),
        tables_dir=TABLES_DIR,
        verdicts=verdicts,
        states=count_states(verdicts),
        provenance_groups=groups,
        mixed=mixed(campaign),
        problems=view.records.problems,
    )


def _tables(
    campaign: ResultSet, path: str | None = None, held_out: Collection[str] = ()
) -> tuple[Table, ...]:
    """Return all tables, or those of one path; none if none of the paper's stacks ran."""
    return all_tables(campaign, path, held_out) if labels_by_paper_name(campaign) else ()


def _table_entries(
    tables: tuple[Table, ...], campaign: ResultSet
) -> list[tuple[Table, dict[str, str], bool]]:
    """Return each table, its files by form, and whether it is open; open ones come first.

    Tables of a path without published tables are closed.
    """
    unpublished = (path for path in campaign.paths if path != PUBLISHED_PATH)
    closed = {table.name for path in unpublished for table in _tables(campaign, path)}
    entries = [
        (
            table,
            {form: file_name(table, suffix) for form, suffix in SUFFIXES.items()},
            table.name not in closed,
        )
        for table in tables
    ]
    return sorted(entries, key=lambda entry: not entry[2])
