"""The recovery of a flow's window from one loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.record.record import Record
from farpath.spec.path import Path

if TYPE_CHECKING:
    import pandas as pd

#: Above this fraction of the receiver's window a flow does not always fill its own, and grows more
#: slowly. The rest of a recovery is extrapolated from the growth below it.
RECOVERED_FRACTION = 0.95
#: A loss has had its whole effect after so many round trips: HSTCP-LP, which takes the delay of the
#: packets in recovery for a sign of congestion, reduces its window a second time.
REDUCED_RTTS = 4
#: The growth of an incomplete recovery is extrapolated if it lasted this many round trips.
MIN_OBSERVED_RTTS = 20


@dataclass(frozen=True)
class Recovery:
    """One recovery; windows are in packets.

    ``time_s``: from the loss until the window is as large as before. ``complete``: the run lasted
    until 95 % of that window was reached. ``observed_s``: how long growth was observed, up to those
    95 % or the end of the run; the rest of ``time_s`` is extrapolated.
    """

    before_packets: float
    after_packets: float
    time_s: float
    complete: bool
    observed_s: float


def window_series(record: Record) -> pd.DataFrame:
    """Return the first flow's times in s and windows in packets, from the trace if there is one."""
    import pandas as pd

    plan = record.plan
    trace = flow_metrics.first_flow_trace(record)
    if trace is not None:
        return pd.DataFrame({"t_s": trace["t_s"], "window": trace["cwnd_packets"].astype(float)})
    rows = flow_metrics.flow_samples(record)
    return pd.DataFrame(
        {
            "t_s": rows["t_s"].to_numpy(),
            "window": rows["cwnd_bytes"].to_numpy()
            / flow_metrics.payload_bytes(plan.path, plan.ip_version),
        }
    )


def find_recovery(
    windows: pd.DataFrame, lost_s: float, path: Path, ip_version: int = 4
) -> Recovery | None:
    """Return the recovery from a loss at ``lost_s``.

    Returns None if the window did not fall, or if too little of its growth was observed.
    """
    import numpy as np

    rtt_s = path.rtt_ms / 1e3
    earlier = windows[windows["t_s"] < lost_s]
    later = windows[windows["t_s"] > lost_s + 2 * rtt_s]
    if earlier.empty or later.empty:
        return None
    reduced = later[later["t_s"] <= lost_s + REDUCED_RTTS * rtt_s]
    if not reduced.empty:
        later = later.loc[reduced["window"].idxmin() :]
    receiver_window = path.window_bytes / flow_metrics.payload_bytes(path, ip_version)
    before_packets = min(float(earlier["window"].iloc[-1]), receiver_window)
    after_packets = float(later["window"].iloc[0])
    if after_packets >= RECOVERED_FRACTION * before_packets:
        return None
    reached = later[later["window"] >= RECOVERED_FRACTION * before_packets]
    growing = later if reached.empty else later[later["t_s"] <= reached["t_s"].iloc[0]]
    observed_s = float(growing["t_s"].iloc[-1] - growing["t_s"].iloc[0])
    complete = not reached.empty
    if len(growing) < 3 or (not complete and observed_s < MIN_OBSERVED_RTTS * rtt_s):
        return None
    slope = float(np.polyfit(growing["t_s"], growing["window"], 1)[0])
    last = growing.iloc[-1]
    remaining_s = (before_packets - float(last["window"])) / slope
    return Recovery(
        before_packets,
        after_packets,
        float(last["t_s"]) - lost_s + remaining_s,
        complete,
        observed_s,
    )
