"""The pages of a site: which file shows which run, and its links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from farpath.analysis.paper_stacks import labels_by_paper_name, paper_names
from farpath.analysis.results import ResultSet, RunSummary
from farpath.base.files import safe_name
from farpath.report.html.run_page import NavLink, NavLinks

#: The address of the index, relative to a run's page.
TO_INDEX = "../index.html"
RUNS_DIR = "runs"
ASSETS_DIR = "assets"
FIGURES_DIR = "figures"
TABLES_DIR = "tables"
#: The three paths of the paper and their names, the shortest first as on the testbed's page.
PATH_NAMES = {"caltech": "Caltech", "ufl": "UFL", "cern": "CERN"}


def path_label(path: str) -> str:
    """Return a path's name for people."""
    return PATH_NAMES.get(path, path)


def rows(campaign: ResultSet) -> tuple[tuple[str, str], ...]:
    """Return every stack to show and its label, the paper's nine first.

    The label is empty for one of the paper's stacks that was not run.
    """
    labels = labels_by_paper_name(campaign)
    paper_rows = tuple((name, labels.get(name, "")) for name in paper_names())
    others = (stack for stack in campaign.stacks if stack not in labels.values())
    return (*paper_rows, *((stack, stack) for stack in others))


def columns(campaign: ResultSet) -> tuple[str, ...]:
    """Return every path to show, the paper's three first."""
    others = (path for path in campaign.paths if path not in PATH_NAMES)
    return (*PATH_NAMES, *others)


def file_names(campaign: ResultSet) -> Mapping[str, str]:
    """Return the file name of each run's page, by record; all names are different."""
    names: dict[str, str] = {}
    used_names: set[str] = set()
    for run in campaign.runs:
        stacks = run.stack.replace(" + ", "-")
        stem = name = f"{safe_name(run.path)}-{safe_name(stacks)}-seed{run.seed}"
        count = 1
        while name.lower() in used_names:
            count += 1
            name = f"{stem}-{count}"
        used_names.add(name.lower())
        names[run.record] = f"{name}.html"
    return names


def _nearest(runs: Iterable[RunSummary], seed: int) -> RunSummary | None:
    """Return the run of that seed, else the run of the smallest seed."""
    return min(runs, key=lambda run: (run.seed != seed, run.seed), default=None)


def links_of(run: RunSummary, campaign: ResultSet, names: Mapping[str, str]) -> NavLinks:
    """Return the links of a run's page: to its other seeds, paths and stacks."""

    def link(text: str, other: RunSummary) -> NavLink:
        return NavLink(text, names[other.record], other == run)

    def linked(choices: Iterable[tuple[str, tuple[RunSummary, ...]]]) -> tuple[NavLink, ...]:
        linked_runs = ((text, _nearest(runs, run.seed)) for text, runs in choices)
        return tuple(link(text, other) for text, other in linked_runs if other is not None)

    return NavLinks(
        TO_INDEX,
        (
            ("seed", tuple(link(str(r.seed), r) for r in campaign.of(run.path, run.stack))),
            (
                "path",
                linked(
                    (path_label(path), campaign.of(path, run.stack)) for path in columns(campaign)
                ),
            ),
            (
                "stack",
                linked((name, campaign.of(run.path, label)) for name, label in rows(campaign)),
            ),
        ),
    )
