"""Measures of what BBR, versions 1 and 3, takes of a path, alone and beside other flows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun
from farpath.spec.path import Path

EXPERIMENT = "bbr3"
SHARE = "share of the first stack"
UTILISATION = "utilisation"
WAIT = "median wait"
#: The stacks of which version 1 has a published model.
MODELLED = "bbr+cubic"
#: Options that tell runs apart, in the order in which a condition names them.
CONDITIONS = ("path", "rtt", "buffer", "loss", "jitter", "background")


def share_of_version_1(path: Path) -> float:
    """Return the share that BBR's version 1 has beside a flow that fills the buffer.

    The model is that of Ware et al. (Modeling BBR's Interactions with Loss-Based Congestion
    Control, IMC 2019), without ProbeRTT's own cost and its four packets. BBR's window is twice its
    rate times the least RTT that it sees, which includes the queue q p of the other flow, whose
    share is p: (1 - p) (q + b) = 2 (1 - p) (q p + b) for a buffer q and a bandwidth-delay product
    b. So BBR's share is 1 - p = 1/2 + b / (2 q), and at most all of the path.
    """
    return min(1.0, 0.5 + flow_metrics.bdp_packets(path) * path.frame_bytes / path.buffer_bytes / 2)


def wait_ms(record: Record) -> float:
    """Return the median time that pings wait beyond the base RTT, after the first quarter."""
    pings = record.samples.ping
    settled = pings["t_s"] > flow_metrics.warm_up_end_s(record)
    return float(np.nanmedian(pings.loc[settled, "rtt_ms"])) - record.plan.path.rtt_ms


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the first stack's part of all throughput, utilisation, and the wait of pings.

    Flows of two stacks take turns; a run of one flow has no share. ``about``: ``stack``, which has
    at most two flows, the number of ``flows``, and the options of ``CONDITIONS`` as requested.
    """
    measured = []
    for recorded in runs:
        plan, record, request = recorded.run.plan, recorded.record, recorded.run.request
        stacks = (request.stack or "").split("+")
        about = {name: getattr(request, name) or "" for name in CONDITIONS}
        about |= {"stack": "+".join(stacks[:2]), "flows": str(len(stacks))}
        words = [about["stack"], *(about[name] for name in ("path", "rtt", "buffer"))]
        words += [f"{name} {about[name]}" for name in CONDITIONS[3:] if about[name]]
        words += [f"{len(stacks)} flows"] if len(stacks) > 2 else []
        means_bps = [flow_metrics.mean_bps(record, each.name) for each in plan.schedule.flows]
        theory = share_of_version_1(plan.path) if about["stack"] == MODELLED else None
        values: list[tuple[str, str, float, float | None]] = [
            (UTILISATION, "", sum(means_bps) / flow_metrics.goodput_bps(plan), None),
            (WAIT, "ms", wait_ms(record), None),
        ]
        if len(stacks) > 1:
            values.insert(0, (SHARE, "", sum(means_bps[::2]) / sum(means_bps), theory))
        measured += [
            Measure(
                EXPERIMENT, ", ".join(filter(None, words)), name, unit, value,
                recorded.run.repetition, expected, about=about,
            )
            for name, unit, value, expected in values
        ]  # fmt: skip
    return measured
