"""Measures of the time that a flow's window needs to recover from one loss."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.metrics.theory import recovery
from farpath.metrics.window_recovery import find_recovery, window_series
from farpath.runs.claims.condition import Condition, within
from farpath.runs.claims.criteria import Criteria, matching
from farpath.runs.experiment import RecordedRun
from farpath.spec.path import Path

EXPERIMENT = "recovery"
TIME = "time to recover"
THROUGHPUT = "throughput"
#: What a run saw of a recovery.
WHOLE, SLOPE, NOTHING = "whole", "slope", "nothing"
#: The published formula's segment is Ethernet's 1460 bytes at an MTU of 1500, without options.
FORMULA_HEADERS_BYTES = 40
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
RENO = "reno_2004"


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


def jumbo_frames_speed_recovery_sixfold(measures: Sequence[Measure]) -> Criteria:
    """C28: every path that was run with both MTUs, with each ACK policy."""
    times = matching(measures, EXPERIMENT, TIME, stack=RENO, mtu="9000")
    conditions: list[Condition] = []
    for jumbo in times:
        path = jumbo.about["path"].removesuffix("-jumbo")
        about = {**jumbo.about, "path": path, "mtu": "1500"}
        about.pop("seen", None)
        plain = matching(measures, EXPERIMENT, TIME, **about)[0]
        quantity = f"{path}, {jumbo.about['acks']} ACKs: 1500 bytes' time over 9000 bytes'"
        conditions += within(quantity, plain.value / jumbo.value, 5, 7)
    return Criteria(tuple(conditions))


#: The rules of the claims that these runs decide and claims.toml does not have.
CLAIMS = {"C28": jumbo_frames_speed_recovery_sixfold}
