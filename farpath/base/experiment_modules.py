"""The Python modules in the folder of an experiment: how its runs are measured and drawn."""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path as FilePath
from types import ModuleType

from farpath.base.errors import BadInputError
from farpath.base.project import EXPERIMENTS, experiment_folder

#: The modules that a folder may have: ``measures`` of runs and rules of claims; ``figures``; and
#: results, if those are the summaries of all runs in one file in place of measures; and a study, if
#: documents print results of single runs, beside which tables, figures and sites show them.
ANALYSIS, FIGURE, RESULTS, STUDY = "analysis", "figure", "results", "study"


def experiment_module(
    name: str, part: str, experiments: FilePath = EXPERIMENTS
) -> ModuleType | None:
    """Return a module of an experiment's folder; None if the folder has no such file.

    The folder is a package, whose modules import each other by ``from . import analysis``. Raises
    BadInputError for a file that cannot be imported.
    """
    folder = experiment_folder(name, experiments).resolve()
    file = folder / f"{part}.py"
    if not file.is_file():
        return None
    package = _package_name(folder)
    if package not in sys.modules:
        module = ModuleType(package)
        module.__path__ = [str(folder)]
        sys.modules[package] = module
    try:
        return importlib.import_module(f"{package}.{part}")
    except Exception as error:
        raise BadInputError(
            file=str(file),
            problem=f"cannot be imported ({type(error).__name__}: {error})",
            remedy="mend it or take it away",
        ) from error


def experiments_with(part: str, experiments: FilePath = EXPERIMENTS) -> tuple[str, ...]:
    """Return the names of the folders that have a module, with hyphens, in their order."""
    files = experiments.glob(f"*/{part}.py")
    return tuple(sorted(file.parent.name.replace("_", "-") for file in files))


def default_experiment(experiments: FilePath = EXPERIMENTS) -> str:
    """Return the experiment that commands are about if none is named: the first study's.

    Empty if no folder has a study.
    """
    return next(iter(experiments_with(STUDY, experiments)), "")


def _package_name(folder: FilePath) -> str:
    """Return the name of a folder's package: for the project's that by which Python finds it."""
    if folder.parent == EXPERIMENTS:
        return f"{EXPERIMENTS.name}.{folder.name}"
    return f"experiment_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
