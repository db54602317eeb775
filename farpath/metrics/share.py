"""Shares: the part of a fair share that each flow of a run has while all flows are there."""

from __future__ import annotations

import math
from collections.abc import Sequence

from farpath.metrics.flow import WARM_UP_FRACTION
from farpath.metrics.run import per_second
from farpath.record.record import Samples
from farpath.spec.schedule import Schedule


def joint_stretch_s(schedule: Schedule) -> tuple[float, float]:
    """Return begin and end of the time that shares count, in s from the schedule's start.

    All flows are present in it. Its first quarter is left out, in which starts still count.
    """
    start_s = max(flow.start_s for flow in schedule.flows)
    stop_s = min(flow.stop_s for flow in schedule.flows)
    return start_s + WARM_UP_FRACTION * (stop_s - start_s), stop_s


def joint_means_bps(samples: Samples, schedule: Schedule) -> tuple[float, ...]:
    """Return the mean throughput of each flow in the whole seconds of ``joint_stretch_s``."""
    from_s, stop_s = joint_stretch_s(schedule)
    throughputs_bps = per_second(samples, schedule)
    seconds = throughputs_bps.index
    joint_bps = throughputs_bps[(seconds - 1 >= from_s) & (seconds <= stop_s)]
    return tuple(float(joint_bps[flow.name].mean()) for flow in schedule.flows)


def fair_shares(means_bps: Sequence[float]) -> tuple[float, ...]:
    """Return each flow's throughput over the mean of all, so that 1 is a fair part; NaN of nothing.

    >>> fair_shares([1e6, 3e6])
    (0.5, 1.5)
    """
    fair_bps = sum(means_bps) / len(means_bps)
    return tuple(bps / fair_bps if fair_bps > 0 else math.nan for bps in means_bps)
