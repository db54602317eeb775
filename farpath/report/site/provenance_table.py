"""The provenance of a site's runs: kernel, packages and code, and a mark for each other one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from farpath.metrics.results import RunSummary

#: Runs with the most common provenance have no mark, the others these.
MARKS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class ProvenanceGroup:
    """Runs of one provenance: a mark, empty for the largest group, and the provenance by name."""

    mark: str
    runs: int
    parts: Mapping[str, str]


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
