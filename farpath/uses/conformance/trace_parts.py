"""The value of a measure, and the parts of a trace that measures share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics

if TYPE_CHECKING:
    import pandas as pd

    from farpath.record.record import Record


@dataclass(frozen=True)
class Measured:
    """A value of a record, and the value that a formula states for it.

    ``stated``: NaN where the standard states a constant. ``why``: why a value
    is NaN.
    """

    value: float
    stated: float = math.nan
    why: str = ""


@dataclass(frozen=True)
class Loss:
    """A loss that was repaired, in the first flow's trace.

    ``before``: the last row before its recovery. ``first``, ``last``: the recovery's first and last
    row. ``later``: the rows after it, up to the next loss; empty at the end of the trace.
    """

    before: pd.Series
    first: pd.Series
    last: pd.Series
    later: pd.DataFrame

    @property
    def window_packets(self) -> float:
        """The window that the loss found; at the recovery's first row it is hardly reduced."""
        return float(max(self.before["cwnd_packets"], self.first["cwnd_packets"]))


def unseen(why: str) -> Measured:
    """Return a missing value with its reason."""
    return Measured(math.nan, why=why)


def trace_of(record: Record) -> pd.DataFrame:
    """Return the first flow's trace from its first data on, numbered from 0.

    iperf3 sends a short packet of its own before.
    """
    trace = flow_metrics.first_flow_trace(record)
    assert trace is not None, "each scenario has a trace"
    return trace[trace["bytes_sent"] > trace["mss_bytes"]].reset_index(drop=True)


def losses_of(trace: pd.DataFrame) -> list[Loss]:
    """Return the losses of a trace of ``trace_of``, in order: each stretch in ``recovery``."""
    recovering = trace["ca_state"] == "recovery"
    starts = trace.index[recovering & ~recovering.shift(fill_value=False)]
    ends = trace.index[recovering & ~recovering.shift(-1, fill_value=False)]
    following = [*starts, len(trace)][1:]
    return [
        Loss(trace.loc[start - 1], trace.loc[start], trace.loc[end], trace.loc[end + 1 : until - 1])
        for start, end, until in zip(starts, ends, following, strict=True)
        if start > 0
    ]


def slope_per_rtt(rows: pd.DataFrame) -> float:
    """Return packets that the window gains in each RTT, from the first row to the last."""
    gained = float(rows["cwnd_packets"].iloc[-1] - rows["cwnd_packets"].iloc[0])
    rtts = float(rows["t_s"].iloc[-1] - rows["t_s"].iloc[0]) / float(rows["rtt_us"].mean() / 1e6)
    return gained / rtts
