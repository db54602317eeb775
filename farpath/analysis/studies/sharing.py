"""Measures of how flows that differ in MTU, RTT or stack share one bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.metrics import flow as flow_metrics
from farpath.metrics.run import per_second, smoothed, summarise
from farpath.record.record import Record
from farpath.spec.plan import Plan
from farpath.spec.schedule import JOINING, Schedule

if TYPE_CHECKING:
    import pandas as pd

MTU_BIAS, RTT_BIAS, INTER_PROTOCOL = "mtu-bias", "rtt-bias", "inter-protocol"
THROUGHPUT = "throughput"
RATIO = "ratio"
UTILISATION = "utilisation"
FRIENDLINESS = "part of a fair share left to Reno"
JITTER = "jitter"
CONVERGENCE = "time to share"
RESPONSE = "time to halve for a newcomer"
FAIRNESS = "F of the last region"
#: RFC 5166, 2.3: flows share when neither is further than this from its half, as a fraction of the
#: whole.
DELTA = 0.2
#: The stack that others share the bottleneck with.
RENO = "reno_2004"
#: Published values by experiment and options of the second sender: the ids of the first flow's
#: throughput, of the second's, and of the path's utilisation.
PUBLISHED = {
    (MTU_BIAS, "mtu=1500"): ("mtu-2", "mtu-1", ""),
    (MTU_BIAS, "mtu=3000"): ("mtu-4", "mtu-3", "mtu-5"),
    (RTT_BIAS, "rtt=172ms"): ("rtt-1", "rtt-2", ""),
    (RTT_BIAS, "rtt=181ms"): ("", "", "rtt-3"),
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
        ids = PUBLISHED.get((experiment, second_sender), ("", "", ""))
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


def mtu_bias(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure flows that differ in MTU, by ``bias``."""
    return bias(MTU_BIAS, runs)


def rtt_bias(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure flows that differ in RTT, by ``bias``."""
    return bias(RTT_BIAS, runs)


def share_time_s(throughputs_bps: pd.DataFrame, schedule: Schedule) -> float | None:
    """Return the time from the second flow's start until both have nearly the same, or None.

    After RFC 5166, 2.3, delta-fair convergence time: each flow's throughput, smoothed over 5 s, is
    within (1 - delta) / 2 and (1 + delta) / 2 of the sum of both. Unlike there the flows need not
    begin with 100/101 and 1/101 of the rate, and it is the first such second: they may part again.
    ``throughputs_bps``: the throughput of
    both, second by second, as ``farpath.metrics.run.per_second`` gives it. None if they never
    share.
    """
    first_flow, second_flow = schedule.flows[:2]
    first_bps, second_bps = (
        smoothed(throughputs_bps[name]) for name in (first_flow.name, second_flow.name)
    )
    for t_s, one_bps, other_bps in zip(throughputs_bps.index, first_bps, second_bps, strict=True):
        if t_s > second_flow.start_s and abs(one_bps / (one_bps + other_bps) - 0.5) <= DELTA / 2:
            return float(t_s) - second_flow.start_s
    return None


def halving_time_s(throughputs_bps: pd.DataFrame, schedule: Schedule) -> float | None:
    """Return the time from the second flow's start until the first is at half its rate, or None.

    RFC 5166, 2.2, responsiveness, in seconds, where the congestion is a new flow. The rate before
    is the mean of the second half of the first flow's time alone. ``throughputs_bps`` is as for
    ``share_time_s``. None if the rate never halves.
    """
    first_flow, second_flow = schedule.flows[:2]
    alone_bps = throughputs_bps[
        (throughputs_bps.index > second_flow.start_s / 2)
        & (throughputs_bps.index <= second_flow.start_s)
    ][first_flow.name]
    for t_s, rate_bps in zip(
        throughputs_bps.index, smoothed(throughputs_bps[first_flow.name]), strict=True
    ):
        if t_s > second_flow.start_s and rate_bps <= alone_bps.mean() / 2:
            return float(t_s) - second_flow.start_s
    return None


def friendliness(record: Record) -> float:
    """Return the mean of Reno's flows next to another stack, over an equal share."""
    flows = record.plan.schedule.flows
    means_bps = {flow.name: flow_metrics.mean_bps(record, flow.name) for flow in flows}
    reno_means_bps = [means_bps[flow.name] for flow in flows if flow.stack == RENO]
    if flows[0].stack == RENO:
        reno_means_bps = reno_means_bps[1:]
    return sum(reno_means_bps) / len(reno_means_bps) / (sum(means_bps.values()) / len(means_bps))


def inter_protocol(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure friendliness to Reno, sharing between two flows of a stack, and utilisation alone.

    Sharing is the time to share, the time to halve, and F. ``about``: ``stack`` as requested,
    ``schedule``, and ``reverse`` and ``reorder`` if given.
    """
    measured = []
    for recorded in runs:
        request, plan, record = recorded.run.request, recorded.run.plan, recorded.record
        about = {"stack": request.stack, "schedule": plan.schedule.name}
        reorder = f"{plan.path.reorder:g}" if plan.path.reorder else None
        optional = {"reverse": request.reverse, "reorder": reorder}
        about |= {option: value for option, value in optional.items() if value is not None}
        texts = [f"{option} {value}" for option, value in optional.items() if value is not None]
        condition = ", ".join([request.stack, *texts])
        for quantity, unit, value in _values(record):
            measured.append(
                Measure(INTER_PROTOCOL, condition, quantity, unit, value, plan.seed, about=about)
            )
    return measured


def _values(record: Record) -> Sequence[tuple[str, str, float]]:
    plan = record.plan
    flows = plan.schedule.flows
    total_bps = sum(flow_metrics.mean_bps(record, flow.name) for flow in flows)
    utilisation = (
        UTILISATION,
        "",
        total_bps / flow_metrics.goodput_bps(plan.path, plan.ip_version),
    )
    if len(flows) == 1:
        return (utilisation,)
    if plan.schedule.name == JOINING:
        throughputs_bps = per_second(record.samples, record.plan.schedule)
        times_s = [
            find_time(throughputs_bps, record.plan.schedule)
            for find_time in (share_time_s, halving_time_s)
        ]
        shared_s, halved_s = (math.nan if time_s is None else time_s for time_s in times_s)
        fairness = summarise(record.samples, record.plan).regions[-1].fairness
        return (CONVERGENCE, "s", shared_s), (RESPONSE, "s", halved_s), (FAIRNESS, "", fairness)
    return (FRIENDLINESS, "", friendliness(record)), utilisation
