"""The metrics of a whole run that sweeps and comparisons show, and those of each flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from farpath.analysis.metrics import Summary
from farpath.report.flow_summary import FlowSummary


@dataclass(frozen=True)
class RunMetric:
    """A metric of a run: its key with its unit, its words, and its decimals."""

    key: str
    words: str
    of: Callable[[Summary], float]
    decimals: int


METRICS = (
    RunMetric("throughput_mbps", "throughput (Mbit/s)", lambda run: run.mean_bps / 1e6, 2),
    RunMetric("utilisation", "throughput over rate", lambda run: run.utilisation, 3),
    RunMetric("stability", "coefficient of variation S", lambda run: run.stability, 2),
    RunMetric("fairness_min", "Jain's fairness index F", lambda run: run.fairness_min, 2),
    RunMetric("rtt_p99_ms", "99th percentile of ping RTTs (ms)", lambda run: run.rtt_p99_ms, 1),
    RunMetric("retransmits", "retransmits (packets)", lambda run: run.retransmits, 0),
    RunMetric("queue_drops", "drops at the bottleneck", lambda run: run.queue_drops, 0),
)


@dataclass(frozen=True)
class FlowMetric:
    """A metric of a flow: its words, and its decimals; None is what is not known.

    ``of_one_flow``: whether it says of a run's only flow what no metric of the run does.
    """

    words: str
    of: Callable[[FlowSummary], float | None]
    decimals: int
    of_one_flow: bool = False


FLOW_METRICS = (
    FlowMetric("Mbit/s", lambda flow: flow.throughput_bps / 1e6, 2),
    FlowMetric("done in s", lambda flow: flow.completion_s, 3, of_one_flow=True),
    FlowMetric("drops", lambda flow: flow.drops, 0),
)
