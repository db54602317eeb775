"""The metrics of a trial's record that a baseline holds.

Each has the unit that its name ends with. A metric that a stack does not have is left out, such as
UDT's congestion window.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from farpath.metrics import flow as flow_metrics
from farpath.metrics.run import per_second, summarise
from farpath.metrics.share import fair_shares, joint_means_bps
from farpath.metrics.sharing import halving_time_s, share_time_s
from farpath.metrics.window_recovery import find_recovery, window_series
from farpath.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

#: Baselines hold this many digits; smaller differences do not count.
DIGITS = 6


def metrics_of(record: Record, extra: tuple[str, ...] = ()) -> dict[str, float]:
    """Return all metrics of a record, by name, in six digits; ``extra``: names of EXTRA_METRICS."""
    metrics = _standard_metrics(record)
    for name in extra:
        metrics |= EXTRA_METRICS[name](record)
    return {
        name: float(f"{value:.{DIGITS}g}")
        for name, value in metrics.items()
        if math.isfinite(value)
    }


def _standard_metrics(record: Record) -> dict[str, float]:
    summary = summarise(record.samples, record.plan)
    flows = record.samples.flows
    throughputs_bps = per_second(record.samples, record.plan.schedule)
    metrics = {
        "throughput_mbps": summary.mean_bps / 1e6,
        "stability": summary.stability,
        "retransmits": float(flows["retransmits"].sum()),
        "queue_drops": float(summary.queue_drops),
        "queue_mean_kb": float(record.samples.queue["backlog_bytes"].mean()) / 1e3,
        "rtt_max_ms": summary.rtt_max_ms,
    }
    if summary.queue_marks is not None:
        metrics["queue_marks"] = float(summary.queue_marks)
    if len(throughputs_bps.columns) > 1:
        total = float(throughputs_bps.to_numpy().sum())
        metrics["first_flow_share"] = (
            float(throughputs_bps.iloc[:, 0].sum()) / total if total else math.nan
        )
        metrics["fairness_min"] = summary.fairness_min
    trace = _established_trace(record)
    if trace is not None and len(trace):
        metrics |= {
            "cwnd_mean_packets": float(trace["cwnd_packets"].mean()),
            "cwnd_max_packets": float(trace["cwnd_packets"].max()),
            "recovery_fraction": float((trace["ca_state"] == "recovery").mean()),
            "loss_fraction": float((trace["ca_state"] == "loss").mean()),
        }
        timed = trace[trace["rtt_us"] > 0]
        metrics["rtt_mean_ms"] = float(timed["rtt_us"].mean()) / 1e3
    return metrics


def _established_trace(record: Record) -> pd.DataFrame | None:
    """Return the first flow's trace, from its connection's establishment on."""
    if record.trace is None:
        return None
    trace = record.trace[record.trace["flow"] == record.plan.schedule.flows[0].name]
    return trace[trace["bytes_sent"] > 0]


def overshoot(record: Record) -> dict[str, float]:
    """Return slow start's peak window over the capacity of path and buffer, and its losses."""
    trace, path = _established_trace(record), record.plan.path
    if trace is None or not len(trace):
        return {}
    capacity_packets = flow_metrics.bdp_packets(path) + path.buffer_bytes / path.frame_bytes
    after_open = trace[trace["ca_state"] != "open"]
    end_s = float(after_open["t_s"].iloc[0]) if len(after_open) else float(trace["t_s"].iloc[-1])
    slow_start = trace[trace["t_s"] <= end_s]
    rtt_s = path.rtt_ms / 1e3
    repaired = trace[trace["t_s"] <= end_s + 10 * rtt_s]
    return {
        "overshoot_fraction": float(slow_start["cwnd_packets"].max()) / capacity_packets,
        "overshoot_end_s": end_s,
        "overshoot_retransmits": float(repaired["retransmits"].iloc[-1]),
    }


def recovery(record: Record) -> dict[str, float]:
    """Return the time until the window recovers from the loss, and the fraction that was left."""
    plan = record.plan
    lost_s = plan.droppers[0].numbers[-1]
    loss_recovery = find_recovery(window_series(record), lost_s, plan.path, plan.ip_version)
    if loss_recovery is None:
        return {}
    return {
        "recovery_s": loss_recovery.time_s,
        "kept_fraction": loss_recovery.after_packets / loss_recovery.before_packets,
    }


def sharing(record: Record) -> dict[str, float]:
    """Return when two flows share, and when the first has half (after RFC 5166, 2.3 and 2.2)."""
    throughputs_bps = per_second(record.samples, record.plan.schedule)
    times_s = {
        "share_s": share_time_s(throughputs_bps, record.plan.schedule),
        "halve_s": halving_time_s(throughputs_bps, record.plan.schedule),
    }
    return {name: time_s for name, time_s in times_s.items() if time_s is not None}


def least_share(record: Record) -> dict[str, float]:
    """Return the least share of a flow in all received bytes while all sent; 1 is a fair part."""
    means_bps = joint_means_bps(record.samples, record.plan.schedule)
    return {"least_share": min(fair_shares(means_bps))}


def initial_window(record: Record) -> dict[str, float]:
    """Return packets in flight in the middle of each of the first three round trips of data.

    iperf3 sends a short packet before them.
    """
    trace = _established_trace(record)
    assert trace is not None
    rtt_s = record.plan.path.rtt_ms / 1e3
    data = trace[trace["bytes_sent"] > trace["mss_bytes"]]
    middles_s = [float(data["t_s"].iloc[0]) + (number - 0.5) * rtt_s for number in (1, 2, 3)]
    return {
        f"flight_{number}_packets": float(
            trace[trace["t_s"] <= middle_s]["in_flight_packets"].iloc[-1]
        )
        for number, middle_s in enumerate(middles_s, start=1)
    }


def recovery_flight(record: Record) -> dict[str, float]:
    """Return, for the first recovery, its flight at start, minimum and end, and its length."""
    trace = _established_trace(record)
    assert trace is not None
    in_recovery = trace[trace["ca_state"] == "recovery"]
    if in_recovery.empty:
        return {}
    return {
        "flight_first_packets": float(in_recovery["in_flight_packets"].iloc[0]),
        "flight_least_packets": float(in_recovery["in_flight_packets"].min()),
        "flight_last_packets": float(in_recovery["in_flight_packets"].iloc[-1]),
        "ssthresh_packets": float(in_recovery["ssthresh_packets"].iloc[-1]),
        "in_recovery_s": float(in_recovery["t_s"].iloc[-1] - in_recovery["t_s"].iloc[0]),
    }


#: The extra metrics that a case may select, by name.
EXTRA_METRICS: Mapping[str, Callable[[Record], dict[str, float]]] = {
    "overshoot": overshoot,
    "recovery": recovery,
    "sharing": sharing,
    "initial_window": initial_window,
    "recovery_flight": recovery_flight,
    "least_share": least_share,
}
