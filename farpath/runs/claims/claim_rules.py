"""The rules by which measures or runs of experiments decide claims.

Most are data in claims.toml (``declared.py``). The analysis.py of an experiment's folder may have
others, by the ids of their claims: as ``CLAIMS`` those by measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol, cast

from farpath.base.experiment_modules import ANALYSIS, STUDY, experiment_module
from farpath.base.project import EXPERIMENTS
from farpath.metrics.measures import Measure
from farpath.metrics.results import ResultSet
from farpath.metrics.studies import Study
from farpath.runs.claims.claim import declared_claims
from farpath.runs.claims.criteria import Criteria
from farpath.runs.experiment import experiment_names

if TYPE_CHECKING:
    from farpath.runs.claims.declared import Rule

#: A rule judges a claim by measures.
MeasureRule = Callable[[Sequence[Measure]], Criteria]


class RunRule(Protocol):
    """A rule that judges a claim by runs: by all of them, or by those of one seed."""

    def __call__(self, results: ResultSet, seed: int | None = None) -> Criteria:
        """Return the criteria; raise MissingRunsError naming the runs that are missing."""


@cache
def measure_rules(experiments: FilePath = EXPERIMENTS) -> Mapping[str, MeasureRule]:
    """Return the rules of all claims that measures of the experiments in a folder decide, by id."""
    rules: dict[str, MeasureRule] = {}
    for name in experiment_names(experiments):
        rules |= experiment_measure_rules(name, experiments)
    return rules


@cache
def experiment_measure_rules(experiment: str, experiments: FilePath) -> Mapping[str, MeasureRule]:
    """Return the rules of the claims that measures of one experiment decide, by id."""
    from farpath.runs.claims.declared import judged_by_measures

    module = experiment_module(experiment, ANALYSIS, experiments)
    own: Mapping[str, MeasureRule] = getattr(module, "CLAIMS", {})
    declared: dict[str, MeasureRule] = {
        id_: partial(judged_by_measures, rule, experiment=experiment)
        for id_, rule in _declared(experiment, experiments).items()
        if not rule.of_runs
    }
    return {**declared, **own}


@cache
def run_rules(experiments: FilePath = EXPERIMENTS) -> Mapping[str, RunRule]:
    """Return the rules of all claims that runs themselves decide, by id."""
    rules: dict[str, RunRule] = {}
    for name in experiment_names(experiments):
        for id_, rule in _declared(name, experiments).items():
            if rule.of_runs:
                rules[id_] = _run_rule(rule, name, experiments)
    return rules


def _run_rule(rule: Rule, experiment: str, experiments: FilePath) -> RunRule:
    from farpath.runs.claims.declared import judged_by_runs

    study = cast("Study | None", experiment_module(experiment, STUDY, experiments))

    def judge(results: ResultSet, seed: int | None = None) -> Criteria:
        return judged_by_runs(rule, results, seed, study)

    return judge


def _declared(experiment: str, experiments: FilePath) -> dict[str, Rule]:
    """Return the rules in an experiment's claims.toml by the ids of their claims."""
    declared = declared_claims(experiment, experiments)
    return {each.claim.id: each.rule for each in declared if each.rule is not None}


def claims_of(experiment: str, experiments: FilePath = EXPERIMENTS) -> tuple[str, ...]:
    """Return the ids of the claims that an experiment's measures decide, in its file's order."""
    rules = experiment_measure_rules(experiment, experiments)
    ids = (each.claim.id for each in declared_claims(experiment, experiments))
    return tuple(id_ for id_ in ids if id_ in rules)
