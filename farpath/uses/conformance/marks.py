"""Measures of a window that packets marked by ECN reduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.uses.conformance.trace_parts import Measured, trace_of, unseen

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record

#: The part of a queue's delays that a statement about delay leaves out.
DELAY_PERCENTILE = 99


def _settled(record: Record) -> pd.DataFrame:
    trace = trace_of(record)
    return trace[trace["t_s"] > flow_metrics.warm_up_end_s(record)]


def kept_at_a_mark(record: Record) -> Measured:
    """Return what reductions leave of the first flow's window, as their mean.

    Stated: 1 - alpha / 2, where alpha is the fraction of its packets that were marked. Both are of
    the run after its first quarter.
    """
    rows = _settled(record)
    windows = rows["cwnd_packets"]
    kept = (windows / windows.shift())[windows.diff() < 0]
    counts = rows[["delivered_packets", "delivered_ce_packets"]]
    delivered, marked = counts.iloc[-1] - counts.iloc[0]
    if kept.empty or not marked:
        return unseen("no packet was marked")
    return Measured(float(kept.mean()), stated=1 - float(marked / delivered) / 2)


def queueing_delay_ms(record: Record) -> Measured:
    """Return the 99th percentile of the first flow's smoothed RTT above the path's, in ms."""
    rtts_us = _settled(record)["rtt_us"].quantile(DELAY_PERCENTILE / 100)
    return Measured(float(rtts_us) / 1e3 - record.plan.path.rtt_ms)
