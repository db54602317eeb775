"""Fixtures of campaigns: runs to make."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farpath.runs.experiment import load_experiment
from farpath.runs.status import RunStatus


@pytest.fixture
def todo() -> list[RunStatus]:
    """Three runs to make, of 10, 5 and 5 expected minutes on one core."""
    run = load_experiment("seven-regions").runs("quick")[0]
    minutes = {"a": 10, "b": 5, "c": 5}
    return [
        RunStatus(replace(run, expected_s=60.0 * expected), name, None)
        for name, expected in minutes.items()
    ]
