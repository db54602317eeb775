"""Figure of planning: CPU time of a process's first plan, without imports."""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.lab.figure import Figure, Goal

REPEATS = 3
#: CPU time of the plan in ms, without the import of the request.
_PROGRAM = """
import time
from farpath.planning.request import RunRequest
started_s = time.process_time()
RunRequest(rtt="50ms", buffer="2xBDP", window="4xBDP").plan()
print(1e3 * (time.process_time() - started_s))
"""


def first_plan_figures() -> dict[str, Figure]:
    """Measure the first plan in fresh processes; return the median."""
    took_ms = [
        float(
            subprocess.run(
                [sys.executable, "-c", _PROGRAM], check=True, stdout=subprocess.PIPE
            ).stdout
        )
        for _ in range(REPEATS)
    ]
    return {
        "first_plan_ms": Figure(
            "First plan of a process",
            round(statistics.median(took_ms), 1),
            "ms of CPU",
            Goal(80.0, at_most=True),
            f"rtt=50ms buffer=2xBDP window=4xBDP, without imports; median of {REPEATS} processes",
        )
    }
