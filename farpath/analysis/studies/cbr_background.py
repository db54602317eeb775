"""Dips: how a window falls and comes back beside traffic of a constant bit rate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from farpath.analysis import flow_metrics
from farpath.analysis.studies.measure import Measure, RecordedRun

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT = "cbr-background"
THROUGHPUT = "throughput"
WINDOW = "mean window"
RECOVERIES = "recoveries"
TIMEOUTS = "timeouts"
#: States of enum tcp_ca_state: a loss is repaired, and a timeout was.
RECOVERY, LOSS = "recovery", "loss"


def entered(trace: pd.DataFrame, state: str) -> pd.Series[float]:
    """When a flow came into a state (enum tcp_ca_state), in s, by its rows of a trace."""
    came = trace["ca_state"].ne(trace["ca_state"].shift()) & (trace["ca_state"] == state)
    return trace.loc[came, "t_s"]


def measures(done: Iterable[RecordedRun]) -> list[Measure]:
    """Throughput and mean window, and how often the window fell by a loss, or by a timeout.

    From the trace: how often the flow came into the states recovery and loss. ``about``:
    ``path``.
    """
    found = []
    for each in done:
        plan, mine = each.run.plan, flow_metrics.trace_of(each.record)
        assert mine is not None
        path = each.run.asked.path or ""
        values = (
            (THROUGHPUT, "Mbit/s", flow_metrics.mean_bps(each.record) / 1e6),
            (WINDOW, "packets", float(mine["cwnd_packets"].mean())),
            (RECOVERIES, "", float(len(entered(mine, RECOVERY)))),
            (TIMEOUTS, "", float(len(entered(mine, LOSS)))),
        )
        words = f"{plan.stacks[0].label}, {plan.path.title}"
        found += [
            Measure(EXPERIMENT, words, what, unit, value, plan.seed, about={"path": path})
            for what, unit, value in values
        ]
    return found
