"""The Python interface (docs/reference/python.md): runs, sweeps, records as objects with tables."""

from farpath.api.run_result import RunResult
from farpath.api.runs import load, run
from farpath.api.sweeps import SweepResult, sweep

__all__ = ["RunResult", "SweepResult", "load", "run", "sweep"]
