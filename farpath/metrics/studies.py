"""Studies: experiments of whose runs documents print results; study.py in their folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol, cast

from farpath.base.experiment_modules import STUDY, experiment_module, experiments_with
from farpath.base.project import EXPERIMENTS
from farpath.spec.labels import stacks_label

if TYPE_CHECKING:
    from farpath.metrics.results import ResultSet, RunSummary
    from farpath.spec.plan import Plan


class Study(Protocol):
    """The names in a study.py that say which runs are the study's, and of which stacks."""

    #: The value of ``view`` with which records are shown as this study's.
    VIEW: str
    #: Its name in sentences.
    TITLE: str

    def is_run(self, plan: Plan) -> bool:
        """Whether a run belongs to the study by its test, hosts, stack and path."""

    def stack_names(self) -> tuple[str, ...]:
        """Return the names that its documents give its stacks, in their order."""

    def stacks_of(self, results: ResultSet) -> Mapping[str, str]:
        """Return the label of the runs that represent each of its stacks, by the stack's name."""

    def runs_of(self, results: ResultSet, path: str, name: str) -> tuple[RunSummary, ...]:
        """Return the runs that represent one of its stacks on a path, one for each seed."""

    def cpu_runs_of(self, results: ResultSet, path: str, name: str) -> tuple[RunSummary, ...]:
        """Return those runs from the ones in which CPU was counted."""

    def differences(self, runs: Iterable[RunSummary]) -> tuple[str, ...]:
        """Return a sentence for each intended difference between runs and the study's own."""


@cache
def studies(experiments: FilePath = EXPERIMENTS) -> tuple[Study, ...]:
    """Return the studies of the experiments in a folder."""
    names = experiments_with(STUDY, experiments)
    return tuple(cast(Study, experiment_module(name, STUDY, experiments)) for name in names)


def study_of(plans: Sequence[Plan]) -> Study | None:
    """Return the study to which all runs belong, if none occurs twice; None if there is none."""
    keys = {(plan.path.name, stacks_label(plan.schedule), plan.seed) for plan in plans}
    if not plans or len(keys) < len(plans):
        return None
    return next((study for study in studies() if all(map(study.is_run, plans))), None)


def studies_in(results: ResultSet) -> tuple[Study, ...]:
    """Return the studies of which results have runs."""
    return tuple(study for study in studies() if study.stacks_of(results))


def titles() -> str:
    """Return the names of all studies for a sentence."""
    return " or ".join(study.TITLE for study in studies()) or "a study"
