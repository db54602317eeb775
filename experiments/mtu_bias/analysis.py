"""Measures of two flows that differ in MTU or RTT and share one bottleneck."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun
from farpath.spec.plan import Plan

EXPERIMENT = "mtu-bias"
THROUGHPUT = "throughput"
RATIO = "ratio"
UTILISATION = "utilisation"
JITTER = "jitter"
#: Published values by options of the second sender: the ids of the first flow's throughput, of the
#: second's, and of the path's utilisation.
PUBLISHED = {
    "mtu=1500": ("mtu-2", "mtu-1", ""),
    "mtu=3000": ("mtu-4", "mtu-3", "mtu-5"),
    "rtt=172ms": ("rtt-1", "rtt-2", ""),
    "rtt=181ms": ("", "", "rtt-3"),
}


def jitter_text(plan: Plan) -> str:
    """Return the jitter of a run's hosts in us, as ``about`` has it; empty without any."""
    return f"{plan.era.jitter_ms * 1e3:g}" if plan.era.jitter_ms else ""


def bias(experiment: str, runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure each mean, their ratio and the utilisation of two flows whose senders differ.

    All are means after the run's first quarter. ``about``: ``senders``, the options of the second
    sender, and ``jitter`` of the hosts in us if they have any.
    """
    measured = []
    for recorded in runs:
        plan, second_sender = recorded.run.plan, recorded.run.request.senders or ""
        first, second = (
            flow_metrics.mean_bps(recorded.record, flow.name) for flow in plan.schedule.flows
        )
        ids = PUBLISHED.get(second_sender, ("", "", ""))
        condition = f"{plan.path.rtt_ms:g} ms, MTU {plan.path.mtu_bytes}, beside {second_sender}"
        about = {"senders": second_sender}
        if jitter := jitter_text(plan):
            about[JITTER] = jitter
            condition += f", jitter {jitter} us"
        values = (
            (f"{THROUGHPUT}, first", "Mbit/s", first / 1e6, ids[0]),
            (f"{THROUGHPUT}, second", "Mbit/s", second / 1e6, ids[1]),
            (RATIO, "", first / second if second else float("inf"), ""),
            (UTILISATION, "", (first + second) / plan.path.rate_bps, ids[2]),
        )
        measured += [
            Measure(
                experiment, condition, quantity, unit, value, plan.seed, None, printed, about=about
            )
            for quantity, unit, value, printed in values
        ]
    return measured


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure flows that differ in MTU, by ``bias``."""
    return bias(EXPERIMENT, runs)
