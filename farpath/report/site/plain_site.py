"""A site of plain runs, with a table of the runs first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath

from farpath import __version__
from farpath.metrics.record_set import RecordSet
from farpath.metrics.results import RunSummary
from farpath.metrics.run_settings import further_settings
from farpath.metrics.studies import Study, studies
from farpath.report.figures.settings_bars import CAPTION, OVERVIEW, write_figures, write_overview
from farpath.report.figures.stack_colours import look_of
from farpath.report.html.render import render
from farpath.report.html.run_page import NavLink, NavLinks
from farpath.report.site.pages import (
    ASSETS_DIR,
    FIGURES_DIR,
    RUNS_DIR,
    TABLES_DIR,
    TO_INDEX,
    file_names,
)
from farpath.report.site.provenance_table import provenance_groups, provenance_of
from farpath.report.site.thumbnail import HEIGHT, WIDTH, Area
from farpath.report.table import SUFFIXES, Table, file_name
from farpath.report.tables.run_table import NOTE, run_tables
from farpath.spec.plan import Plan

#: A heading names at most this many stacks.
MAX_NAMED_STACKS = 4


@dataclass(frozen=True)
class RunsView:
    """A set of records, shown as plain runs."""

    records: RecordSet

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The file name of each run's page, by record."""
        return file_names(self.records.runs)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence for each study as whose some of the runs could be shown."""
        return tuple(filter(None, map(self._of_study, studies())))

    def _of_study(self, study: Study) -> str:
        members = self.records.members
        count = sum(study.is_run(member.plan) for member in members)
        counted = f"{count} of {len(members)} runs are of {study.TITLE}"
        if not count:
            return ""
        if count == len(members):
            return f"{counted}, some of them twice: with each once it is shown as the study"
        return f"{counted}: --view={study.VIEW} shows it as the study, with the published numbers"

    @property
    def missing(self) -> tuple[str, ...]:
        """Empty: every figure can be drawn."""
        return ()

    def tables(self, path: str | None = None) -> tuple[Table, ...]:
        """Return every run, means over seeds, and where the records are."""
        return run_tables(self.records.of_path(path))

    def site_tables(self) -> tuple[Table, ...]:
        """Return the same tables."""
        return self.tables()

    def write_figures(self, out: FilePath, hatched: bool = False) -> Iterator[FilePath]:
        """Draw the results of each set of settings, and every run over time."""
        stems = {record: name.removesuffix(".html") for record, name in self.names.items()}
        return write_figures(self.records, stems, out, hatched)

    def write_site_figures(self, out: FilePath) -> Iterator[FilePath]:
        """Draw the results of each set of settings; every run has its page."""
        return write_overview(self.records, out)

    def links(self, run: RunSummary) -> NavLinks:
        """Return the links of a run's page: to the index, its other seeds, and its neighbours."""
        runs = [member.run for member in self.records.members]
        index = runs.index(run)
        neighbours = [
            NavLink(text, self.names[runs[other].record])
            for text, other in (("previous", index - 1), ("next", index + 1))
            if 0 <= other < len(runs)
        ]
        group = next(
            group
            for group in self.records.groups
            if run in [member.run for member in group.members]
        )
        seeds = tuple(
            NavLink(str(member.plan.seed), self.names[member.run.record], member.run == run)
            for member in group.members
        )
        return NavLinks(TO_INDEX, (("seed", seeds), ("run", tuple(neighbours))))

    def index(self, thumbnails: Mapping[str, tuple[Area, ...]]) -> str:
        """Return the index of a site as HTML; ``thumbnails`` are by record."""
        members = self.records.members
        listed, *others = self.site_tables()
        groups, marks = provenance_groups([member.run for member in members], provenance_of)
        records = [member.run.record for member in members]
        further = further_settings(self.records)
        return render(
            "runs.html",
            heading=self._heading(),
            assets=ASSETS_DIR,
            version=__version__,
            seeds=sorted({member.plan.seed for member in members}),
            listed=listed,
            note=NOTE,
            rows=[
                (
                    row,
                    f"{RUNS_DIR}/{self.names[record]}",
                    thumbnails[record],
                    marks[record],
                    record,
                    further[record],
                )
                for row, record in zip(listed.lines, records, strict=True)
            ],
            legend=_legend([member.plan for member in members]),
            thumbnail=(WIDTH, HEIGHT),
            figure=f"{FIGURES_DIR}/{OVERVIEW}" if len(members) > 1 else "",
            caption=CAPTION,
            tables=list(others[:-1]),
            files=[
                (table.title, {form: f"{TABLES_DIR}/{file_name(table, suffix)}"
                                    for form, suffix in SUFFIXES.items()})
                for table in (listed, *others)
            ],
            provenance_groups=groups,
            remarks=self.remarks,
            problems=self.records.problems,
        )  # fmt: skip

    def _heading(self) -> str:
        stacks = list(dict.fromkeys(member.stacks for member in self.records.members))
        names = ", ".join(stacks[:MAX_NAMED_STACKS])
        more = (
            f" and {len(stacks) - MAX_NAMED_STACKS} more" if len(stacks) > MAX_NAMED_STACKS else ""
        )
        count = len(self.records.members)
        return f"{count} run{'s' if count > 1 else ''}: {names}{more}"


def _legend(plans: Sequence[Plan]) -> list[tuple[str, str]]:
    """Return each stack of the runs and its colour in a style sheet, in the order of stacks."""
    stacks = sorted({flow.stack for plan in plans for flow in plan.schedule.flows})
    return [(stack, look_of(stack).css) for stack in stacks]
