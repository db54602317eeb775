"""Paper: which of a campaign's runs stand for which of the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from farpath.analysis.published import all_published
from farpath.analysis.results import ResultSet, RunSummary
from farpath.planning.stack_catalog import catalogue
from farpath.spec.schedule import REGIONS, SEVEN_REGIONS

#: The hosts whose stacks stand for the paper's where a campaign has those of several eras.
PAPER_ERA = "2004"
#: The length of its regions, but for the fourth, which lasts two.
PAPER_REGION_S = 120
#: The one of the paper's stacks that is no TCP.
UDT = "UDTv2"


def paper_names() -> tuple[str, ...]:
    """The paper's names of its nine stacks, in the order of its tables."""
    return tuple(all_published())


def stand_ins(campaign: ResultSet) -> Mapping[str, str]:
    """For each of the paper's stacks that was run, the label of its runs, in its order.

    Of a stack that was run in several forms the one of 2004; one whose parameters were
    set, or that took another test than that of the seven regions, is not the paper's.
    """
    entries = catalogue()
    found: dict[str, str] = {}
    for run in (*campaign.runs, *campaign.cpu_runs):
        entry = entries.get(run.stack)
        if entry and entry.published and _is_of_the_test(run):
            known = entries.get(found.get(entry.published, ""))
            if known is None or (known.era != PAPER_ERA and entry.era == PAPER_ERA):
                found[entry.published] = run.stack
    return {name: found[name] for name in paper_names() if name in found}


def runs_of(campaign: ResultSet, path: str, name: str) -> tuple[RunSummary, ...]:
    """The runs that stand for one of the paper's stacks on a path, one for each seed."""
    return _seven_regions(campaign.of(path, stand_ins(campaign).get(name, "")))


def cpu_runs_of(campaign: ResultSet, path: str, name: str) -> tuple[RunSummary, ...]:
    """The same, of runs in which CPU was counted."""
    return _seven_regions(campaign.cpu_of(path, stand_ins(campaign).get(name, "")))


def _seven_regions(runs: tuple[RunSummary, ...]) -> tuple[RunSummary, ...]:
    return tuple(run for run in runs if _is_of_the_test(run))


def _is_of_the_test(run: RunSummary) -> bool:
    """Whether a run took the paper's test: seven regions, of which one lasts two lengths."""
    return run.summary.schedule == SEVEN_REGIONS and len(run.summary.regions) == REGIONS - 1


def differences(runs: Iterable[RunSummary]) -> tuple[str, ...]:
    """What of runs differs by intent from what the paper ran, a sentence for each thing."""
    known = tuple(runs)
    said = []
    lengths = sorted({run.summary.region_s for run in known} - {PAPER_REGION_S})
    if lengths:
        shown = " and ".join(f"{length:g} s" for length in lengths)
        said.append(f"Published with regions of {PAPER_REGION_S} s, measured with {shown}.")
    if {run.summary.era for run in known} - {PAPER_ERA}:
        said.append("Published with the stacks and hosts of 2004, measured with today's.")
    return tuple(said)


def how_counted(runs: Sequence[RunSummary]) -> str:
    """Where runs counted CPU and over which path, in two sentences; nothing of none."""
    if not runs:
        return ""
    paths = _together(
        f"{run.path} of {run.summary.rate_bps / 1e6:g} Mbit/s with regions of "
        f"{run.summary.region_s:g} s"
        for run in runs
    )
    on = f" on {machines}" if (machines := _together(run.processor for run in runs)) else ""
    cycle = "instruction" if all(run.cycles for run in runs) else "cycle by /proc/cpuinfo's MHz"
    many = f"{len(runs)} run{'s' if len(runs) > 1 else ''}"
    return (
        f"CPU: {many} of the host lab{on}, path {paths}; all sending programs together, CPU % of "
        f"one core at that rate. A hertz there is one {cycle} a second."
    )


def _together(texts: Iterable[str]) -> str:
    return " and ".join(sorted(set(texts)))
