"""The metrics of a whole run that sweeps and comparisons show, and those of each flow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from farpath.metrics.flow_summary import FlowSummary
from farpath.metrics.run import Summary


@dataclass(frozen=True)
class RunMetric:
    """A metric of a run: its key with its unit, its heading in tables, its words, its decimals.

    ``less_is_better``: whether the best run has the least.
    """

    key: str
    heading: str
    words: str
    of: Callable[[Summary], float]
    decimals: int
    less_is_better: bool = False


METRICS = (
    RunMetric("throughput_mbps", "Mbit/s", "throughput (Mbit/s)",
              lambda run: run.mean_bps / 1e6, 2),
    RunMetric("utilisation", "of rate", "throughput over rate", lambda run: run.utilisation, 3),
    RunMetric("cov", "CoV", "coefficient of variation of throughput",
              lambda run: run.stability, 2, less_is_better=True),
    RunMetric("fairness_min", "F min", "Jain's fairness index F", lambda run: run.fairness_min, 2),
    RunMetric("rtt_p99_ms", "RTT p99 ms", "99th percentile of ping RTTs (ms)",
              lambda run: run.rtt_p99_ms, 1, less_is_better=True),
    RunMetric("retransmits", "retransmits", "retransmits (packets)",
              lambda run: run.retransmits, 0, less_is_better=True),
    RunMetric("queue_drops", "drops", "drops at the bottleneck (packets)",
              lambda run: run.queue_drops, 0, less_is_better=True),
)  # fmt: skip


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
    FlowMetric("share", lambda flow: flow.share, 3),
    FlowMetric("done in s", lambda flow: flow.completion_s, 3, of_one_flow=True),
    FlowMetric("drops", lambda flow: flow.drops, 0),
)
