"""The search for a path model: models are tried in the lab by complete runs, until one fits best.

A search is a directory. ``search.toml`` says which parameters vary and which values the runs are
compared with; ``trials.json`` holds the trials and their results. Optuna's TPE sampler chooses the
next trial (``farpath.runs.trials``), and starts from the trials that are there. So a search can
be interrupted and continued.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from benchmarks.path_models.model import PathModel, cost_of_means, cost_of_tables
from farpath.analysis.published import published
from farpath.analysis.results import RunSummary, run_summary
from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError, FarpathError
from farpath.base.validation import validated
from farpath.lab.machine import limited_cores
from farpath.lab.pool import Job, Pool
from farpath.lab.run import run as run_plan
from farpath.metrics.run import Summary
from farpath.planning.era_catalog import era_by_text
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.record.record import load_record
from farpath.runs import trials as trials_file
from farpath.runs.trials import Interval, Number, load_optuna, write_trials
from farpath.spec.schedule import seven_regions

SEARCH_FILE = "search.toml"
TRIALS_FILE = "trials.json"
PrintLine = Callable[[str], None]
#: Measures one complete run of a stack over a model of the path.
MeasureModel = Callable[[PathModel, str], RunSummary]


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
        raise BadInputError(f"{search.directory}: nothing was tried yet: run farpath fit")
    return min(trials, key=lambda trial: float(trial["cost"]))


def run_in_lab(
    search: Search, results: FilePath, cores: int, model: PathModel, stack: str
) -> RunSummary:
    """Make one complete run in the virtual lab, on so many cores; its record is in ``results``."""
    path = model.on(path_by_name(search.path))
    schedule = seven_regions(stack, search.region_s)
    era = era_by_text(search.era_of.get(stack, search.era))
    plan = make_plan(path, schedule, search.seed, "virtual", era)
    with limited_cores(cores):
        outcome = run_plan(plan, results, force=False, watch=lambda _event: None)
    return run_summary(load_record(outcome.directory))


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


def continue_search(
    search: Search, count: int, workers: int, measure: MeasureModel, print_line: PrintLine
) -> None:
    """Try ``count`` more models, ``workers`` runs at a time; each trial is saved at once.

    Raises what a run raises; the trials before it are kept, and runs that are still going are
    ended.
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
    with Pool(workers) as pool:
        for number in range(len(trials) + 1, len(trials) + count + 1):
            trial_request = study.ask(distributions)
            model = search.model(trial_request.params)
            jobs = [Job(partial(measure, model, stack)) for stack in search.stacks]
            runs = [result.unwrap() for result in pool.run(jobs, fatal=(FarpathError,))]
            cost = search.cost({run.stack: run.summary for run in runs})
            study.tell(trial_request, cost)
            trials.append(_trial(trial_request.params, model, cost, runs))
            write_trials(search.directory / TRIALS_FILE, trials)
            print_line(f"trial {number}: cost {cost:.3f} (best {study.best_value:.3f}), {model}")
