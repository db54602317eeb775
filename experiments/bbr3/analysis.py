"""Measures of what BBR, versions 1 and 3, takes of a path that it shares with another flow."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun
from farpath.spec.path import Path

EXPERIMENT = "bbr3"
SHARE = "share of the first flow"
UTILISATION = "utilisation"
#: The stacks of which version 1 has a published model.
MODELLED = "bbr+cubic"


def share_of_version_1(path: Path) -> float:
    """Return the share that BBR's version 1 has beside a flow that fills the buffer.

    The model is that of Ware et al. (Modeling BBR's Interactions with Loss-Based Congestion
    Control, IMC 2019), without ProbeRTT's own cost and its four packets. BBR's window is twice its
    rate times the least RTT that it sees, which includes the queue q p of the other flow, whose
    share is p: (1 - p) (q + b) = 2 (1 - p) (q p + b) for a buffer q and a bandwidth-delay product
    b. So BBR's share is 1 - p = 1/2 + b / (2 q), and at most all of the path.
    """
    return min(1.0, 0.5 + flow_metrics.bdp_packets(path) * path.frame_bytes / path.buffer_bytes / 2)


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the first flow's part of all throughput, and throughput over the path's payload rate.

    ``about``: ``rtt``, ``buffer`` and ``stack`` as requested.
    """
    measured = []
    for recorded in runs:
        plan, request = recorded.run.plan, recorded.run.request
        about = {name: getattr(request, name) or "" for name in ("rtt", "buffer", "stack")}
        condition = f"{about['stack']}, {about['rtt']}, {about['buffer']}"
        means_bps = [
            flow_metrics.mean_bps(recorded.record, each.name) for each in plan.schedule.flows
        ]
        theory = share_of_version_1(plan.path) if about["stack"] == MODELLED else None
        values = (
            (SHARE, means_bps[0] / sum(means_bps), theory),
            (UTILISATION, sum(means_bps) / flow_metrics.goodput_bps(plan), None),
        )
        measured += [
            Measure(EXPERIMENT, condition, quantity, "", value, plan.seed, expected, about=about)
            for quantity, value, expected in values
        ]
    return measured
