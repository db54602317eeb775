"""Recovery: how long a flow's window needs after one loss until it is what it was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.analysis import flow_metrics
from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.analysis.theory import recovery
from farpath.record.record import Record
from farpath.spec.path import Path

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT = "recovery"
TIME = "time to recover"
THROUGHPUT = "throughput"
#: The published formula's segment: Ethernet's 1460 bytes at an MTU of 1500, without options.
FORMULA_HEADERS_BYTES = 40
#: So near the receiver's window a flow does not always fill its own, and grows more slowly.
#: What is left then is taken to go on as before.
BACK_PART = 0.95
#: A window's growth says something once it has gone on for so many round trips.
LEAST_RTTS = 20
#: Rows of the published table, by path; each the theory's, of each packet acknowledged.
PUBLISHED = {
    "geneva-los-angeles": "rec-1",
    "geneva-tokyo": "rec-2",
    "lan-10g": "rec-3",
    "geneva-chicago-10g": "rec-4",
    "geneva-los-angeles-10g": "rec-5",
    "geneva-los-angeles-10g-jumbo": "rec-6",
}
#: What was measured, with delayed ACKs or not known how: by path and ACK policy.
MEASURED = {("mb-ng-full", "each"): "rec-8", ("datatag-128", "delayed"): "rec-9"}


@dataclass(frozen=True)
class Recovered:
    """One recovery: windows in packets; ``whole`` if the run saw 95 % of the window again.

    ``time_s``: from the loss until the window is what it was before, where its growth in
    ``seen_s``, up to those 95 % or the run's end, goes on.
    """

    before: float
    after: float
    time_s: float
    whole: bool
    seen_s: float


def windows_of(record: Record) -> pd.DataFrame:
    """Time in s and window in packets of the first flow, as finely as the record has it."""
    import pandas as pd

    plan = record.plan
    mine = flow_metrics.trace_of(record)
    if mine is not None:
        return pd.DataFrame({"t_s": mine["t_s"], "window": mine["cwnd_packets"].astype(float)})
    rows = flow_metrics.rows_of(record)
    return pd.DataFrame(
        {
            "t_s": rows["t_s"].to_numpy(),
            "window": rows["cwnd_bytes"].to_numpy()
            / flow_metrics.payload_bytes(plan.path, plan.ip_version),
        }
    )


def recovered(
    windows: pd.DataFrame, lost_s: float, path: Path, ip_version: int = 4
) -> Recovered | None:
    """The recovery from a loss at ``lost_s``.

    None if the window did not fall, or if too little of its growth was seen.
    """
    import numpy as np

    rtt_s = path.rtt_ms / 1e3
    earlier = windows[windows["t_s"] < lost_s]
    later = windows[windows["t_s"] > lost_s + 2 * rtt_s]
    if earlier.empty or later.empty:
        return None
    offered = path.window_bytes / flow_metrics.payload_bytes(path, ip_version)
    before = min(float(earlier["window"].iloc[-1]), offered)
    after = float(later["window"].iloc[0])
    if after >= BACK_PART * before:
        return None
    back = later[later["window"] >= BACK_PART * before]
    growing = later if back.empty else later[later["t_s"] <= back["t_s"].iloc[0]]
    seen_s = float(growing["t_s"].iloc[-1] - growing["t_s"].iloc[0])
    whole = not back.empty
    if len(growing) < 3 or (not whole and seen_s < LEAST_RTTS * rtt_s):
        return None
    slope = float(np.polyfit(growing["t_s"], growing["window"], 1)[0])
    last = growing.iloc[-1]
    left_s = (before - float(last["window"])) / slope
    return Recovered(before, after, float(last["t_s"]) - lost_s + left_s, whole, seen_s)


def formula_s(path: Path, packets_per_ack: int) -> float:
    """The published formula for Reno on a path: C RTT^2 / (2 MSS)."""
    mss_bytes = path.mtu_bytes - FORMULA_HEADERS_BYTES
    return recovery.reno_s(path.rate_bps, path.rtt_ms / 1e3, mss_bytes, packets_per_ack)


def measures(done: Iterable[RecordedRun]) -> list[Measure]:
    """The time to recover of each run with one loss; throughput of those with losses in a row.

    ``about``: ``path``, ``stack``, ``acks``, ``mtu``.
    """
    found = []
    for each in done:
        dropper = each.run.plan.droppers[0]
        made = _in_a_row(each) if dropper.kind == "every" else _of_one_loss(each)
        found += [made] if made is not None else []
    return found


def _about(each: RecordedRun) -> dict[str, str]:
    plan = each.run.plan
    return {
        "path": each.run.asked.path or "",
        "stack": plan.stacks[0].label,
        "acks": "delayed" if plan.settings.delayed_ack else "each",
        "drop": each.run.asked.drop or "",
        "mtu": str(plan.path.mtu_bytes),
    }


def _words(about: dict[str, str], path: Path) -> str:
    acks = "delayed ACKs" if about["acks"] == "delayed" else "each packet acknowledged"
    rate = f"{path.rate_bps / 1e9:g} Gbit/s"
    return f"{about['stack']}, {rate}, {path.rtt_ms:g} ms, MTU {path.mtu_bytes}, {acks}"


def _in_a_row(each: RecordedRun) -> Measure:
    about, plan = _about(each), each.run.plan
    words = f"{_words(about, plan.path)}, {about['drop']}"
    mbps = flow_metrics.mean_bps(each.record) / 1e6
    return Measure(EXPERIMENT, words, THROUGHPUT, "Mbit/s", mbps, plan.seed, about=about)


def _of_one_loss(each: RecordedRun) -> Measure | None:
    about, plan = _about(each), each.run.plan
    reno = plan.stacks[0].label == "reno_2004"
    packets_per_ack = 2 if plan.settings.delayed_ack else 1
    lost_s = plan.droppers[0].numbers[-1]
    seen = recovered(windows_of(each.record), lost_s, plan.path, plan.ip_version)
    if seen is None:
        return None
    published = PUBLISHED.get(about["path"], "") if about["acks"] == "each" else ""
    published = MEASURED.get((about["path"], about["acks"]), published) if reno else ""
    part = f"{seen.before:,.0f} to {seen.after:,.0f} packets"
    note = part if seen.whole else f"{part}; by its growth in {seen.seen_s:.0f} s"
    theory = formula_s(plan.path, packets_per_ack) if reno else None
    return Measure(
        EXPERIMENT, _words(about, plan.path), TIME, "s", seen.time_s, plan.seed, theory,
        published, note, about,
    )  # fmt: skip
