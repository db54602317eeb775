"""What mechanisms do to the results of the paper's stacks at CERN, each alone and all together.

A mechanism is a row of the ablation: nine runs for each seed, some of which it shares with others.
Runs of a stack with changed parameters, or on the path with a changed window or other traffic,
stand here for the paper's stack on the paper's path: that is what is asked. So they are compared
with published numbers, which ``experiments.seven_regions.paper_stacks`` refuses elsewhere.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from experiments.seven_regions.distances import mean_distance, rank_correlation
from experiments.seven_regions.paper_columns import LAB_COLUMNS, PaperColumn
from experiments.seven_regions.paper_stacks import runs_of
from experiments.seven_regions.published import PUBLISHED_PATH
from farpath.base.documents import check_format_version, read_json
from farpath.base.errors import BadInputError
from farpath.base.files import write_text
from farpath.metrics.estimate import Estimate, estimate
from farpath.metrics.results import (
    ResultSet,
    RunSummary,
    mixed,
    result_set_of,
    run_summary,
)
from farpath.programs.catalog import split_text
from farpath.runs.claims import FAILS, HOLDS, UNDECIDED, ClaimVerdict, judge_all
from farpath.runs.claims.claim_rules import run_rules
from farpath.runs.experiment import Experiment, RecordedRun, WantedRun, stack_name

#: The name of the experiment.
ABLATION = "ablation"
#: The mechanism that all others are compared with.
BASE = "base"
#: The file in an experiment's folder, and in a report, that holds an ablation.
ABLATION_FILE = "ablation.json"
FORMAT_VERSION = 1
REMEDY = "run 'make campaign EXPERIMENT=ablation', which writes one"
#: The mechanism that all others make together.
ALL = "all"
#: Options that tell runs of one mechanism apart, or that all runs of an ablation have in common.
_NOT_SETTINGS = ("seed", "region")


@dataclass(frozen=True)
class AblationRun:
    """One run, the names of the mechanisms that it belongs to, and its options in full.

    ``stack``: the name of its stack, without parameters. ``options``: by their names.
    """

    mechanisms: tuple[str, ...]
    stack: str
    options: Mapping[str, str]
    run: RunSummary

    @property
    def of_base(self) -> bool:
        """Whether it is a run of the base too."""
        return BASE in self.mechanisms

    @property
    def words(self) -> dict[str, str]:
        """The settings in full, each word of an era and of a stack by itself."""
        words: dict[str, str] = {}
        for name, value in self.options.items():
            if name == "era":
                era, of_era = split_text(value)
                words |= {"era": era, **of_era}
            elif name == "stack":
                words |= split_text(value)[1]
            elif name not in _NOT_SETTINGS:
                words[name] = value
        return words

    def as_paper_run(self) -> RunSummary:
        """Return the summary as one of the paper's stack on the paper's path."""
        summary = dataclasses.replace(self.run.summary, stack=self.stack, path_name=PUBLISHED_PATH)
        return dataclasses.replace(self.run, summary=summary)


@dataclass(frozen=True)
class Score:
    """How near a mechanism brings all stacks to the published table 1, and the claims it changes.

    ``rank_correlation``: Spearman's, of the means; NaN unless all nine stacks were run.
    ``distances``: the mean of |measured - published| over the stacks, by a column's key.
    ``stacks``: how many were run. ``holding``, ``failing``, ``undecided``: how many of the claims
    that such runs can decide. ``changes``: by a claim's id its state at the base and here.
    """

    rank_correlation: float
    distances: Mapping[str, float]
    stacks: int
    holding: int
    failing: int
    undecided: int
    changes: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Ablation:
    """All runs of an ablation; ``mechanisms``: the titles by name, in their order."""

    title: str
    mechanisms: Mapping[str, str]
    runs: tuple[AblationRun, ...]

    @property
    def regions_s(self) -> tuple[float, ...]:
        """The lengths of the runs' regions in s, ascending; one unless several are mixed."""
        return tuple(sorted({each.run.summary.region_s for each in self.runs}))

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds, ascending."""
        return tuple(sorted({each.run.seed for each in self.runs}))

    def runs_of(self, mechanism: str) -> tuple[AblationRun, ...]:
        """Return the runs of a mechanism."""
        return tuple(each for each in self.runs if mechanism in each.mechanisms)

    @cached_property
    def mixtures(self) -> tuple[str, ...]:
        """A sentence for each property besides settings that differs between runs and should not.

        Such are kernel, packages and code, and the modules of one stack.
        """
        runs = (dataclasses.replace(each.run, settings="", hosts="") for each in self.runs)
        return mixed(ResultSet(tuple(runs)))

    @cached_property
    def results(self) -> Mapping[str, ResultSet]:
        """The results of each mechanism that has runs, in the mechanisms' order."""
        return {
            name: result_set_of(each.as_paper_run() for each in runs)
            for name in self.mechanisms
            if (runs := self.runs_of(name))
        }

    def of(self, mechanism: str, stack: str, column: PaperColumn) -> Estimate:
        """Return a column of one of the paper's stacks: the mean over seeds."""
        runs = runs_of(self.results[mechanism], PUBLISHED_PATH, stack)
        return estimate([column.measured.number_of(run.summary) for run in runs])

    def changes(self, mechanism: str, stack: str) -> bool:
        """Whether a mechanism has runs of one of the paper's stacks that are not the base's."""
        of_mechanism, of_base = (
            {run.record for run in runs_of(self.results[name], PUBLISHED_PATH, stack)}
            if name in self.results
            else set()
            for name in (mechanism, BASE)
        )
        return bool(of_mechanism - of_base)

    def settings_of(self, mechanism: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        """Return the words that most runs of a mechanism have, and those of single stacks.

        The latter are by the stack's name, and are what it has instead or besides.
        """
        by_stack = {each.stack: each.words for each in self.runs_of(mechanism)}
        counts = Counter(word for words in by_stack.values() for word in words.items())
        common: dict[str, str] = {}
        for (name, value), count in counts.items():
            if 2 * count > len(by_stack) or len(by_stack) == 1:
                common[name] = value
        single = {
            stack: {name: value for name, value in words.items() if common.get(name) != value}
            for stack, words in by_stack.items()
        }
        return common, {stack: words for stack, words in single.items() if words}

    @cached_property
    def verdicts(self) -> Mapping[str, Mapping[str, ClaimVerdict]]:
        """By mechanism, the verdicts by id on the claims that its runs alone can decide."""
        return {name: decided_at_cern(results) for name, results in self.results.items()}

    def score(self, mechanism: str) -> Score:
        """Return the score of a mechanism; without runs of the base no claim changes."""
        results = self.results[mechanism]
        states = {id_: verdict.state for id_, verdict in self.verdicts[mechanism].items()}
        before = {id_: verdict.state for id_, verdict in self.verdicts.get(BASE, {}).items()}
        counts = Counter(states.values())
        return Score(
            rank_correlation(results),
            {each.key: mean_distance(results, each) for each in LAB_COLUMNS},
            len(results.stacks),
            counts[HOLDS],
            counts[FAILS],
            counts[UNDECIDED],
            {
                id_: (before[id_], state)
                for id_, state in states.items()
                if id_ in before and before[id_] != state
            },
        )


def decided_at_cern(results: ResultSet) -> dict[str, ClaimVerdict]:
    """Return the verdicts on those claims that need no other runs than these, by id."""
    return {
        verdict.id: verdict
        for verdict in judge_all(results)
        if verdict.id in run_rules() and verdict.criteria
    }


def options_of(run: WantedRun) -> dict[str, str]:
    """Return a run's options in full by their names, which no other run of its experiment has."""
    return {option.name: value for option, value in run.request.values()}


def ablation_of(experiment: Experiment, done: Iterable[RecordedRun]) -> Ablation:
    """Return the ablation of the runs that have records; this reads their samples.

    It has the mechanisms of which a run of their own was made, besides those shared with the base.
    """
    runs = ((recorded.run, run_summary(recorded.record)) for recorded in done)
    return _ablation_of_summaries(experiment, runs)


def extended(
    earlier: Ablation,
    experiment: Experiment,
    runs: Sequence[WantedRun],
    done: Sequence[RecordedRun],
) -> Ablation:
    """Return the ablation of those of ``runs`` that have records or are in an earlier ablation.

    A run that is both is that of the record. Raises BadInputError if one of the earlier ablation is
    none of ``runs``, as with regions of another length.
    """
    wanted = {_key(options_of(run)): run for run in runs}
    there = {_key(each.options): each.run for each in earlier.runs}
    if lost := there.keys() - wanted.keys():
        raise BadInputError(
            problem=f"{len(lost)} of its runs are none of these {len(wanted)}",
            remedy="give the records of runs with regions of one length",
        )
    summaries = there | {_key(options_of(each.run)): run_summary(each.record) for each in done}
    return _ablation_of_summaries(experiment, ((wanted[key], summaries[key]) for key in summaries))


def _key(options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(options.items()))


def _ablation_of_summaries(
    experiment: Experiment, done: Iterable[tuple[WantedRun, RunSummary]]
) -> Ablation:
    runs = tuple(
        AblationRun(wanted.mechanisms, stack_name(wanted.request.stack), options_of(wanted), run)
        for wanted, run in done
    )
    begun = {name for each in runs for name in each.mechanisms if name == BASE or not each.of_base}
    titles = {name: title for name, title in experiment.mechanisms.items() if name in begun}
    kept = [
        dataclasses.replace(each, mechanisms=names)
        for each in runs
        if (names := tuple(name for name in each.mechanisms if name in begun))
    ]
    return Ablation(experiment.title, titles, _sorted(kept, titles))


def _sorted(runs: Iterable[AblationRun], titles: Mapping[str, str]) -> tuple[AblationRun, ...]:
    """Sort runs by their first mechanism, stack and seed: the same runs give the same file."""
    order = list(titles)
    return tuple(
        sorted(runs, key=lambda each: (order.index(each.mechanisms[0]), each.stack, each.run.seed))
    )


def write_ablation(ablation: Ablation, file: FilePath) -> None:
    """Write an ablation as JSON, one run a line; equal ones give equal bytes."""
    lines = ",\n".join(
        json.dumps(
            {
                "mechanisms": list(each.mechanisms),
                "stack": each.stack,
                "options": dict(each.options),
                "run": each.run.as_dict(),
            },
            sort_keys=True,
            separators=(",", ":"),
            allow_nan=False,
        )
        for each in ablation.runs
    )
    head = json.dumps({"title": ablation.title, "mechanisms": dict(ablation.mechanisms)})
    write_text(
        file, f'{{"format_version":{FORMAT_VERSION},"ablation":{head},"runs":[\n{lines}\n]}}\n'
    )


def read_ablation(file: FilePath) -> Ablation:
    """Read an ablation that ``write_ablation`` wrote.

    Raises BadInputError for a file that is missing, damaged or of another version.
    """
    data = read_json(file, REMEDY)
    check_format_version(data, FORMAT_VERSION, file, REMEDY)
    try:
        head = data["ablation"]
        runs = tuple(map(_run_from_dict, data["runs"]))
        ablation = Ablation(str(head["title"]), dict(head["mechanisms"]), runs)
        if unknown := {name for run in runs for name in run.mechanisms} - {*ablation.mechanisms}:
            raise BadInputError(problem=f"{min(unknown)} is none of its mechanisms")
        if not runs:
            raise BadInputError(problem="no runs in it")
    except (BadInputError, KeyError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInputError(problem=f"{file}: is damaged ({reason})", remedy=REMEDY) from error
    return ablation


def _run_from_dict(data: Mapping[str, Any]) -> AblationRun:
    return AblationRun(
        tuple(map(str, data["mechanisms"])),
        str(data["stack"]),
        {str(name): str(value) for name, value in data["options"].items()},
        RunSummary.from_dict(data["run"]),
    )
