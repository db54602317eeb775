"""Synthetic ablations: each of an experiment's runs has the published figures, or changed ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

from experiments.ablation.analysis import ABLATION, Ablation, AblationRun, options_of
from farpath.metrics.run import Summary
from farpath.runs.experiment import (
    WHOLE,
    Experiment,
    WantedRun,
    load_experiment,
    stack_name,
)
from tests.support.campaigns import LABELS, run_of

PAPER_NAMES = {label: name for name, label in LABELS.items()}
Change = Callable[[WantedRun, Summary], Summary]


def as_printed(run: WantedRun, summary: Summary) -> Summary:
    """The published figures."""
    return summary


def ablation_of(
    change: Change = as_printed, which: str = WHOLE, experiment: Experiment | None = None
) -> Ablation:
    """All runs of a set, whose figures are the published ones with a change."""
    loaded = experiment or _project_s()
    runs = tuple(_run(run, change) for run in loaded.runs(which))
    return Ablation(loaded.title, loaded.mechanisms, runs)


@cache
def _project_s() -> Experiment:
    """The project's ablation, whose plans take most of a second."""
    return load_experiment(ABLATION)


def _run(wanted: WantedRun, change: Change) -> AblationRun:
    stack = stack_name(wanted.request.stack)
    run = run_of(PAPER_NAMES[stack], "cern", wanted.plan.seed)
    figures = dataclasses.replace(
        run.summary,
        stack=wanted.plan.stacks[0].label,
        path_name=wanted.plan.path.name,
        region_s=wanted.plan.schedule.region_s,
    )
    return AblationRun(
        wanted.mechanisms,
        stack,
        options_of(wanted),
        dataclasses.replace(run, record=wanted.label, summary=change(wanted, figures)),
    )


def halved(mechanism: str, stack: str) -> Change:
    """What halves the mean of a stack with a mechanism."""

    def change(wanted: WantedRun, summary: Summary) -> Summary:
        meant = mechanism in wanted.mechanisms and stack_name(wanted.request.stack) == stack
        return dataclasses.replace(summary, mean_bps=summary.mean_bps / 2) if meant else summary

    return change
