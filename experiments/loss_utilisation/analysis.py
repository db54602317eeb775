"""Measures of the utilisation that random loss leaves on a short path and on a long one."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.response_function.analysis import predicted_window
from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun

EXPERIMENT = "loss-utilisation"
UTILISATION = "utilisation"
PUBLISHED = {("lan", "random:1e-4"): "loss-1", ("wan", "random:1e-4"): "loss-2"}


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure throughput over the path's payload rate; theory is that of the predicted window.

    ``about``: ``path``, ``drop``.
    """
    measured = []
    for recorded in runs:
        plan = recorded.run.plan
        path, drop = plan.path, recorded.run.request.drop or ""
        path_name = recorded.run.request.path or ""
        loss = plan.droppers[0].numbers[0]
        full_bps = flow_metrics.goodput_bps(plan)
        payload_bytes = flow_metrics.payload_bytes(path, plan.ip_version)
        window = predicted_window(plan.stacks[0].label, path, loss, plan.settings.delayed_ack)
        theory = None
        if window is not None:
            theory = min(1.0, 8 * window * payload_bytes / (path.rtt_ms / 1e3) / full_bps)
        measured.append(
            Measure(
                EXPERIMENT,
                f"{plan.stacks[0].label}, {path.rtt_ms:g} ms, {drop}",
                UTILISATION,
                "",
                flow_metrics.mean_bps(recorded.record) / full_bps,
                plan.seed,
                theory,
                PUBLISHED.get((path_name, drop), ""),
                about={"path": path_name, "drop": drop},
            )
        )
    return measured
