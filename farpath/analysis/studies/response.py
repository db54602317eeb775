"""Response function: a stack's mean window against the loss that it meets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from farpath.analysis import flow_metrics
from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.analysis.theory import window_rules
from farpath.analysis.theory.response import Rule, mean_window
from farpath.record.record import Record
from farpath.spec.path import Path

EXPERIMENT = "response-function"
WINDOW = "mean window"
THROUGHPUT = "throughput"
#: Stacks whose published rule predicts a window, each for a path's RTT. FAST and HSTCP-LP
#: follow delays, UDT a rate.
RULES: Mapping[str, Callable[[Path], Rule]] = {
    "reno_2004": lambda path: window_rules.reno(),
    "reno": lambda path: window_rules.todays_reno(),
    "hstcp_2004": lambda path: window_rules.hstcp(),
    "scalable_2004": lambda path: window_rules.scalable(),
    "ltcp": lambda path: window_rules.ltcp(),
    "htcp_2004": lambda path: window_rules.Htcp(path.rtt_ms / 1e3),
    "bic_2004": lambda path: window_rules.Bic(),
}
#: What ``limit`` says where losses hold the window.
BY_LOSS = "loss"
#: A predicted window above this part of what the path and the receiver hold is the path's.
FREE_PART = 0.5
#: Losses of fewer say little of a mean.
LEAST_LOSSES = 20


def pipe_capacity_packets(path: Path, ip_version: int) -> float:
    """The largest window that neither fills the path nor meets the receiver's."""
    return min(
        flow_metrics.bdp_packets(path),
        path.window_bytes / flow_metrics.payload_bytes(path, ip_version),
    )


def mean_window_of(record: Record) -> float:
    """Packets sent per second times RTT, after the run's first quarter.

    Those of the throughput and those sent again, which take as much of a window.
    """
    rows = flow_metrics.rows_of(record)
    plan = record.plan
    warm = rows[rows["t_s"] > flow_metrics.warm_s(record)]
    packets_per_s = (
        flow_metrics.mean_bps(record) / 8 / flow_metrics.payload_bytes(plan.path, plan.ip_version)
    )
    packets_per_s += warm["retransmits"].mean() / plan.settings.sample_interval_s
    return float(packets_per_s * warm["rtt_us"].mean() / 1e6)


def predicted(stack: str, path: Path, loss: float, delayed: bool) -> float | None:
    """A stack's mean window by its published rule; None if it has none, or no loss came."""
    rule = RULES.get(stack)
    if rule is None or not 0 < loss < 1:
        return None
    made = rule(path)
    return mean_window(window_rules.Delayed(made) if delayed else made, loss)


def measures(done: Iterable[RecordedRun]) -> list[Measure]:
    """Mean window and throughput of each run, and what the stack's rule predicts.

    ``about``: ``path``, ``stack``, ``drop``, ``loss`` as it was, and ``limit``, which says
    what held the window: ``loss``, ``path`` or, where too few came to say, ``few losses``.
    """
    found = []
    for each in done:
        plan, record = each.run.plan, each.record
        path, stack = plan.path, plan.stacks[0].label
        seen, lost = (record.droppers[0][name] for name in ("seen", "lost"))
        loss = lost / seen if seen else 0.0
        theory = predicted(stack, path, loss, plan.settings.delayed_ack)
        tcp = plan.stacks[0].congestion != ""
        limit = BY_LOSS
        if theory is not None and theory > FREE_PART * pipe_capacity_packets(path, plan.ip_version):
            limit = "path"
        elif lost < LEAST_LOSSES:
            limit = "few losses"
        about = {
            "path": each.run.asked.path or "",
            "stack": stack,
            "drop": each.run.asked.drop or "",
            "loss": f"{loss:.4g}",
            "limit": limit,
        }
        words = f"{stack}, {about['path']} ({path.rtt_ms:g} ms), {about['drop']}"
        note = f"{lost:,} of {seen:,} packets lost" + ("; the path limits" * (limit == "path"))
        if tcp:
            window = mean_window_of(record)
            found.append(
                Measure(
                    EXPERIMENT, words, WINDOW, "packets", window, plan.seed, theory,
                    note=note, about=about,
                )
            )  # fmt: skip
        found.append(
            Measure(
                EXPERIMENT, words, THROUGHPUT, "Mbit/s", flow_metrics.mean_bps(record) / 1e6,
                plan.seed, note=note, about=about,
            )
        )  # fmt: skip
    return found
