"""Measures of two flows that differ in MTU or RTT and share one bottleneck."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.claims.rules import Criteria, matching, mean
from farpath.runs.claims.verdict import within
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
#: C25, C26: how two flows share hangs on the phase in which their packets meet a full buffer.
SHARING_SEEDS = 3


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


def ratios_of(measures: Sequence[Measure], experiment: str, senders: str) -> list[Measure]:
    """Return the ratios of two flows on hosts with jitter, or on exact ones where none has any."""
    ratios = matching(measures, experiment, RATIO, senders=senders)
    return [ratio for ratio in ratios if JITTER in ratio.about] or ratios


def jumbo_frames_get_fourteen_times_as_much(measures: Sequence[Measure]) -> Criteria:
    """C25: packets of 9000 and of 1500 bytes on one bottleneck, Reno."""
    ratios = ratios_of(measures, EXPERIMENT, "mtu=1500")
    conditions = within("9000 bytes' throughput over 1500 bytes'", mean(ratios), 6, 20)
    return Criteria(conditions, least_seeds=SHARING_SEEDS)


#: The rules of the claims that these runs decide.
CLAIMS = {"C25": jumbo_frames_get_fourteen_times_as_much}
