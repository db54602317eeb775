"""Measures of the queue that flows of BBR leave standing in a deep buffer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun

EXPERIMENT = "bbr-queue"
STANDING = "standing queue"
UTILISATION = "utilisation"
#: BBR's window in bandwidth-delay products (``bbr_cwnd_gain`` in net/ipv4/tcp_bbr.c).
WINDOW_BDP = 2.0


def predicted_bdp(flows: int) -> float:
    """Return the queue, in bandwidth-delay products, that flows of BBR keep.

    Hock, Bless and Zitterbart, Experimental Evaluation of BBR Congestion Control, ICNP 2017: each
    of several flows takes the largest rate that it saw for its own, their sum is more than the
    path's, and the queue grows until windows end it. A window is twice the product, of which the
    path holds one. A single flow sends no more than the path carries.
    """
    return WINDOW_BDP - 1 if flows > 1 else 0.0


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the median queue after the first quarter, and the utilisation.

    ``about``: ``stack`` as requested, and ``flows``.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        flows = len(plan.schedule.flows)
        about = {"stack": recorded.run.request.stack, "flows": str(flows)}
        settled = flow_metrics.settled_queue(record)
        standing = float(np.median(settled["backlog_bytes"])) / plan.path.bdp_bytes
        means_bps = [flow_metrics.mean_bps(record, each.name) for each in plan.schedule.flows]
        used = sum(means_bps) / flow_metrics.goodput_bps(plan)
        values = (
            (STANDING, "BDP", standing, predicted_bdp(flows)),
            (UTILISATION, "", used, None),
        )
        measured += [
            Measure(EXPERIMENT, about["stack"], name, unit, value, plan.seed, theory, about=about)
            for name, unit, value, theory in values
        ]
    return measured
