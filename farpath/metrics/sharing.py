"""How flows come to share a bottleneck: the times of RFC 5166 for a newcomer's arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from farpath.metrics.run import SMOOTHING_S, smoothed
from farpath.spec.schedule import Region, Schedule

if TYPE_CHECKING:
    import pandas as pd

#: RFC 5166, 2.3: flows share when neither is further than this from its half, as a fraction of the
#: whole.
DELTA = 0.2


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


def fair_for_good_s(throughputs_bps: pd.DataFrame, region: Region) -> float | None:
    """Return the time from a region's start after which its flows share to its end, or None.

    RFC 5166, 2.3, delta-fair convergence time, of one that stays: each of n flows' throughput,
    smoothed over 5 s within the region, is within (1 - delta) / n and (1 + delta) / n of the sum of
    all in every second from then on. ``throughputs_bps`` is as for ``share_time_s``. None of a
    single flow, and unless they share for the last ``SMOOTHING_S`` at least.
    """
    ends_s = throughputs_bps.index.to_numpy(dtype=np.float64)
    inside = (ends_s - 0.5 >= region.start_s) & (ends_s - 0.5 < region.stop_s)
    flows_bps = [smoothed(throughputs_bps.loc[inside, name]) for name in region.flows]
    if len(flows_bps) < 2 or not inside.any():
        return None
    total_bps = np.sum(flows_bps, axis=0)
    parts = np.divide(flows_bps, total_bps, out=np.zeros_like(flows_bps), where=total_bps > 0)
    unfair = np.abs(parts * len(flows_bps) - 1).max(axis=0) > DELTA
    since = int(np.flatnonzero(unfair)[-1]) + 1 if unfair.any() else 0
    if unfair.size - since < SMOOTHING_S:
        return None
    return float(ends_s[inside][since]) - 1 - region.start_s
