"""The analyses of experiments: ``measures`` in the analysis.py of an experiment's folder."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path as FilePath
from types import ModuleType

from farpath.base.errors import MachineLacksError
from farpath.base.experiment_modules import ANALYSIS, RESULTS, experiment_module
from farpath.base.project import EXPERIMENTS, experiment_folder
from farpath.metrics.measures import MEASURES_FILE, Measure, read_measures
from farpath.runs.experiment import RecordedRun, combined_in, experiment_names, load_experiment


def has_measures(name: str, experiments: FilePath = EXPERIMENTS) -> bool:
    """Whether an experiment's folder says how its runs are measured."""
    return hasattr(experiment_module(name, ANALYSIS, experiments), "measures")


def experiment_with(name: str, experiments: FilePath = EXPERIMENTS) -> str:
    """Return the experiment that makes this one's runs: that which it is a part of, or itself."""
    return combined_in(name, experiments) or name


def campaign_command(name: str, which: str = "", experiments: FilePath = EXPERIMENTS) -> str:
    """Return the command of Make that makes a set of an experiment's runs."""
    words = ["make", "campaign", f"EXPERIMENT={experiment_with(name, experiments)}"]
    words += [f"SET={which}"] if which else []
    on_host = all(run.on_host for run in load_experiment(name, experiments).runs())
    return " ".join([*words, *(["QEMU=1"] if on_host else [])])


def results_module(name: str, experiments: FilePath = EXPERIMENTS) -> ModuleType | None:
    """Return the results.py of an experiment's folder; None if the folder has no such file.

    The results of its runs are one object, which is kept in a file of the folder, ``FILE``.
    ``of_runs(experiment, recorded_runs)`` makes it, ``extended(earlier, experiment, runs,
    recorded_runs)`` adds runs to an earlier one, and its ``runs`` are all of them. ``write(results,
    file)`` and ``read(file)`` keep it. ``tables(results)`` and ``figures(results)``, which yields
    each figure with its file's stem, show it. ``PACKAGES``, which a file may leave out: the
    packages that ``of_runs`` needs beside farpath's own, by the names of their modules.
    """
    return experiment_module(name, RESULTS, experiments)


def require_packages(results: object) -> None:
    """Raise MachineLacksError if a package is missing that the results of runs need."""
    packages: Mapping[str, str] = getattr(results, "PACKAGES", {})
    missing = [package for module, package in packages.items() if find_spec(module) is None]
    if missing:
        raise MachineLacksError(
            f"{', '.join(missing)} is missing, which the results of these runs need: run "
            f"'{sys.executable} -m pip install {' '.join(missing)}', then the same command again"
        )


def measures_of(
    runs: Sequence[RecordedRun],
    names: Iterable[str] | None = None,
    experiments: FilePath = EXPERIMENTS,
) -> tuple[Measure, ...]:
    """Return the measures of runs, experiment by experiment.

    ``names``: the experiments in their order; without it they are in the order of their names.
    """
    measures: list[Measure] = []
    for name in names or sorted({recorded.run.experiment for recorded in runs}):
        module = experiment_module(name, ANALYSIS, experiments)
        if module is not None and hasattr(module, "measures"):
            measures += module.measures(each for each in runs if each.run.experiment == name)
    return tuple(measures)


def shipped_measures(experiments: FilePath = EXPERIMENTS) -> tuple[Measure, ...]:
    """Return the measures of the records that the project ships, as far as there are any."""
    files = [
        experiment_folder(name, experiments) / MEASURES_FILE
        for name in experiment_names(experiments)
    ]
    return tuple(measure for file in files if file.is_file() for measure in read_measures(file))
