"""The matrix of stacks against paths, each cell with its runs' results, and links between runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from farpath.base.column import NOTHING
from farpath.metrics.catalogue import RUN
from farpath.metrics.estimate import estimate_over_seeds
from farpath.metrics.results import ResultSet, RunSummary
from farpath.report.html.run_page import NavLink, NavLinks
from farpath.report.site.pages import RUNS_DIR, TO_INDEX
from farpath.report.site.thumbnail import Area

from .paper_stacks import labels_by_paper_name, paper_names
from .published import published

#: The three paths of the paper and their names, the shortest first as on the testbed's page.
PATH_NAMES = {"caltech": "Caltech", "ufl": "UFL", "cern": "CERN"}


@dataclass(frozen=True)
class Column:
    """One path: its name, its base RTT and its bottleneck rate."""

    name: str
    about: str


@dataclass(frozen=True)
class Cell:
    """The runs of a stack on a path: means over seeds as texts, and links to their pages.

    ``areas``: the first seed's thumbnail. ``printed``: the paper's values, if any.
    """

    about: str
    mean: str
    stability: str
    fairness: str
    printed: str
    links: tuple[NavLink, ...]
    marks: tuple[str, ...]
    areas: tuple[Area, ...]


@dataclass(frozen=True)
class Row:
    """One stack: the paper's name, our label, and a cell or None for each path."""

    name: str
    label: str
    cells: tuple[Cell | None, ...]


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


def column_heads(campaign: ResultSet) -> tuple[Column, ...]:
    """Return the head of each column of ``matrix``."""
    first = {run.path: run.summary for run in reversed(campaign.runs)}
    return tuple(
        Column(
            path_label(path),
            f"RTT {first[path].base_rtt_ms:g} ms, {first[path].rate_bps / 1e6:g} Mbit/s"
            if path in first
            else "",
        )
        for path in columns(campaign)
    )


def _mean(runs: Sequence[RunSummary], figure: Callable[[RunSummary], float], decimals: int) -> str:
    value = statistics.fmean(figure(run) for run in runs)
    return f"{value:.{decimals}f}" if math.isfinite(value) else NOTHING


def _throughput(runs: Sequence[RunSummary]) -> str:
    """Return the mean over seeds in Mbit/s, with its 95 % interval if there are several."""
    means_mbps = [RUN["throughput_mbps"].number_of(run.summary) for run in runs]
    mean_mbps = estimate_over_seeds(means_mbps, [run.fingerprint for run in runs])
    if not math.isfinite(mean_mbps.half_width):
        return f"{mean_mbps.mean:.0f}"
    return f"{mean_mbps.mean:.0f} ± {mean_mbps.half_width:.0f}"


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low}–{high}"  # noqa: RUF001 (a range in print)


def _printed(stack: str, path: str) -> str:
    """Return the paper's values for a stack on a path, or an empty text."""
    entry = published(stack, path)
    if entry is None:
        return ""
    fairness = _range(f"{entry.fairness_min:.2f}", f"{entry.fairness_max:.2f}")
    return f"paper: {entry.mean_mbps:.0f}, S {entry.stability:.2f}, F {fairness}"


def _cell(
    name: str,
    runs: Sequence[RunSummary],
    names: Mapping[str, str],
    thumbnails: Mapping[str, tuple[Area, ...]],
    marks: Mapping[str, str],
) -> Cell:
    first = runs[0]
    fairness = (
        _mean(runs, lambda run: run.summary.fairness_min, 2),
        _mean(runs, lambda run: run.summary.fairness_max, 2),
    )
    return Cell(
        about=f"{name} on {path_label(first.path)}",
        mean=_throughput(runs),
        stability=_mean(runs, lambda run: run.summary.stability, 2),
        fairness=_range(*fairness),
        printed=_printed(first.stack, first.path),
        links=tuple(NavLink(str(run.seed), f"{RUNS_DIR}/{names[run.record]}") for run in runs),
        marks=tuple(marks[run.record] for run in runs),
        areas=thumbnails[first.record],
    )


def matrix(
    campaign: ResultSet,
    names: Mapping[str, str],
    thumbnails: Mapping[str, tuple[Area, ...]],
    marks: Mapping[str, str],
) -> tuple[Row, ...]:
    """Return all rows; ``names``, ``thumbnails`` and ``marks`` are by record."""

    def cell(name: str, label: str, path: str) -> Cell | None:
        runs = campaign.of(path, label)
        return _cell(name, runs, names, thumbnails, marks) if runs else None

    return tuple(
        Row(name, label, tuple(cell(name, label, path) for path in columns(campaign)))
        for name, label in rows(campaign)
    )


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
