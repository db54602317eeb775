"""Measures of the time that a flow's window needs to recover from one loss."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, select_measures
from farpath.metrics.theory import recovery
from farpath.metrics.window_recovery import find_recovery, window_series
from farpath.runs.claims.rules import Criteria, matching, within_theory
from farpath.runs.claims.verdict import Condition, within
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
#: C22: "about 20 minutes" allows a quarter more or less. Fast is within a minute.
TWENTY_MINUTES_S = (900.0, 1500.0)
FAST_S = 60.0
#: C37: "several seconds".
SEVERAL_S = (2.0, 10.0)


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


def scalable_and_hstcp_recover_fast_and_reno_in_twenty_minutes(
    measures: Sequence[Measure],
) -> Criteria:
    """C22: 1 Gbit/s, 128 ms, one packet lost, delayed ACKs as the hosts had them."""

    def time_s(stack: str) -> Measure:
        about = {"path": "datatag-128", "stack": stack, "acks": "delayed"}
        return matching(measures, EXPERIMENT, TIME, **about)[0]

    reno, scalable, hstcp = map(time_s, (RENO, "scalable_2004", "hstcp_2004"))
    conditions = [
        *within("Reno's time to recover", reno.value, *TWENTY_MINUTES_S, "s"),
        Condition("HSTCP's time to recover", hstcp.value, "<", FAST_S, "s"),
        # "Very fast" against "rapid"
        Condition("Scalable's time to recover", scalable.value, "<", hstcp.value, "s", "HSTCP's"),
    ]
    return Criteria(tuple(conditions), (f"Reno: {reno.note}",))


def recovery_follows_the_formula_for_both_ack_policies(measures: Sequence[Measure]) -> Criteria:
    """C23: every path of the recovery experiment on which Reno lost one packet.

    Whole recoveries test the time, first parts of long ones only the slope of the same law.
    """
    conditions = []
    for acks, policy in (("each", "each packet acknowledged"), ("delayed", "delayed ACKs")):
        for seen, quantity in ((WHOLE, "time"), (SLOPE, "slope of the growth")):
            times = matching(measures, EXPERIMENT, TIME, stack=RENO, acks=acks, seen=seen)
            label = f"{policy}, {quantity} on {len(times)} paths: largest deviation"
            conditions.append(within_theory(label, times, 0.1))
    unseen = [
        measure.condition for measure in select_measures(measures, TIME, stack=RENO, seen=NOTHING)
    ]
    remarks = (f"without a recovery that is to be seen: {'; '.join(unseen)}",) if unseen else ()
    return Criteria(tuple(conditions), remarks)


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


def fast_takes_several_seconds_to_recover(measures: Sequence[Measure]) -> Criteria:
    """C37: 1 Gbit/s, 128 ms, one packet lost."""
    about = {"path": "datatag-128", "stack": "fast", "acks": "delayed"}
    time = matching(measures, EXPERIMENT, TIME, **about)[0]
    return Criteria(within("FAST's time to recover", time.value, *SEVERAL_S, "s"))


#: The rules of the claims that these runs decide.
CLAIMS = {
    "C22": scalable_and_hstcp_recover_fast_and_reno_in_twenty_minutes,
    "C23": recovery_follows_the_formula_for_both_ack_policies,
    "C28": jumbo_frames_speed_recovery_sixfold,
    "C37": fast_takes_several_seconds_to_recover,
}
