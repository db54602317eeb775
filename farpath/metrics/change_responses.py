"""Responses of a run's flows to changes of the bottleneck's rate, and to outages.

RFC 5166, 2.2, asks for the response to sudden changes. Bansal, Balakrishnan, Floyd and Shenker,
*Dynamic Behavior of Slowly-Responsive Congestion Control Algorithms*, SIGCOMM 2001, have the
stabilisation time and cost. The samples of a run bound all times: give a shorter `sample` for finer
ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from farpath.metrics.flow import payload_bytes
from farpath.metrics.run import aggregate
from farpath.spec.dropper import OUTAGE, THERE

if TYPE_CHECKING:
    import pandas as pd

    from farpath.metrics.run import Array
    from farpath.record.record import Record
    from farpath.spec.plan import Plan

#: Flows have recovered when all of them together receive this part of the payload that fits.
RECOVERED = 0.9
#: Bansal et al. 2001: the time over which a loss rate is taken, in RTTs, and the multiple of the
#: steady loss rate below which a link has stabilised.
LOSS_RTTS, STABLE_FACTOR = 10, 1.5
#: What times of samples may differ by from whole steps.
_ROUNDING_S = 1e-6


@dataclass(frozen=True)
class Answer:
    """What the flows of a run did after one change.

    ``at_s``: the change. ``until_s``: the next one, or the run's end. ``before_bps``,
    ``after_bps``: the rates. ``outage_s``: the length of the outage that ended then; 0 of a change
    of the rate. ``answered_s``, ``stabilised_rtts``, ``cost`` and ``drops`` are of a fall:
    the time until no more came to the bottleneck than it carries, over an RTT and a sample at
    least; the stabilisation time in RTTs of the empty path; that time's mean loss rate times it, so
    that 1 is the loss of all packets for an RTT; and the packets that the queue dropped until the
    next change. ``recovered_s`` is of a rise or an outage: the time until all flows together had
    ``RECOVERED`` of the payload that fits, to the end of a whole second. None is not so, or never.
    """

    at_s: float
    until_s: float
    before_bps: float
    after_bps: float
    outage_s: float = 0.0
    answered_s: float | None = None
    stabilised_rtts: float | None = None
    cost: float | None = None
    drops: int | None = None
    recovered_s: float | None = None

    @property
    def is_fall(self) -> bool:
        """Whether the rate fell."""
        return self.after_bps < self.before_bps


def answers_of(record: Record) -> tuple[Answer, ...]:
    """Return the answer to each change of the rate and each outage, in their order.

    Of a run with several bottlenecks or a trace's rate there is none.
    """
    plan = record.plan
    if plan.bottlenecks > 1 or plan.path.rate_trace:
        return ()
    spans_s = sorted(
        span_s
        for dropper in plan.droppers
        if dropper.kind == OUTAGE and dropper.direction == THERE
        for span_s in dropper.spans_s
    )
    if not plan.rates.changes and not spans_s:
        return ()
    totals_bps = aggregate(record.samples, plan.schedule)
    found = (*_rates(record, totals_bps), *_outages(plan, spans_s, totals_bps))
    return tuple(sorted(found, key=lambda each: each.at_s))


def _rates(record: Record, totals_bps: pd.Series[float]) -> Iterator[Answer]:
    plan = record.plan
    changes = plan.rates.changes
    before = (plan.rates.values[0], *(rate_bps for _, rate_bps in changes))
    ends_s = (*(at_s for at_s, _ in changes[1:]), plan.schedule.duration_s)
    for (at_s, after_bps), before_bps, until_s in zip(changes, before, ends_s, strict=False):
        if after_bps < before_bps:
            yield _fall(record, at_s, until_s, before_bps, after_bps)
        else:
            goodput_bps = _payload_bps(plan, after_bps)
            recovered_s = recovery_s(totals_bps, at_s, until_s, goodput_bps)
            yield Answer(at_s, until_s, before_bps, after_bps, recovered_s=recovered_s)


def _outages(
    plan: Plan, spans_s: Sequence[tuple[float, float]], totals_bps: pd.Series[float]
) -> Iterator[Answer]:
    """Yield the answer to the end of each outage towards the receivers."""
    for number, (start_s, end_s) in enumerate(spans_s, start=1):
        later_s = [start for start, _ in spans_s[number:]]
        changes_s = [at_s for at_s, _ in plan.rates.changes if at_s > end_s]
        until_s = min([*later_s, *changes_s, plan.schedule.duration_s])
        rate_bps = plan.rates.at(end_s)
        recovered_s = recovery_s(totals_bps, end_s, until_s, _payload_bps(plan, rate_bps))
        yield Answer(end_s, until_s, rate_bps, rate_bps, end_s - start_s, recovered_s=recovered_s)


def recovery_s(
    totals_bps: pd.Series[float], at_s: float, until_s: float, goodput_bps: float
) -> float | None:
    """Return the time from a moment to the end of the first whole second with enough throughput.

    ``totals_bps``: of all flows, by the end of each second. ``goodput_bps``: the payload that fits.
    None if no second before ``until_s`` has ``RECOVERED`` of it.
    """
    ends_s = totals_bps.index.to_numpy(dtype=np.float64)
    inside = (ends_s >= at_s + 1) & (ends_s <= until_s)
    enough = ends_s[inside & (totals_bps.to_numpy() >= RECOVERED * goodput_bps)]
    return float(enough[0]) - at_s if enough.size else None


def _payload_bps(plan: Plan, rate_bps: float) -> float:
    return payload_bytes(plan.path, plan.ip_version) / plan.path.frame_bytes * rate_bps


def _fall(
    record: Record, at_s: float, until_s: float, before_bps: float, after_bps: float
) -> Answer:
    plan, queue = record.plan, record.samples.queue
    rows = queue[(queue["t_s"] >= at_s) & (queue["t_s"] <= until_s)]
    if len(rows) < 2:
        return Answer(at_s, until_s, before_bps, after_bps)
    times_s, backlog, drops = (
        rows[name].to_numpy(dtype=np.float64) for name in ("t_s", "backlog_bytes", "drops")
    )
    rtt_s = plan.path.rtt_ms / 1e3
    stabilised_s, loss = stabilisation(times_s, drops, rtt_s, _packets_per_s(plan, after_bps))
    return Answer(
        at_s,
        until_s,
        before_bps,
        after_bps,
        answered_s=answer_s(times_s, backlog + plan.path.frame_bytes * drops, rtt_s, at_s),
        stabilised_rtts=None if stabilised_s is None else stabilised_s / rtt_s,
        cost=None if stabilised_s is None else loss * stabilised_s / rtt_s,
        drops=int(drops[-1] - drops[0]),
    )


def _packets_per_s(plan: Plan, rate_bps: float) -> float:
    return rate_bps / 8 / plan.path.frame_bytes


def answer_s(times_s: Array, surplus_bytes: Array, rtt_s: float, at_s: float) -> float | None:
    """Return the time from a fall of the rate until no more came than the link carries.

    ``surplus_bytes``: at each time what came and was not carried so far, in the queue or dropped.
    It is the end of the first stretch, of an RTT and a sample at least, in which it did not grow.
    """
    for end in range(1, times_s.size):
        begin = _last_until(times_s, times_s[end] - rtt_s)
        if begin >= 0 and surplus_bytes[end] <= surplus_bytes[min(begin, end - 1)]:
            return float(times_s[end]) - at_s
    return None


def stabilisation(
    times_s: Array, drops: Array, rtt_s: float, packets_per_s: float
) -> tuple[float | None, float]:
    """Return the stabilisation time after the first time in s, and the mean loss rate in it.

    It ends when the loss rate over ``LOSS_RTTS`` has first been above ``STABLE_FACTOR`` of its
    steady value and is so no more; that value is of the second half of the times. It is 0 if the
    loss rate never was above, and None if it is still so at the end. ``drops``: so far, at each
    time. ``packets_per_s``: what the link, which is full meanwhile, carries.
    """
    half = int(np.searchsorted(times_s, (times_s[0] + times_s[-1]) / 2))
    steady = _loss(times_s, drops, min(half, times_s.size - 2), times_s.size - 1, packets_per_s)
    was_above = False
    for end in range(1, times_s.size):
        begin = max(0, min(_last_until(times_s, times_s[end] - LOSS_RTTS * rtt_s), end - 1))
        is_above = _loss(times_s, drops, begin, end, packets_per_s) > STABLE_FACTOR * steady
        if was_above and not is_above:
            return float(times_s[end] - times_s[0]), _loss(times_s, drops, 0, end, packets_per_s)
        was_above = was_above or is_above
    return (None, math.nan) if was_above else (0.0, 0.0)


def _last_until(times_s: Array, time_s: float) -> int:
    """Return the index of the last sample until a time; -1 without one."""
    return int(np.searchsorted(times_s, time_s + _ROUNDING_S, side="right")) - 1


def _loss(times_s: Array, drops: Array, begin: int, end: int, packets_per_s: float) -> float:
    dropped = float(drops[end] - drops[begin])
    carried = packets_per_s * float(times_s[end] - times_s[begin])
    return dropped / (dropped + carried) if dropped + carried else 0.0
