"""Metrics of one flow of a record that several experiments need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from farpath.metrics.run import Array, flow_per_second, per_second
from farpath.record.record import Record
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow
from farpath.spec.window import segment_bytes

if TYPE_CHECKING:
    import pandas as pd

#: The first part of a run, in which its start still influences a flow.
WARM_UP_FRACTION = 0.25

#: Steps of a curve from a trace, and the least time that a curve of iperf3's blocks is a mean of.
DELIVERY_STEP_S, SHORTEST_MEAN_S = 0.1, 1.0


def payload_bytes(path: Path, ip_version: int) -> int:
    """Return the bytes of payload that a full packet of a TCP flow carries."""
    return segment_bytes(path.mtu_bytes, ip_version)[0]


def mean_rate_bps(plan: Plan, from_s: float = 0.0) -> float:
    """Return the mean rate of a path from a time of the schedule on."""
    rates = plan.rates
    if not rates.changes or not from_s:
        return rates.mean
    return rates.integral(from_s, rates.duration_s) / (rates.duration_s - from_s)


def goodput_bps(plan: Plan, from_s: float = 0.0) -> float:
    """Return the largest payload rate of a path, from a time on: its mean rate minus headers."""
    path = plan.path
    return mean_rate_bps(plan, from_s) * payload_bytes(path, plan.ip_version) / path.frame_bytes


def full_bps(plan: Plan) -> float:
    """Return the payload rate that path, card and bus of a sender carry."""
    rate_bps = mean_rate_bps(plan)
    sent_bps = plan.era.sender_rate_bps(plan.path.frame_bytes) or rate_bps
    return goodput_bps(plan) * min(1.0, sent_bps / rate_bps)


def bdp_packets(path: Path) -> float:
    """Return the path's bandwidth-delay product in full packets."""
    return path.bdp_bytes / path.frame_bytes


def flow_samples(record: Record, flow: str = "flow1") -> pd.DataFrame:
    """Return a flow's samples with a congestion window, which were taken while its sender ran."""
    rows = record.samples.flows
    return rows[(rows["flow"] == flow) & (rows["cwnd_bytes"] > 0)]


def receiver_limited_part(record: Record, flow: str) -> float:
    """Return the part of a flow's samples in which the receiver's window limits it; 0 without any.

    There the congestion window is not below the window that the receiver advertises (``snd_wnd`` in
    net/ipv4/tcp_output.c), and the smaller of the two bounds the bytes in flight.
    """
    rows = flow_samples(record, flow)
    if not len(rows):
        return 0.0
    return float(
        ((rows["cwnd_bytes"] >= rows["snd_wnd_bytes"]) & (rows["snd_wnd_bytes"] > 0)).mean()
    )


def first_flow_trace(record: Record) -> pd.DataFrame | None:
    """Return the first flow's rows of a record's trace, or None without a trace."""
    trace = record.trace
    return None if trace is None else trace[trace["flow"] == record.plan.schedule.flows[0].name]


def throughput_curve_bps(record: Record, flow: str) -> pd.Series[float]:
    """Return a flow's throughput over time, by the end of each step in s.

    With a trace it is the payload that acknowledgements report, selective ones included, in
    steps of ``DELIVERY_STEP_S`` or of the trace. Without one it is the payload that the receiving
    program read, a running mean over ``SHORTEST_MEAN_S``: iperf3 reads blocks of 128 KiB, so that
    shorter times hold none, one or two of them.
    """
    trace = record.trace
    rows = None if trace is None else trace[trace["flow"] == flow]
    if rows is not None and len(rows) > 1:
        return _delivered_bps(rows)
    import pandas as pd

    samples = record.samples.flows[record.samples.flows["flow"] == flow]
    lengths_s = samples["interval_s"].to_numpy(dtype=np.float64)
    bits = samples["throughput_bps"].to_numpy(dtype=np.float64) * lengths_s
    longest_s = float(lengths_s.max()) if lengths_s.size else SHORTEST_MEAN_S
    steps = max(1, round(SHORTEST_MEAN_S / longest_s))
    sums = pd.DataFrame({"bits": bits, "s": lengths_s}).rolling(steps, min_periods=1).sum()
    return pd.Series((sums["bits"] / sums["s"]).to_numpy(), index=samples["t_s"].to_numpy())


def _delivered_bps(rows: pd.DataFrame) -> pd.Series[float]:
    """Return the rate in each step at which packets arrived, from a flow's trace."""
    import pandas as pd

    times_s = rows["t_s"].to_numpy(dtype=np.float64)
    step = max(1, round(DELIVERY_STEP_S / float(times_s[1] - times_s[0])))
    bits = 8.0 * rows["delivered_packets"].to_numpy() * rows["mss_bytes"].to_numpy()
    throughputs_bps = np.diff(bits[::step]) / np.diff(times_s[::step])
    return pd.Series(throughputs_bps, index=times_s[::step][1:])


def settled_queue(record: Record) -> pd.DataFrame:
    """Return the samples of the bottleneck's queue after the first quarter of the schedule."""
    queue = record.samples.queue
    return queue[queue["t_s"] >= warm_up_end_s(record)]


def warm_up_end_s(record: Record) -> float:
    """Return the time at which a run's first quarter ends."""
    return WARM_UP_FRACTION * record.plan.schedule.duration_s


def sums_bps(record: Record, flows: Sequence[Flow]) -> Array:
    """Return the throughput of flows together in each second after the run's first quarter.

    Flows of either direction: ``per_second`` has those of the schedule's first one only.
    """
    samples, seconds = record.samples.flows, round(record.plan.schedule.duration_s)
    sums = sum(
        (flow_per_second(samples[samples["flow"] == flow.name], seconds) for flow in flows),
        start=np.zeros(seconds),
    )
    return sums[math.floor(warm_up_end_s(record)) :]


def mean_bps(record: Record, flow: str = "flow1", from_s: float | None = None) -> float:
    """Return a flow's mean throughput from a time on, by default after the run's first quarter.

    The mean is over whole seconds, because a flow's last sample covers an arbitrarily short time.
    """
    start_s = warm_up_end_s(record) if from_s is None else from_s
    throughputs_bps = per_second(record.samples, record.plan.schedule)[flow]
    return float(throughputs_bps[throughputs_bps.index > start_s].mean())
