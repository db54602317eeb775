"""Harm: how much worse a stack fares beside another than alone.

Ware et al., Beyond Jain's Fairness Index: Setting the Bar For The Deployment of Congestion Control
Algorithms, HotNets 2019: where more is better, harm is (alone - beside) / alone, and where less is
better (beside - alone) / beside, so that 0 is none and 1 the most. A newcomer may do no more harm
to a stack than that stack does to itself.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np

from farpath.metrics.run import Array
from farpath.metrics.significance import Interval, bootstrap_interval, median_along
from farpath.uses.league.measure import Encounter

#: Quantities by the keys of their harm: the value of a flow, and whether more is better.
_QUANTITIES: Mapping[str, tuple[Callable[[Encounter], float | None], bool]] = {
    "throughput": (lambda each: each.throughput_bps, True),
    "rtt_p95": (lambda each: _rtt_ms(each, each.delay_ms), False),
    "rtt_p99": (lambda each: _rtt_ms(each, each.delay_p99_ms), False),
    "loss": (lambda each: each.lost_fraction, False),
    "completion": (lambda each: each.completion_s, False),
}
HARMS = tuple(_QUANTITIES)


def _rtt_ms(each: Encounter, delay_ms: float | None) -> float | None:
    return None if delay_ms is None else each.rtt_ms + delay_ms


def harm_of(alone: float, beside: float, more_is_better: bool) -> float:
    """Return the harm in one quantity; 0 where it is no worse than alone.

    >>> harm_of(10.0, 4.0, True), harm_of(20.0, 40.0, False), harm_of(0.0, 0.0, False)
    (0.6, 0.5, 0.0)
    """
    return float(_harms(np.array(alone), np.array(beside), more_is_better))


def _harms(alone: Array, beside: Array, more_is_better: bool) -> Array:
    best, worst = (alone, beside) if more_is_better else (beside, alone)
    some = best > 0
    harms: Array = np.maximum(0.0, (best - worst) / np.where(some, best, 1.0)) * some
    return harms


def harms(alone: Iterable[Encounter], beside: Iterable[Encounter]) -> dict[str, float | None]:
    """Return the harm of each quantity of ``HARMS``, from medians over runs.

    ``alone``, ``beside``: runs of one stack without another, and beside it; of two flows of one
    stack both. None where a quantity is not known.
    """
    alone, beside = list(alone), list(beside)
    found: dict[str, float | None] = {}
    for name, (_, more_is_better) in _QUANTITIES.items():
        values = _values(name, alone), _values(name, beside)
        found[name] = (
            harm_of(statistics.median(values[0]), statistics.median(values[1]), more_is_better)
            if all(values)
            else None
        )
    return found


def harm_interval(name: str, alone: Iterable[Encounter], beside: Iterable[Encounter]) -> Interval:
    """Return the bootstrap's interval of the harm in a quantity of ``HARMS``.

    It is of the runs alone, and of those beside, each drawn anew by themselves.
    """
    return bootstrap_interval(
        _values(name, alone),
        _values(name, beside),
        statistic=partial(_harm_along, more_is_better=_QUANTITIES[name][1]),
    )


def _harm_along(alone: Array, beside: Array, axis: int = -1, *, more_is_better: bool) -> Array:
    return _harms(median_along(alone, axis), median_along(beside, axis), more_is_better)


def _values(name: str, runs: Iterable[Encounter]) -> list[float]:
    of = _QUANTITIES[name][0]
    return [value for each in runs if (value := of(each)) is not None]
