"""The Python interface (docs/reference/python.md): runs, sweeps, records as objects with tables."""

from farpath.api.comparisons import ComparisonResult, compare
from farpath.api.run_result import RunResult
from farpath.api.runs import load, run
from farpath.api.sweeps import SweepResult, sweep
from farpath.base.errors import (
    BadInputError,
    CheckFailedError,
    FarpathError,
    LabFailedError,
    MachineLacksError,
)

__all__ = [
    "BadInputError",
    "CheckFailedError",
    "ComparisonResult",
    "FarpathError",
    "LabFailedError",
    "MachineLacksError",
    "RunResult",
    "SweepResult",
    "compare",
    "load",
    "run",
    "sweep",
]
