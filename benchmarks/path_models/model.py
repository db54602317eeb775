"""The parameters that describe a path of 2004, and how well they fit.

All functions are pure. The documents give a path's RTT and the range of its bottleneck's rate.
Buffer, random loss and other traffic are unknown; ``benchmarks.path_models.search`` searches for
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from experiments.seven_regions.published import Published
from farpath.metrics.run import Summary
from farpath.spec.background import Background
from farpath.spec.path import Path

#: The deviations that the study accepts as agreement; costs are in units of these.
MEAN_TOLERANCE = 0.10
STABILITY_TOLERANCE = 0.15
FAIRNESS_TOLERANCE = 0.10
RTT_STD_TOLERANCE_MS = 10.0


@dataclass(frozen=True)
class PathModel:
    """The unknown parameters of a path.

    ``rate_bps``: the rate of the bottleneck. ``queue_ms``: how long a full buffer takes to drain.
    ``loss``: random loss. ``background_part``: the mean rate of other traffic, as a fraction of the
    bottleneck's. It comes from ``sources`` on/off sources, which are on for half of the time, in
    periods of ``turn_s`` on average.
    """

    rate_bps: int
    queue_ms: float
    loss: float
    background_part: float
    turn_s: float
    sources: int

    def background(self) -> Background | None:
        """Return the path's other traffic; None if it is less than a source can send."""
        return Background.taking(
            self.background_part, self.rate_bps, self.sources, self.turn_s, self.turn_s
        )

    def on(self, path: Path) -> Path:
        """Return a path with this model's values in place of its own."""
        return replace(
            path,
            rate_bps=self.rate_bps,
            buffer_bytes=round(self.rate_bps / 8e3 * self.queue_ms),
            loss=self.loss,
            background=self.background(),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers."""
        return asdict(self)


def pseudo_huber(deviations: Iterable[float]) -> float:
    """Return the mean cost of deviations in units of their tolerances: squares while small.

    The cost is pseudo-Huber, 2 (sqrt(1 + d^2) - 1): one quantity that no path can reproduce does
    not outweigh all others (Huber, *Robust Estimation of a Location Parameter*, Annals of
    Mathematical Statistics 35(1), 1964; the smooth form is Charbonnier's). NaN counts as ten.

    >>> round(pseudo_huber([0.1]), 3), round(pseudo_huber([10.0]), 1)
    (0.01, 18.1)
    """
    return fmean(2 * (math.sqrt(1 + (10.0 if math.isnan(d) else d) ** 2) - 1) for d in deviations)


def cost_of_stack(measured: Summary, printed: Published) -> dict[str, float]:
    """Return the cost of each quantity in which one stack's run differs from the published rows.

    They are the mean, S, least F and SD(RTT) of table 1, and S and F of the regions of table 2.
    """
    regions = list(zip(measured.regions, printed.regions, strict=True))
    return {
        "mean": pseudo_huber([(measured.mean_bps / 1e6 / printed.mean_mbps - 1) / MEAN_TOLERANCE]),
        "stability": pseudo_huber([(measured.stability - printed.stability) / STABILITY_TOLERANCE]),
        "fairness": pseudo_huber(
            [(measured.fairness_min - printed.fairness_min) / FAIRNESS_TOLERANCE]
        ),
        "rtt_std": pseudo_huber(
            [(measured.rtt_std_ms - printed.rtt_std_ms) / RTT_STD_TOLERANCE_MS]
        ),
        "region_stability": pseudo_huber(
            (m.stability - p.stability) / STABILITY_TOLERANCE for m, p in regions
        ),
        "region_fairness": pseudo_huber(
            (m.fairness - p.fairness) / FAIRNESS_TOLERANCE for m, p in regions if len(m.flows) > 1
        ),
    }


def cost_of_tables(measured: Mapping[str, Summary], printed: Mapping[str, Published]) -> float:
    """Return the objective where tables are printed: the mean cost of all quantities and stacks."""
    return fmean(
        value
        for stack, summary in measured.items()
        for value in cost_of_stack(summary, printed[stack]).values()
    )


def cost_of_means(measured: Mapping[str, Summary], stability: float, fairness: float) -> float:
    """Return the objective where only the means over stacks of S and of the least F are printed."""
    mean_s = fmean(summary.stability for summary in measured.values())
    mean_f = fmean(summary.fairness_min for summary in measured.values())
    return pseudo_huber(
        [(mean_s - stability) / FAIRNESS_TOLERANCE, (mean_f - fairness) / FAIRNESS_TOLERANCE]
    )
