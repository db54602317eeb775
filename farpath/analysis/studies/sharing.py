"""Sharing: what flows that differ in MTU, RTT or stack get of one bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from farpath.analysis import flow_metrics
from farpath.analysis.metrics import per_second, smoothed, summarise
from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.record.record import Record
from farpath.spec.schedule import Schedule

if TYPE_CHECKING:
    import pandas as pd

MTU_BIAS, RTT_BIAS, INTER_PROTOCOL = "mtu-bias", "rtt-bias", "inter-protocol"
THROUGHPUT = "throughput"
RATIO = "ratio"
UTILISATION = "utilisation"
FRIENDLINESS = "part of a fair share left to Reno"
CONVERGENCE = "time to share"
RESPONSE = "time to halve for a newcomer"
FAIRNESS = "F of the last region"
#: RFC 5166, 2.3: flows share when none is further than this from its half, of the whole.
DELTA = 0.2
#: The stack beside which others are looked at.
RENO = "reno_2004"
#: What documents print, by experiment and what the second sender has otherwise: the ids of
#: the first flow's throughput, the second's, and of the path's utilisation.
PUBLISHED = {
    (MTU_BIAS, "mtu=1500"): ("mtu-2", "mtu-1", ""),
    (MTU_BIAS, "mtu=3000"): ("mtu-4", "mtu-3", "mtu-5"),
    (RTT_BIAS, "rtt=172ms"): ("rtt-1", "rtt-2", ""),
    (RTT_BIAS, "rtt=181ms"): ("", "", "rtt-3"),
}


def bias(experiment: str, done: Iterable[RecordedRun]) -> list[Measure]:
    """Of two flows whose senders differ: each one's mean, their ratio, and both's part of the rate.

    After the run's first quarter. ``about``: ``senders``, what the second has otherwise.
    """
    found = []
    for each in done:
        plan, other = each.run.plan, each.run.asked.senders or ""
        first, second = (
            flow_metrics.mean_bps(each.record, one.name) for one in plan.schedule.flows
        )
        ids = PUBLISHED.get((experiment, other), ("", "", ""))
        words = f"{plan.path.rtt_ms:g} ms, MTU {plan.path.mtu_bytes}, beside {other}"
        about = {"senders": other}
        values = (
            (f"{THROUGHPUT}, first", "Mbit/s", first / 1e6, ids[0]),
            (f"{THROUGHPUT}, second", "Mbit/s", second / 1e6, ids[1]),
            (RATIO, "", first / second if second else float("inf"), ""),
            (UTILISATION, "", (first + second) / plan.path.rate_bps, ids[2]),
        )
        found += [
            Measure(experiment, words, what, unit, value, plan.seed, None, printed, about=about)
            for what, unit, value, printed in values
        ]
    return found


def mtu_bias(done: Iterable[RecordedRun]) -> list[Measure]:
    """:func:`bias` of flows that differ in MTU."""
    return bias(MTU_BIAS, done)


def rtt_bias(done: Iterable[RecordedRun]) -> list[Measure]:
    """:func:`bias` of flows that differ in RTT."""
    return bias(RTT_BIAS, done)


def share_time_s(each: pd.DataFrame, schedule: Schedule) -> float | None:
    """From the second flow's start until both have nearly the same; None if that never comes.

    RFC 5166, 2.3, delta-fair convergence time: each flow's throughput, smoothed over 5 s,
    is within (1 - delta) / 2 and (1 + delta) / 2 of both's together. ``each``: both's
    throughput second by second, as :func:`farpath.analysis.metrics.per_second` gives it.
    """
    one, other = schedule.flows[:2]
    first, second = (smoothed(each[name]) for name in (one.name, other.name))
    for t_s, mine, theirs in zip(each.index, first, second, strict=True):
        if t_s > other.start_s and abs(mine / (mine + theirs) - 0.5) <= DELTA / 2:
            return float(t_s) - other.start_s
    return None


def halving_time_s(each: pd.DataFrame, schedule: Schedule) -> float | None:
    """From the second flow's start until the first has half of what it had; None if never.

    RFC 5166, 2.2, responsiveness, in seconds and of a newcomer's congestion. What it had:
    the mean of the second half of its time alone. ``each`` as for :func:`share_time_s`.
    """
    one, other = schedule.flows[:2]
    alone = each[(each.index > other.start_s / 2) & (each.index <= other.start_s)][one.name]
    for t_s, mine in zip(each.index, smoothed(each[one.name]), strict=True):
        if t_s > other.start_s and mine <= alone.mean() / 2:
            return float(t_s) - other.start_s
    return None


def friendliness(record: Record) -> float:
    """What Reno's flows get beside another, over what each would have if all shared alike."""
    flows = record.plan.schedule.flows
    means = {one.name: flow_metrics.mean_bps(record, one.name) for one in flows}
    renos = [means[one.name] for one in flows if one.stack == RENO]
    if flows[0].stack == RENO:
        renos = renos[1:]
    return sum(renos) / len(renos) / (sum(means.values()) / len(means))


def inter_protocol(done: Iterable[RecordedRun]) -> list[Measure]:
    """Friendliness beside Reno; time to share, to halve and F of a stack with itself; use alone.

    ``about``: ``stack`` as asked, ``schedule``, and ``reverse``, ``reorder`` if given.
    """
    found = []
    for each in done:
        asked, plan, record = each.run.asked, each.run.plan, each.record
        about = {"stack": asked.stack, "schedule": asked.schedule}
        reorder = f"{plan.path.reorder:g}" if plan.path.reorder else None
        extra = {"reverse": asked.reverse, "reorder": reorder}
        about |= {word: value for word, value in extra.items() if value is not None}
        told = [f"{word} {value}" for word, value in extra.items() if value is not None]
        words = ", ".join([asked.stack, *told])
        for what, unit, value in _values(asked.schedule, record):
            found.append(Measure(INTER_PROTOCOL, words, what, unit, value, plan.seed, about=about))
    return found


def _values(schedule: str, record: Record) -> Sequence[tuple[str, str, float]]:
    plan = record.plan
    flows = plan.schedule.flows
    total = sum(flow_metrics.mean_bps(record, one.name) for one in flows)
    used = (UTILISATION, "", total / flow_metrics.goodput_bps(plan.path, plan.ip_version))
    if len(flows) == 1:
        return (used,)
    if schedule == "joining":
        each = per_second(record.samples, record.plan.schedule)
        times_s = [find(each, record.plan.schedule) for find in (share_time_s, halving_time_s)]
        shared_s, halved_s = (math.nan if time_s is None else time_s for time_s in times_s)
        fairness = summarise(record.samples, record.plan).regions[-1].fairness
        return (CONVERGENCE, "s", shared_s), (RESPONSE, "s", halved_s), (FAIRNESS, "", fairness)
    return (FRIENDLINESS, "", friendliness(record)), used
