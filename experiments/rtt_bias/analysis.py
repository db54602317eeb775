"""Measures of two flows that differ in RTT and share one bottleneck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.mtu_bias.analysis import SHARING_SEEDS, bias, ratios_of
from farpath.metrics.measures import Measure
from farpath.runs.claims.rules import Criteria, mean
from farpath.runs.claims.verdict import Condition, within
from farpath.runs.experiment import RecordedRun

EXPERIMENT = "rtt-bias"


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure flows that differ in RTT, by ``bias``."""
    return bias(EXPERIMENT, runs)


def the_shorter_round_trip_gets_more(measures: Sequence[Measure]) -> Criteria:
    """C26: 117 ms beside each RTT that is printed for the longer one, Reno, MTU 9000.

    For the same two throughputs one document prints 172 ms, the other 181 ms.
    """
    conditions: list[Condition] = []
    for rtt_ms in (172, 181):
        ratios = ratios_of(measures, EXPERIMENT, f"rtt={rtt_ms}ms")
        quantity = f"throughput at 117 ms over that at {rtt_ms} ms"
        conditions += within(quantity, mean(ratios), 1.8, 4)
    return Criteria(tuple(conditions), least_seeds=SHARING_SEEDS)


#: The rules of the claims that these runs decide.
CLAIMS = {"C26": the_shorter_round_trip_gets_more}
