"""The matrix of stacks against paths, each cell with the results of its runs."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from farpath.analysis.published import published
from farpath.analysis.results import ResultSet, RunSummary
from farpath.metrics.column import NOTHING, RUN
from farpath.metrics.estimate import estimate_over_seeds
from farpath.report.html.run_page import NavLink
from farpath.report.site.pages import RUNS_DIR, columns, path_label, rows
from farpath.report.site.thumbnail import Area

#: Runs with the most common provenance have no mark, the others these.
MARKS = "abcdefghijklmnopqrstuvwxyz"


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


@dataclass(frozen=True)
class ProvenanceGroup:
    """Runs of one provenance: a mark, empty for the largest group, and the provenance by name."""

    mark: str
    runs: int
    parts: Mapping[str, str]


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


def provenance_of(run: RunSummary) -> tuple[tuple[str, str], ...]:
    """Return the provenance of a run, apart from its plan."""
    return (
        ("kernel", run.kernel),
        ("kernel's build and packages", run.lab[:12]),
        ("farpath's code", run.code[:12]),
    )


def _parts(run: RunSummary) -> tuple[tuple[str, str], ...]:
    return (
        *provenance_of(run),
        ("hosts and stacks of", run.summary.era),
        ("clock", run.summary.clock),
        ("regions of", f"{run.summary.region_s:g} s"),
    )


def provenance_groups(
    runs: Sequence[RunSummary],
    parts_of: Callable[[RunSummary], tuple[tuple[str, str], ...]] = _parts,
) -> tuple[tuple[ProvenanceGroup, ...], Mapping[str, str]]:
    """Return the provenance of runs, the most common first; and each record's mark."""
    counted = Counter(parts_of(run) for run in runs)
    marks = {
        parts: MARKS[(index - 1) % len(MARKS)] if index else ""
        for index, (parts, _) in enumerate(counted.most_common())
    }
    groups = tuple(
        ProvenanceGroup(marks[parts], count, dict(parts)) for parts, count in counted.most_common()
    )
    return groups, {run.record: marks[parts_of(run)] for run in runs}


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
