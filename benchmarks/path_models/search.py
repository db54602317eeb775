"""The search for a path model: models are tried in the lab by complete runs, until one fits best.

A search is a directory. ``search.toml`` says which parameters vary and which values the runs are
compared with; ``trials.json`` holds the trials and their results. Optuna's TPE sampler chooses the
next trial (``farpath.runs.trials``), and starts from the trials that are there. So a search can
be interrupted and continued.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from pathlib import Path as FilePath
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from benchmarks.path_models.model import PathModel, cost_of_means, cost_of_tables
from experiments.seven_regions.published import published
from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.base.validation import validated
from farpath.mechanisms.era.mechanism import era_by_text
from farpath.metrics.results import RunSummary
from farpath.metrics.run import Summary
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.runs import trials as trials_file
from farpath.runs.make import MadeSet
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.runs.trials import Interval, Number, load_optuna, write_trials
from farpath.spec.schedule import seven_regions

SEARCH_FILE = "search.toml"
TRIALS_FILE = "trials.json"
PrintLine = Callable[[str], None]
#: Makes the runs over a model of the path, and raises the first error of a run.
MakeModel = Callable[[RunSet], MadeSet[RunSummary]]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Search:
    """The parameters that a search varies, and the values that it compares with.

    ``ranges``: for each field of PathModel a fixed number, an interval or a list of choices.
    ``era``: of all hosts, but for those of the stacks in ``era_of``. ``guesses``: models to try
    first. ``mean_stability``, ``mean_fairness``: the published means
    over all stacks, for a path without published tables.
    """

    directory: FilePath
    path: str
    stacks: tuple[str, ...]
    held_out: tuple[str, ...]
    region_s: float
    seed: int
    era: str
    ranges: dict[str, Interval | list[Number] | Number]
    era_of: dict[str, str] = field(default_factory=dict)
    guesses: tuple[dict[str, Number], ...] = ()
    mean_stability: float | None = None
    mean_fairness: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a parameter of PathModel without a range, and an unknown stack."""
        parameters = {each.name for each in fields(PathModel)}
        if wrong := sorted(parameters ^ self.ranges.keys()):
            raise ValueError(
                f"ranges.{wrong[0]}: ranges must have each parameter of a path model: "
                f"{', '.join(sorted(parameters))}"
            )
        if unknown := sorted(self.era_of.keys() - set(self.stacks)):
            raise ValueError(f"era_of.{unknown[0]}: is no stack of this search")

    def model(self, chosen: Mapping[str, Any]) -> PathModel:
        """Return the model with the chosen values and the fixed ones."""
        fixed = {name: value for name, value in self.ranges.items() if not is_varied(value)}
        values = {**fixed, **chosen}
        return PathModel(**{**values, "rate_bps": round(values["rate_bps"])})

    def cost(self, measured: Mapping[str, Summary]) -> float:
        """Return the value of the objective; see ``benchmarks.path_models.model``."""
        if self.mean_stability is not None and self.mean_fairness is not None:
            return cost_of_means(measured, self.mean_stability, self.mean_fairness)
        printed = {stack: published(stack, self.path) for stack in measured}
        return cost_of_tables(measured, {name: rows for name, rows in printed.items() if rows})


def is_varied(allowed: Any) -> bool:
    """Whether a parameter varies, by its entry in ``Search.ranges``."""
    return isinstance(allowed, Interval | list)


def load_search(directory: FilePath) -> Search:
    """Load the search in a directory; raise BadInputError if it is missing or malformed."""
    file = directory / SEARCH_FILE
    return validated(Search, {**read_toml(file), "directory": str(directory)}, str(file))


def read_trials(search: Search) -> list[dict[str, Any]]:
    """Return all trials so far, in their order; empty if nothing was tried yet."""
    return trials_file.read_trials(search.directory / TRIALS_FILE)


def best_trial(search: Search) -> dict[str, Any]:
    """Return the trial of least cost; raise BadInputError if there is none."""
    trials = read_trials(search)
    if not trials:
        raise BadInputError(
            problem=f"{search.directory}: nothing was tried yet", remedy="run farpath fit"
        )
    return min(trials, key=lambda trial: float(trial["cost"]))


def planned_runs(search: Search, model: PathModel) -> RunSet:
    """Return one complete run of each stack over a model of the path."""
    path = model.on(path_by_name(search.path))
    about = {name: str(value) for name, value in model.as_dict().items()}
    runs = []
    for stack in search.stacks:
        era = era_by_text(search.era_of.get(stack, search.era))
        schedule = seven_regions(stack, search.region_s)
        plan = make_plan(path, schedule, search.seed, "virtual", era)
        runs.append(PlannedRun(stack, plan, {"stack": stack, **about}))
    return RunSet(tuple(runs))


def _trial(chosen: Mapping[str, Any], model: PathModel, cost: float, runs: list[RunSummary]) -> Any:
    return {
        "chosen": dict(chosen),
        "model": model.as_dict(),
        "cost": cost,
        "made_by": {
            name: sorted({getattr(run, name) for run in runs})
            for name in ("kernel", "images", "code")
        },
        "runs": {
            run.stack: {"fingerprint": run.fingerprint, **_figures(run.summary)} for run in runs
        },
    }


def _figures(summary: Summary) -> dict[str, Any]:
    return {
        "mean_mbps": round(summary.mean_bps / 1e6, 1),
        "std_mbps": round(summary.std_bps / 1e6, 1),
        "stability": round(summary.stability, 3),
        "fairness_min": round(summary.fairness_min, 3),
        "fairness_max": round(summary.fairness_max, 3),
        "rtt_std_ms": round(summary.rtt_std_ms, 1),
        "regions": [
            [round(region.stability, 3), round(region.fairness, 3)] for region in summary.regions
        ],
    }


def continue_search(search: Search, count: int, make: MakeModel, print_line: PrintLine) -> None:
    """Try ``count`` more models, each by the runs that ``make`` makes; a trial is saved at once.

    Raises what ``make`` raises; the trials before it are kept.
    """
    optuna = load_optuna()
    distributions = trials_file.distributions(search.ranges)
    trials = read_trials(search)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(
            seed=search.seed + len(trials), multivariate=True, n_startup_trials=6
        )
    )
    for trial in trials:
        study.add_trial(
            optuna.trial.create_trial(
                params=trial["chosen"], distributions=distributions, value=trial["cost"]
            )
        )
    tried = [trial["chosen"] for trial in trials]
    for guess in search.guesses:
        if dict(guess) not in tried:
            study.enqueue_trial(dict(guess))
    for number in range(len(trials) + 1, len(trials) + count + 1):
        trial_request = study.ask(distributions)
        model = search.model(trial_request.params)
        runs = [made.value for made in make(planned_runs(search, model)).runs]
        cost = search.cost({run.stack: run.summary for run in runs})
        study.tell(trial_request, cost)
        trials.append(_trial(trial_request.params, model, cost, runs))
        write_trials(search.directory / TRIALS_FILE, trials)
        print_line(f"trial {number}: cost {cost:.3f} (best {study.best_value:.3f}), {model}")
