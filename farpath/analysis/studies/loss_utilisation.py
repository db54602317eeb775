"""Loss utilisation: what a loss costs on a short path and on a long one."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.analysis import flow_metrics
from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.analysis.studies.response import predicted

EXPERIMENT = "loss-utilisation"
UTILISATION = "utilisation"
PUBLISHED = {("lan", "random:1e-4"): "loss-1", ("wan", "random:1e-4"): "loss-2"}


def measures(done: Iterable[RecordedRun]) -> list[Measure]:
    """Throughput over what the path can carry of payload, and the same of the predicted window.

    ``about``: ``path``, ``drop``.
    """
    found = []
    for each in done:
        plan = each.run.plan
        path, drop = plan.path, each.run.asked.drop or ""
        where = each.run.asked.path or ""
        asked = plan.droppers[0].numbers[0]
        full_bps = flow_metrics.goodput_bps(path, plan.ip_version)
        payload_bytes = flow_metrics.payload_bytes(path, plan.ip_version)
        window = predicted(plan.stacks[0].label, path, asked, plan.settings.delayed_ack)
        theory = None
        if window is not None:
            theory = min(1.0, 8 * window * payload_bytes / (path.rtt_ms / 1e3) / full_bps)
        found.append(
            Measure(
                EXPERIMENT,
                f"{plan.stacks[0].label}, {path.rtt_ms:g} ms, {drop}",
                UTILISATION,
                "",
                flow_metrics.mean_bps(each.record) / full_bps,
                plan.seed,
                theory,
                PUBLISHED.get((where, drop), ""),
                about={"path": where, "drop": drop},
            )
        )
    return found
