"""Measures of the queue that DCTCP keeps at its threshold of marks, and Reno in a buffer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.metrics.run import Array
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun

EXPERIMENT = "dctcp-queue"
QUEUE = "median queue"
LARGEST = "largest queue"
THROUGHPUT = "throughput"
#: The threshold of marks K in packets (Alizadeh et al., SIGCOMM 2010, sections 3.5 and 4.1).
THRESHOLD_PACKETS = 20
DCTCP = "dctcp"
#: Published values by stack and quantity.
PUBLISHED = {
    (DCTCP, QUEUE): "dctcp-1",
    (DCTCP, THROUGHPUT): "dctcp-2",
    ("reno", QUEUE): "dctcp-3",
    ("reno", THROUGHPUT): "dctcp-4",
}


def largest_packets(flows: int) -> int:
    """Return the largest queue of DCTCP's flows in packets, by section 3.3 of the paper: K + n."""
    return THRESHOLD_PACKETS + flows


def queue_packets(record: Record) -> Array:
    """Return the lengths of the settled queue in packets, with the one in transmission."""
    packets: Array = 1 + flow_metrics.settled_queue(record)["backlog_packets"].to_numpy(np.float64)
    return packets


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure queue and throughput after the first quarter.

    Queues are in packets, with the one in transmission, as a switch's port holds it. ``about``:
    ``stack`` as requested. The number of the draw stands for a seed.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        requested, stack = recorded.run.request.stack, plan.stacks[0].name
        packets = queue_packets(record)
        flows, draw = plan.schedule.flows, recorded.run.repetition
        total_bps = sum(flow_metrics.mean_bps(record, each.name) for each in flows)
        largest = float(largest_packets(len(flows))) if stack == DCTCP else None
        values = (
            (QUEUE, "packets", float(np.median(packets)), None),
            (LARGEST, "packets", float(packets.max()), largest),
            (THROUGHPUT, "Gbit/s", total_bps / 1e9, flow_metrics.goodput_bps(plan) / 1e9),
        )
        measured += [
            Measure(
                EXPERIMENT, requested, name, unit, value, draw, theory,
                PUBLISHED.get((stack, name), ""), about={"stack": requested},
            )
            for name, unit, value, theory in values
        ]  # fmt: skip
    return measured
