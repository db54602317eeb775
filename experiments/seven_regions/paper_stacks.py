"""The runs of a campaign that represent the stacks of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from farpath.metrics.results import ResultSet, RunSummary
from farpath.metrics.run import Summary
from farpath.programs.catalog import catalogue
from farpath.spec.schedule import REGIONS, SEVEN_REGIONS

from .published import all_published

#: The hosts that represent the paper's where a campaign has stacks on hosts of several eras.
PAPER_ERA = "2004"
#: The length of the paper's regions, in s; the fourth region lasts twice as long.
PAPER_REGION_S = 120
#: The only stack of the paper that is not TCP.
UDT = "UDTv2"


def paper_names() -> tuple[str, ...]:
    """Return the paper's names of its nine stacks, in the order of its tables."""
    return tuple(all_published())


def labels_by_paper_name(campaign: ResultSet) -> Mapping[str, str]:
    """Return the label of the runs that represent each of the paper's stacks, in its order.

    If a stack was run in several forms, the form of 2004 counts. A stack with changed parameters
    does not represent the paper's, nor does one that took another test than the seven regions.
    """
    entries = catalogue()
    labels: dict[str, str] = {}
    for run in (*campaign.runs, *campaign.cpu_runs):
        entry = entries.get(run.stack)
        if entry and entry.published and _took_the_paper_test(run):
            chosen = entries.get(labels.get(entry.published, ""))
            if chosen is None or (chosen.era != PAPER_ERA and entry.era == PAPER_ERA):
                labels[entry.published] = run.stack
    return {name: labels[name] for name in paper_names() if name in labels}


def runs_of(campaign: ResultSet, path: str, name: str) -> tuple[RunSummary, ...]:
    """Return the runs that represent one of the paper's stacks on a path, one for each seed."""
    return _seven_regions(campaign.of(path, labels_by_paper_name(campaign).get(name, "")))


def cpu_runs_of(campaign: ResultSet, path: str, name: str) -> tuple[RunSummary, ...]:
    """Return those runs as ``runs_of`` does, from the runs in which CPU was counted."""
    return _seven_regions(campaign.cpu_of(path, labels_by_paper_name(campaign).get(name, "")))


def _seven_regions(runs: tuple[RunSummary, ...]) -> tuple[RunSummary, ...]:
    return tuple(run for run in runs if _took_the_paper_test(run))


def _took_the_paper_test(run: RunSummary) -> bool:
    """Whether a run took the paper's test: seven regions, of which one lasts two lengths."""
    return run.summary.schedule == SEVEN_REGIONS and len(run.summary.regions) == REGIONS - 1


def intended_differences(runs: Iterable[RunSummary]) -> tuple[str, ...]:
    """Return a sentence for each intended difference between runs and those of the paper."""
    return differences_of(run.summary for run in runs)


def differences_of(summaries: Iterable[Summary]) -> tuple[str, ...]:
    """Return the same sentences of the summaries of runs."""
    all_summaries = tuple(summaries)
    sentences = []
    lengths = sorted({summary.region_s for summary in all_summaries} - {PAPER_REGION_S})
    if lengths:
        texts = " and ".join(f"{length:g} s" for length in lengths)
        sentences.append(f"Published with regions of {PAPER_REGION_S} s, measured with {texts}.")
    if {summary.era for summary in all_summaries} - {PAPER_ERA}:
        sentences.append("Published with the stacks and hosts of 2004, measured with today's.")
    return tuple(sentences)
