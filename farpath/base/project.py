"""Paths of the project's own directories, and names of its marker files."""

from __future__ import annotations

from pathlib import Path as FilePath

#: The project's root directory; ``build`` in it holds symbolic links to built artifacts.
PROJECT = FilePath(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
#: The directory of the experiments; each is a directory in it.
EXPERIMENTS = PROJECT / "experiments"
#: Marker files in reports and sites that farpath made and may therefore replace.
REPORT_MARK, SITE_MARK = ".farpath-report", ".farpath-site"


def experiment_folder(name: str, experiments: FilePath = EXPERIMENTS) -> FilePath:
    """Return the folder of an experiment in that of all experiments.

    It is a Python package, so that each hyphen of the experiment's name is an underscore in it.
    """
    package = experiments / name.replace("-", "_")
    return package if package.is_dir() else experiments / name
