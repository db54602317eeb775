"""The metrics of a whole run that sweeps and comparisons show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from farpath.analysis.metrics import Summary


@dataclass(frozen=True)
class RunMetric:
    """A metric of a run: its key with its unit, its words, and its decimals."""

    key: str
    words: str
    of: Callable[[Summary], float]
    decimals: int


METRICS = (
    RunMetric("throughput_mbps", "throughput (Mbit/s)", lambda run: run.mean_bps / 1e6, 2),
    RunMetric("utilisation", "throughput over rate", lambda run: run.mean_bps / run.rate_bps, 3),
    RunMetric("stability", "coefficient of variation S", lambda run: run.stability, 2),
    RunMetric("fairness_min", "Jain's fairness index F", lambda run: run.fairness_min, 2),
    RunMetric("rtt_p99_ms", "99th percentile of ping RTTs (ms)", lambda run: run.rtt_p99_ms, 1),
    RunMetric("retransmits", "retransmits (packets)", lambda run: run.retransmits, 0),
    RunMetric("queue_drops", "drops at the bottleneck", lambda run: run.queue_drops, 0),
)
