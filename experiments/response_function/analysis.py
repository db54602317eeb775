"""Measures of response functions: a stack's mean window against its loss rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from farpath.base.column import NOTHING
from farpath.mechanisms.dropper.drops_by_flow import dropper_counts
from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, select_measures
from farpath.metrics.theory import window_rules
from farpath.metrics.theory.response import Rule, mean_window
from farpath.record.record import Record
from farpath.report.table import Table
from farpath.report.tables.deviations import ratio
from farpath.report.tables.measures_table import value_text
from farpath.runs.claims.condition import Condition
from farpath.runs.claims.criteria import Criteria, matching, mean, within_theory
from farpath.runs.claims.verdict import SEEDS_TO_TELL
from farpath.runs.experiment import RecordedRun
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
RENO = "reno_2004"
#: C34: a stack does well at this loss if it gets so many times Reno's throughput.
HIGH_LOSS, DOES_WELL = "1e-3", 2.0


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
        seen, lost = (dropper_counts(record)[0][name] for name in ("seen", "lost"))
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


def throughput_follows_the_response_function(measures: Sequence[Measure]) -> Criteria:
    """C21: each stack with a published curve, where losses and not the path limit its window.

    The curves are printed in closed form (``printed_window``). The simulation of a stack's
    rule in whole packets is the project's own; that the kernel follows it is a remark. Where random
    losses fall moves a run's mean window by some per cent, so that one run decides nothing.
    """
    windows = matching(measures, EXPERIMENT, WINDOW, limit=BY_LOSS)
    conditions, losses = [], set()
    for stack in dict.fromkeys(measure.about["stack"] for measure in windows):
        deviations = []
        for measure in select_measures(windows, WINDOW, stack=stack):
            printed = printed_window(stack, float(measure.about["loss"]))
            if printed is not None:
                deviations.append(abs(measure.value / printed - 1))
                losses.add(measure.about["drop"])
        if deviations:
            quantity = f"{stack}: largest deviation from its published curve"
            conditions.append(Condition(quantity, max(deviations), "<=", 0.2))
    simulated = [measure for measure in windows if measure.theory]
    remarks = [f"of {', '.join(sorted(losses))}"]
    if simulated:
        largest = within_theory("largest deviation from own simulation", simulated, 0.2)
        remarks.append(f"of all stacks, {largest}")
    return Criteria(tuple(conditions), tuple(remarks), SEEDS_TO_TELL)


def some_new_stacks_do_well_at_a_high_loss(measures: Sequence[Measure]) -> Criteria:
    """C34: a loss of 1e-3 on each path, the two best stacks of 2004 but Reno."""
    throughputs = matching(measures, EXPERIMENT, THROUGHPUT, drop=f"random:{HIGH_LOSS}")
    conditions, remarks = [], []
    for path in dict.fromkeys(measure.about["path"] for measure in throughputs):
        on_path = select_measures(throughputs, THROUGHPUT, path=path)
        reno = mean(matching(on_path, EXPERIMENT, THROUGHPUT, stack=RENO))
        stacks = {measure.about["stack"] for measure in on_path} - {RENO, "udt"}
        ratios = {
            stack: mean(select_measures(on_path, THROUGHPUT, stack=stack)) / reno
            for stack in sorted(stacks)
        }
        best = sorted(ratios, key=lambda stack: -ratios[stack])
        if len(best) > 1:
            second = ratios[best[1]]
            conditions.append(
                Condition(f"{path}: second best stack over Reno", second, ">=", DOES_WELL)
            )
            remarks.append(f"{path}: {best[0]} and {best[1]}")
    return Criteria(tuple(conditions), tuple(remarks))


def table(title: str, measures: Sequence[Measure]) -> Table:
    """Return a row for each path and stack, a column for each loss."""
    drops = tuple(dict.fromkeys(measure.about["drop"] for measure in measures))
    rows = dict.fromkeys((measure.about["path"], measure.about["stack"]) for measure in measures)
    cells = {
        (path, stack, drop): _cell(
            select_measures(measures, THROUGHPUT, path=path, stack=stack, drop=drop),
            select_measures(measures, WINDOW, path=path, stack=stack, drop=drop),
        )
        for path, stack in rows
        for drop in drops
    }
    note = (
        "Throughput in Mbit/s; in brackets the mean window's deviation from theory in per cent, "
        "where losses hold it and not the path."
    )
    return Table.of_texts(
        title,
        ("path", "stack", *drops),
        tuple((*row, *(cells[*row, drop] for drop in drops)) for row in rows),
        note,
    )


def _cell(throughputs: Sequence[Measure], windows: Sequence[Measure]) -> str:
    """Format one run's throughput, or the mean over several seeds."""
    if not throughputs:
        return NOTHING
    text = value_text(fmean(measure.value for measure in throughputs))
    loss_limited = [window for window in windows if window.about["limit"] == BY_LOSS]
    ratios = [window.value / window.theory for window in loss_limited if window.theory]
    return f"{text} ({ratio(fmean(ratios), 1)})" if ratios else text


#: The rules of the claims that these runs decide and claims.toml does not have.
CLAIMS = {
    "C21": throughput_follows_the_response_function,
    "C34": some_new_stacks_do_well_at_a_high_loss,
}
