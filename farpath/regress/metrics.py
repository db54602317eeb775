"""Measured: the numbers of a trial's record that a baseline keeps.

Each is in the unit that its name ends with; what a stack does not have, as UDT no
congestion window, is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from farpath.analysis import flow_metrics
from farpath.analysis.metrics import per_second, summarise
from farpath.analysis.studies.recovery import find_recovery, window_series
from farpath.analysis.studies.sharing import halving_time_s, share_time_s
from farpath.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

#: Baselines hold so many digits, and no difference below them counts.
DIGITS = 6


def metrics_of(record: Record, watch: tuple[str, ...] = ()) -> dict[str, float]:
    """Everything measured of a record, by name, in six digits; ``watch``: of WATCHES."""
    found = _of_every_run(record)
    for name in watch:
        found |= EXTRA_METRICS[name](record)
    return {
        name: float(f"{value:.{DIGITS}g}") for name, value in found.items() if math.isfinite(value)
    }


def _of_every_run(record: Record) -> dict[str, float]:
    summary = summarise(record.samples, record.plan)
    rows = record.samples.flows
    each = per_second(record.samples, record.plan.schedule)
    found = {
        "throughput_mbps": summary.mean_bps / 1e6,
        "stability": summary.stability,
        "retransmits": float(rows["retransmits"].sum()),
        "queue_drops": float(summary.queue_drops),
        "queue_mean_kb": float(record.samples.queue["backlog_bytes"].mean()) / 1e3,
        "rtt_max_ms": summary.rtt_max_ms,
    }
    if len(each.columns) > 1:
        total = float(each.to_numpy().sum())
        found["first_flow_share"] = float(each.iloc[:, 0].sum()) / total if total else math.nan
        found["fairness_min"] = summary.fairness_min
    trace = _first(record)
    if trace is not None and len(trace):
        found |= {
            "cwnd_mean_packets": float(trace["cwnd_packets"].mean()),
            "cwnd_max_packets": float(trace["cwnd_packets"].max()),
            "recovery_part": float((trace["ca_state"] == "recovery").mean()),
            "loss_part": float((trace["ca_state"] == "loss").mean()),
        }
        timed = trace[trace["rtt_us"] > 0]
        found["rtt_mean_ms"] = float(timed["rtt_us"].mean()) / 1e3
    return found


def _first(record: Record) -> pd.DataFrame | None:
    """The first flow's trace, from its connection's establishment on."""
    if record.trace is None:
        return None
    mine = record.trace[record.trace["flow"] == record.plan.schedule.flows[0].name]
    return mine[mine["bytes_sent"] > 0]


def overshoot(record: Record) -> dict[str, float]:
    """Of slow start: its peak window over what path and buffer hold, and what it lost."""
    trace, path = _first(record), record.plan.path
    if trace is None or not len(trace):
        return {}
    room = flow_metrics.bdp_packets(path) + path.buffer_bytes / path.frame_bytes
    later = trace[trace["ca_state"] != "open"]
    until_s = float(later["t_s"].iloc[0]) if len(later) else float(trace["t_s"].iloc[-1])
    begun = trace[trace["t_s"] <= until_s]
    rtts = path.rtt_ms / 1e3
    repaired = trace[trace["t_s"] <= until_s + 10 * rtts]
    return {
        "overshoot_part": float(begun["cwnd_packets"].max()) / room,
        "overshoot_end_s": until_s,
        "overshoot_retransmits": float(repaired["retransmits"].iloc[-1]),
    }


def recovery(record: Record) -> dict[str, float]:
    """The time from the loss until the window is what it was, and what was left of it."""
    plan = record.plan
    lost_s = plan.droppers[0].numbers[-1]
    found = find_recovery(window_series(record), lost_s, plan.path, plan.ip_version)
    if found is None:
        return {}
    return {"recovery_s": found.time_s, "kept_part": found.after_packets / found.before_packets}


def sharing(record: Record) -> dict[str, float]:
    """How soon two flows share, and how soon the first has half (RFC 5166, 2.3 and 2.2)."""
    each = per_second(record.samples, record.plan.schedule)
    times_s = {
        "share_s": share_time_s(each, record.plan.schedule),
        "halve_s": halving_time_s(each, record.plan.schedule),
    }
    return {name: time_s for name, time_s in times_s.items() if time_s is not None}


def initial_window(record: Record) -> dict[str, float]:
    """Packets on their way in the middle of each of the first three round trips of data.

    What iperf3 says first, a short packet, goes before them.
    """
    trace = _first(record)
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
    """In the first recovery: flight at its start, its least, at its end, and how long it was."""
    trace = _first(record)
    assert trace is not None
    within = trace[trace["ca_state"] == "recovery"]
    if within.empty:
        return {}
    return {
        "flight_first_packets": float(within["in_flight_packets"].iloc[0]),
        "flight_least_packets": float(within["in_flight_packets"].min()),
        "flight_last_packets": float(within["in_flight_packets"].iloc[-1]),
        "ssthresh_packets": float(within["ssthresh_packets"].iloc[-1]),
        "in_recovery_s": float(within["t_s"].iloc[-1] - within["t_s"].iloc[0]),
    }


#: What a case may watch, by name.
EXTRA_METRICS: Mapping[str, Callable[[Record], dict[str, float]]] = {
    "overshoot": overshoot,
    "recovery": recovery,
    "sharing": sharing,
    "initial_window": initial_window,
    "recovery_flight": recovery_flight,
}
