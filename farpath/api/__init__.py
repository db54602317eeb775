"""The Python interface: runs, sweeps and records as objects with tables (docs/python.md)."""

from farpath.api.run_result import RunResult
from farpath.api.runs import load, run
from farpath.api.sweeps import SweepResult, sweep

__all__ = ["RunResult", "SweepResult", "load", "run", "sweep"]
