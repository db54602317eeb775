"""Kernel modules: loads them from their files, with parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath

from farpath.tools.commands import run


def insert(directory: FilePath, module: str, parameters: Mapping[str, object]) -> None:
    """Load a module, ``<module>.ko`` in a directory; raises CommandError if the kernel refuses."""
    values = (f"{name}={value}" for name, value in parameters.items())
    run("insmod", str(directory / f"{module}.ko"), *values)
