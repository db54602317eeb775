"""Measures of two flows that differ in RTT and share one bottleneck."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.mtu_bias.analysis import bias
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun

EXPERIMENT = "rtt-bias"


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure flows that differ in RTT, by ``bias``."""
    return bias(EXPERIMENT, runs)
