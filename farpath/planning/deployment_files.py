"""Deployment files: compose files with a network of sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

from farpath.planning.compose import read_compose
from farpath.planning.deployment import Deployment


def read_deployment(
    file: FilePath,
    seed: int | None = None,
    faults: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    no_faults: bool = False,
) -> Deployment:
    """Return what a file asks for, as ``compose.read_compose`` does."""
    return read_compose(file, seed, faults, environment, no_faults)
