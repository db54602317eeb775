"""Measures of the time that a flow's window needs to recover from one loss."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.metrics import flow as flow_metrics
from farpath.metrics.theory import recovery
from farpath.record.record import Record
from farpath.spec.path import Path

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT = "recovery"
TIME = "time to recover"
THROUGHPUT = "throughput"
#: What a run saw of a recovery.
WHOLE, SLOPE, NOTHING = "whole", "slope", "nothing"
#: The published formula's segment is Ethernet's 1460 bytes at an MTU of 1500, without options.
FORMULA_HEADERS_BYTES = 40
#: Above this fraction of the receiver's window a flow does not always fill its own, and grows more
#: slowly. The rest of a recovery is extrapolated from the growth below it.
RECOVERED_FRACTION = 0.95
#: A loss has had its whole effect after so many round trips: HSTCP-LP, which takes the delay of the
#: packets in recovery for a sign of congestion, reduces its window a second time.
REDUCED_RTTS = 4
#: The growth of an incomplete recovery is extrapolated if it lasted this many round trips.
MIN_OBSERVED_RTTS = 20
#: Rows of the published table, by path; each is the formula's value with each packet acknowledged.
PUBLISHED = {
    "geneva-los-angeles": "rec-1",
    "geneva-tokyo": "rec-2",
    "lan-10g": "rec-3",
    "geneva-chicago-10g": "rec-4",
    "geneva-los-angeles-10g": "rec-5",
    "geneva-los-angeles-10g-jumbo": "rec-6",
}
#: Published measurements, with delayed ACKs or an unknown policy, by path and ACK policy.
MEASURED = {("mb-ng-full", "each"): "rec-8", ("datatag-128", "delayed"): "rec-9"}


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


def formula_s(path: Path, packets_per_ack: int) -> float:
    """Return the published recovery time of Reno on a path: C RTT^2 / (2 MSS)."""
    mss_bytes = path.mtu_bytes - FORMULA_HEADERS_BYTES
    return recovery.reno_s(path.rate_bps, path.rtt_ms / 1e3, mss_bytes, packets_per_ack)


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the time to recover from one loss; with repeated losses measure throughput.

    ``about``: ``path``, ``stack``, ``acks``, ``mtu``, and of a time to recover ``seen``: the whole
    of it, the growth of its first part, whose slope tells the time, or nothing, where no recovery
    is to be seen; the value is NaN then.
    """
    return [
        _throughput_measure(recorded)
        if recorded.run.plan.droppers[0].kind == "every"
        else _recovery_measure(recorded)
        for recorded in runs
    ]


def _about(recorded: RecordedRun) -> dict[str, str]:
    plan = recorded.run.plan
    return {
        "path": recorded.run.request.path or "",
        "stack": plan.stacks[0].label,
        "acks": "delayed" if plan.settings.delayed_ack else "each",
        "drop": recorded.run.request.drop or "",
        "mtu": str(plan.path.mtu_bytes),
    }


def _condition_text(about: dict[str, str], path: Path) -> str:
    ack_text = "delayed ACKs" if about["acks"] == "delayed" else "each packet acknowledged"
    rate = f"{path.rate_bps / 1e9:g} Gbit/s"
    return f"{about['stack']}, {rate}, {path.rtt_ms:g} ms, MTU {path.mtu_bytes}, {ack_text}"


def _throughput_measure(recorded: RecordedRun) -> Measure:
    about, plan = _about(recorded), recorded.run.plan
    condition = f"{_condition_text(about, plan.path)}, {about['drop']}"
    mbps = flow_metrics.mean_bps(recorded.record) / 1e6
    return Measure(EXPERIMENT, condition, THROUGHPUT, "Mbit/s", mbps, plan.seed, about=about)


def _recovery_measure(recorded: RecordedRun) -> Measure:
    about, plan = _about(recorded), recorded.run.plan
    reno = plan.stacks[0].label == "reno_2004"
    packets_per_ack = 2 if plan.settings.delayed_ack else 1
    lost_s = plan.droppers[0].numbers[-1]
    loss_recovery = find_recovery(
        window_series(recorded.record), lost_s, plan.path, plan.ip_version
    )
    published = PUBLISHED.get(about["path"], "") if about["acks"] == "each" else ""
    published = MEASURED.get((about["path"], about["acks"]), published) if reno else ""
    theory = formula_s(plan.path, packets_per_ack) if reno else None
    condition = _condition_text(about, plan.path)
    if loss_recovery is None:
        note = f"no halved window that grows back is to be seen after {lost_s:g} s"
        about["seen"] = NOTHING
        return Measure(
            EXPERIMENT, condition, TIME, "s", math.nan, plan.seed, theory, published, note, about
        )
    windows = f"{loss_recovery.before_packets:,.0f} to {loss_recovery.after_packets:,.0f} packets"
    note = (
        windows
        if loss_recovery.complete
        else f"{windows}; by its growth in {loss_recovery.observed_s:.0f} s"
    )
    about["seen"] = WHOLE if loss_recovery.complete else SLOPE
    return Measure(
        EXPERIMENT, condition, TIME, "s", loss_recovery.time_s, plan.seed, theory, published, note,
        about,
    )  # fmt: skip
