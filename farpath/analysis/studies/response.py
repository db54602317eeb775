"""Measures of response functions: a stack's mean window against its loss rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.metrics import flow as flow_metrics
from farpath.metrics.theory import window_rules
from farpath.metrics.theory.response import Rule, mean_window
from farpath.record.record import Record
from farpath.spec.path import Path

EXPERIMENT = "response-function"
WINDOW = "mean window"
THROUGHPUT = "throughput"
#: Stacks with a published rule that predicts a window on a path. FAST and HSTCP-LP follow delays,
#: UDT follows a rate: they have none.
RULES: Mapping[str, Callable[[Path], Rule]] = {
    "reno_2004": lambda path: window_rules.reno(),
    "reno": lambda path: window_rules.todays_reno(),
    "hstcp_2004": lambda path: window_rules.hstcp(),
    "scalable_2004": lambda path: window_rules.scalable(),
    "ltcp": lambda path: window_rules.ltcp(),
    "htcp_2004": lambda path: window_rules.Htcp(path.rtt_ms / 1e3),
    "bic_2004": lambda path: window_rules.Bic(),
}
#: The value of ``limit`` where losses limit the window.
BY_LOSS = "loss"
#: A predicted window above this fraction of the pipe capacity is limited by the path.
LOSS_LIMITED_FRACTION = 0.5
#: RFC 3649, section 5: above this loss HSTCP's window is Reno's.
HSTCP_LOSS = 1e-3
#: Kelly, CCR 33(2), 2003: up to this window Scalable behaves as Reno.
SCALABLE_WINDOW = 16
#: draft-bhandarkar-ltcp-01, table 1: up to this window LTCP has one layer.
LTCP_WINDOW = 50
#: Fewer losses say little about a mean window.
MIN_LOSSES = 20


def pipe_capacity_packets(path: Path, ip_version: int) -> float:
    """Return the largest window that neither fills the path nor exceeds the receiver's."""
    return min(
        flow_metrics.bdp_packets(path),
        path.window_bytes / flow_metrics.payload_bytes(path, ip_version),
    )


def measured_window(record: Record) -> float:
    """Return packets sent per second times the RTT, after the run's first quarter.

    Retransmissions count too, because they take as much of a window.
    """
    rows = flow_metrics.flow_samples(record)
    plan = record.plan
    steady = rows[rows["t_s"] > flow_metrics.warm_up_end_s(record)]
    packets_per_s = (
        flow_metrics.mean_bps(record) / 8 / flow_metrics.payload_bytes(plan.path, plan.ip_version)
    )
    packets_per_s += steady["retransmits"].mean() / plan.settings.flow_interval_s
    return float(packets_per_s * steady["rtt_us"].mean() / 1e6)


def predicted_window(stack: str, path: Path, loss: float, delayed: bool) -> float | None:
    """Return a stack's mean window by its published rule; None without a rule or without loss."""
    make_rule = RULES.get(stack)
    if make_rule is None or not 0 < loss < 1:
        return None
    rule = make_rule(path)
    return mean_window(window_rules.DelayedAcks(rule) if delayed else rule, loss)


def printed_window(stack: str, loss: float) -> float | None:
    """Return a stack's mean window by the closed form that its authors print.

    Each packet is acknowledged. None for a stack without one, or where it is not valid: in small
    windows HSTCP, Scalable and LTCP behave as Reno.
    """
    if stack == "reno_2004":
        return window_rules.reno_window(loss)
    if stack == "hstcp_2004" and loss < HSTCP_LOSS:
        return window_rules.hstcp_window(loss)
    if stack == "scalable_2004" and window_rules.scalable_window(loss) > SCALABLE_WINDOW:
        return window_rules.scalable_window(loss)
    if stack == "ltcp" and window_rules.ltcp_window(loss) > LTCP_WINDOW:
        return window_rules.ltcp_window(loss)
    return None


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure mean window and throughput of each run; theory is the stack's published rule.

    ``about``: ``path``, ``stack``, ``drop``, ``loss`` as measured, and ``limit``, which says what
    limited the window: ``loss``, ``path`` or, with too few losses to tell, ``few losses``.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        path, stack = plan.path, plan.stacks[0].label
        seen, lost = (record.droppers[0][name] for name in ("seen", "lost"))
        loss = lost / seen if seen else 0.0
        theory = predicted_window(stack, path, loss, plan.settings.delayed_ack)
        tcp = plan.stacks[0].congestion != ""
        limit = BY_LOSS
        if theory is not None and theory > LOSS_LIMITED_FRACTION * pipe_capacity_packets(
            path, plan.ip_version
        ):
            limit = "path"
        elif lost < MIN_LOSSES:
            limit = "few losses"
        about = {
            "path": recorded.run.request.path or "",
            "stack": stack,
            "drop": recorded.run.request.drop or "",
            "loss": f"{loss:.4g}",
            "limit": limit,
        }
        condition = f"{stack}, {about['path']} ({path.rtt_ms:g} ms), {about['drop']}"
        note = f"{lost:,} of {seen:,} packets lost" + ("; the path limits" * (limit == "path"))
        if tcp:
            window = measured_window(record)
            measured.append(
                Measure(
                    EXPERIMENT, condition, WINDOW, "packets", window, plan.seed, theory,
                    note=note, about=about,
                )
            )  # fmt: skip
        measured.append(
            Measure(
                EXPERIMENT, condition, THROUGHPUT, "Mbit/s", flow_metrics.mean_bps(record) / 1e6,
                plan.seed, note=note, about=about,
            )
        )  # fmt: skip
    return measured
