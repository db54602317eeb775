"""Path search: path models tried in the lab, each by whole runs, until one fits best.

A search is a directory: ``search.toml`` says what may vary and what it is held against,
``trials.json`` what was tried and found. Optuna chooses what to try next (Akiba et al.,
*Optuna: A Next-generation Hyperparameter Optimization Framework*, KDD 2019; its TPE
sampler), and begins again from the trials that are there: a search can be made in pieces.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.analysis.metrics import Summary
from farpath.analysis.path_model import PathModel, cost_of_means, cost_of_tables
from farpath.analysis.published import published
from farpath.analysis.results import RunSummary, run_summary
from farpath.base.documents import read_json, read_toml
from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import write_text
from farpath.lab.run import run as run_plan
from farpath.planning.era_catalog import era_by_text
from farpath.planning.path_files import path_by_name
from farpath.planning.planner import make_plan
from farpath.record.record import load_record
from farpath.spec.schedule import seven_regions

if TYPE_CHECKING:
    import optuna

SEARCH_FILE = "search.toml"
TRIALS_FILE = "trials.json"
FORMAT_VERSION = 1
Tell = Callable[[str], None]
#: One whole run of a stack over a model of the path.
Measure = Callable[[PathModel, str], RunSummary]


@dataclass(frozen=True)
class Search:
    """What a search varies, and what it is held against.

    ``ranges``: of each of PathModel's fields either a number, which is fixed, or a
    table of ``low``, ``high`` and perhaps ``log``, or a list of choices. ``guesses``:
    models to try first. ``mean_stability``, ``mean_fairness``: the published means over
    all stacks, for a path without published tables.
    """

    directory: FilePath
    path: str
    stacks: tuple[str, ...]
    held_out: tuple[str, ...]
    region_s: float
    seed: int
    era: str
    ranges: Mapping[str, Any]
    guesses: tuple[Mapping[str, float], ...]
    mean_stability: float | None = None
    mean_fairness: float | None = None

    def model(self, chosen: Mapping[str, Any]) -> PathModel:
        """A model of chosen values and the fixed ones."""
        fixed = {name: value for name, value in self.ranges.items() if not _varies(value)}
        values = {**fixed, **chosen}
        return PathModel(**{**values, "rate_bps": round(values["rate_bps"])})

    def cost(self, measured: Mapping[str, Summary]) -> float:
        """The objective; see farpath.analysis.path_model."""
        if self.mean_stability is not None and self.mean_fairness is not None:
            return cost_of_means(measured, self.mean_stability, self.mean_fairness)
        printed = {stack: published(stack, self.path) for stack in measured}
        return cost_of_tables(measured, {name: rows for name, rows in printed.items() if rows})


def _varies(allowed: Any) -> bool:
    return isinstance(allowed, dict | list)


def load_search(directory: FilePath) -> Search:
    """The search in a directory; BadInputError for one that is missing or malformed."""
    file = directory / SEARCH_FILE
    data = read_toml(file)
    try:
        return Search(
            directory,
            **{
                **data,
                "stacks": tuple(data["stacks"]),
                "held_out": tuple(data["held_out"]),
                "guesses": tuple(data.get("guesses", ())),
            },
        )
    except (KeyError, TypeError) as error:
        raise BadInputError(f"{file}: is no search: {error}") from error


def read_trials(search: Search) -> list[dict[str, Any]]:
    """All trials so far, in their order; none if nothing was tried yet."""
    file = search.directory / TRIALS_FILE
    if not file.exists():
        return []
    data = read_json(file, "move it away")
    try:
        if data["format_version"] != FORMAT_VERSION:
            raise BadInputError(f"{file}: has format version {data['format_version']}")
        return list(data["trials"])
    except (KeyError, TypeError) as error:
        raise BadInputError(f"{file}: is damaged: {error}; move it away") from error


def _write_trials(search: Search, trials: list[dict[str, Any]]) -> None:
    file = search.directory / TRIALS_FILE
    text = json.dumps({"format_version": FORMAT_VERSION, "trials": trials}, indent=1) + "\n"
    write_text(file, text)


def best_trial(search: Search) -> dict[str, Any]:
    """The trial of least cost; BadInputError if there is none."""
    trials = read_trials(search)
    if not trials:
        raise BadInputError(f"{search.directory}: nothing was tried yet: run farpath fit")
    return min(trials, key=lambda trial: float(trial["cost"]))


def _distributions(search: Search) -> dict[str, optuna.distributions.BaseDistribution]:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    found: dict[str, optuna.distributions.BaseDistribution] = {}
    for name, allowed in search.ranges.items():
        if isinstance(allowed, list):
            found[name] = CategoricalDistribution(allowed)
        elif isinstance(allowed, dict):
            found[name] = FloatDistribution(**allowed)
    return found


def in_the_lab(search: Search, results: FilePath, model: PathModel, stack: str) -> RunSummary:
    """One whole run in the virtual lab; its record goes below ``results``."""
    path = model.on(path_by_name(search.path))
    schedule = seven_regions(stack, search.region_s)
    plan = make_plan(path, schedule, search.seed, "virtual", era_by_text(search.era))
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


def _leave_interrupts_to_the_caller() -> None:
    """Ctrl-C reaches every process of a terminal; the first ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def search_on(search: Search, count: int, workers: int, measure: Measure, tell: Tell) -> None:
    """Try ``count`` more models, ``workers`` runs at a time; every trial is kept at once.

    Raises what a run raises; the trials before it are kept, and runs under way are ended.
    """
    try:
        import optuna
    except ImportError as error:
        raise MachineLacksError(
            "Optuna is missing: pip install 'farpath[fit]', or run 'make dev'"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    distributions = _distributions(search)
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
    # A pool that is left in mid-work ends its processes, and a run its lab with itself.
    with multiprocessing.Pool(workers, _leave_interrupts_to_the_caller) as pool:
        for number in range(len(trials) + 1, len(trials) + count + 1):
            asked = study.ask(distributions)
            model = search.model(asked.params)
            runs = pool.starmap(measure, [(model, stack) for stack in search.stacks], chunksize=1)
            cost = search.cost({run.stack: run.summary for run in runs})
            study.tell(asked, cost)
            trials.append(_trial(asked.params, model, cost, runs))
            _write_trials(search, trials)
            tell(f"trial {number}: cost {cost:.3f} (best {study.best_value:.3f}), {model}")
