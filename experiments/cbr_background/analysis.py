"""Measures of congestion windows that share a path with constant-bit-rate traffic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT = "cbr-background"
THROUGHPUT = "throughput"
WINDOW = "mean window"
RECOVERIES = "recoveries"
TIMEOUTS = "timeouts"
#: States of enum tcp_ca_state: fast recovery, and loss recovery after a timeout.
RECOVERY, LOSS = "recovery", "loss"


def state_entry_times_s(trace: pd.DataFrame, state: str) -> pd.Series[float]:
    """Return the times in s at which a trace enters a state (enum tcp_ca_state)."""
    entries = trace["ca_state"].ne(trace["ca_state"].shift()) & (trace["ca_state"] == state)
    return trace.loc[entries, "t_s"]


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure throughput, mean window, and how often losses and timeouts reduced the window.

    The counts are of the flow's entries into the states recovery and loss in its trace. ``about``:
    ``path``.
    """
    measured = []
    for recorded in runs:
        plan, trace = recorded.run.plan, flow_metrics.first_flow_trace(recorded.record)
        assert trace is not None
        path = recorded.run.request.path or ""
        values = (
            (THROUGHPUT, "Mbit/s", flow_metrics.mean_bps(recorded.record) / 1e6),
            (WINDOW, "packets", float(trace["cwnd_packets"].mean())),
            (RECOVERIES, "", float(len(state_entry_times_s(trace, RECOVERY)))),
            (TIMEOUTS, "", float(len(state_entry_times_s(trace, LOSS)))),
        )
        condition = f"{plan.stacks[0].label}, {plan.path.title}"
        measured += [
            Measure(EXPERIMENT, condition, quantity, unit, value, plan.seed, about={"path": path})
            for quantity, unit, value in values
        ]
    return measured
