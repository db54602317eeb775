"""Places of the project: a clone, or the packages that its wheels install."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path as FilePath
from typing import Any

#: The project's root directory; of an installed farpath the directory of Python's packages.
PROJECT = FilePath(__file__).resolve().parents[2]
#: The package of the wheel with the lab's built parts, and its description of them.
LAB_PACKAGE, LAB_FILE = "farpath_lab", "lab.json"
#: What a clone and the container images have below ``images``, and an installed farpath has not.
_SOURCES = FilePath("kernel") / "stacks"
#: Directories of the cache with unpacked labs of wheels.
WHEEL_CACHE = "wheel"
#: The directory of the experiments; each is a directory in it.
EXPERIMENTS = PROJECT / "experiments"
#: Marker files in reports and sites that farpath made and may therefore replace.
REPORT_MARK, SITE_MARK = ".farpath-report", ".farpath-site"


def cache_directory() -> FilePath:
    """Return the directory that keeps builds: FARPATH_CACHE, else that of the XDG base directories.

    The scripts of ``images`` use the same (images/lib/common.sh).
    """
    own = os.environ.get("FARPATH_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return FilePath(os.path.abspath(own or FilePath(base) / "farpath"))


def _lab_package() -> FilePath | None:
    """Return the directory of the lab's package; None in a clone, which has its own lab."""
    if IS_CLONE:
        return None
    found = find_spec(LAB_PACKAGE)
    return FilePath(found.origin).parent if found and found.origin else None


def lab_description(package: FilePath) -> dict[str, Any]:
    """Return what the lab's wheel says of itself: version, release, archive, SHA-256, bytes."""
    described: dict[str, Any] = json.loads((package / LAB_FILE).read_text(encoding="utf-8"))
    return described


def _build() -> FilePath:
    if LAB is None:
        return PROJECT / "build"
    try:
        key = str(lab_description(LAB)["sha256"])[:16]
    except (OSError, ValueError, KeyError):
        # Said by what needs the lab
        key = "damaged"
    return cache_directory() / WHEEL_CACHE / key / "build"


#: Whether farpath stands beside the sources of its lab, in a clone or a container image.
IS_CLONE = (PROJECT / "images" / _SOURCES).is_dir()
#: The package of the lab's wheel beside an installed farpath; None if there is none.
LAB = _lab_package()
#: The sources of the lab.
IMAGES = (PROJECT if LAB is None else LAB) / "images"
#: Symbolic links to the lab's built parts; of a wheel they are made at its first use.
BUILD = _build()


def experiment_folder(name: str, experiments: FilePath = EXPERIMENTS) -> FilePath:
    """Return the folder of an experiment in that of all experiments.

    It is a Python package, so that each hyphen of the experiment's name is an underscore in it.
    """
    package = experiments / name.replace("-", "_")
    return package if package.is_dir() else experiments / name
