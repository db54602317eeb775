"""Path model: the few numbers by which a path of 2004 is described, and how well it fits.

Pure. The documents tell a path's RTT and the range of its bottleneck's rate; buffer,
random loss and other traffic are unknown and searched for (:mod:`farpath.campaign.path_search`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from farpath.analysis.metrics import Summary
from farpath.analysis.published import Published
from farpath.spec.background import Background
from farpath.spec.path import Path

#: What a deviation may be before it counts in full: what the study holds for agreement.
MEAN_PART = 0.10
STABILITY = 0.15
FAIRNESS = 0.10
RTT_STD_MS = 10.0


@dataclass(frozen=True)
class PathModel:
    """A path's unknowns.

    ``rate_bps``: the bottleneck's. ``queue_ms``: how long a full buffer takes to drain.
    ``loss``: random loss. ``background_part``: what other traffic takes of the rate on
    average; it comes from ``sources``, half of the time on, in turns of ``turn_s`` on
    average.
    """

    rate_bps: int
    queue_ms: float
    loss: float
    background_part: float
    turn_s: float
    sources: int

    def background(self) -> Background | None:
        """The path's other traffic; None if it is less than a source can send."""
        return Background.taking(
            self.background_part, self.rate_bps, self.sources, self.turn_s, self.turn_s
        )

    def on(self, path: Path) -> Path:
        """A path with this model's values in place of its own."""
        return replace(
            path,
            rate_bps=self.rate_bps,
            buffer_bytes=round(self.rate_bps / 8e3 * self.queue_ms),
            loss=self.loss,
            background=self.background(),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return asdict(self)


def pseudo_huber(deviations: Iterable[float]) -> float:
    """Mean cost of deviations in units of what is allowed: their squares while small.

    Pseudo-Huber, 2 (sqrt(1 + d^2) - 1): one quantity that no path can give does not
    outweigh all others (Huber, *Robust Estimation of a Location Parameter*, Annals of
    Mathematical Statistics 35(1), 1964; the smooth form is Charbonnier's). NaN counts
    as ten.

    >>> round(pseudo_huber([0.1]), 3), round(pseudo_huber([10.0]), 1)
    (0.01, 18.1)
    """
    return fmean(2 * (math.sqrt(1 + (10.0 if math.isnan(d) else d) ** 2) - 1) for d in deviations)


def cost_of_stack(measured: Summary, printed: Published) -> dict[str, float]:
    """How far one stack's run is from the published rows: the cost of each quantity.

    Of table 1 mean, S, least F and SD(RTT), of table 2 S and F over the regions.
    """
    regions = list(zip(measured.regions, printed.regions, strict=True))
    return {
        "mean": pseudo_huber([(measured.mean_bps / 1e6 / printed.mean_mbps - 1) / MEAN_PART]),
        "stability": pseudo_huber([(measured.stability - printed.stability) / STABILITY]),
        "fairness": pseudo_huber([(measured.fairness_min - printed.fairness_min) / FAIRNESS]),
        "rtt_std": pseudo_huber([(measured.rtt_std_ms - printed.rtt_std_ms) / RTT_STD_MS]),
        "region_stability": pseudo_huber(
            (m.stability - p.stability) / STABILITY for m, p in regions
        ),
        "region_fairness": pseudo_huber(
            (m.fairness - p.fairness) / FAIRNESS for m, p in regions if len(m.flows) > 1
        ),
    }


def cost_of_tables(measured: Mapping[str, Summary], printed: Mapping[str, Published]) -> float:
    """The objective where tables are printed: the mean of all quantities over the stacks."""
    return fmean(
        value
        for stack, summary in measured.items()
        for value in cost_of_stack(summary, printed[stack]).values()
    )


def cost_of_means(measured: Mapping[str, Summary], stability: float, fairness: float) -> float:
    """The objective where only means over stacks of S and of the least F are printed."""
    found_s = fmean(summary.stability for summary in measured.values())
    found_f = fmean(summary.fairness_min for summary in measured.values())
    return pseudo_huber([(found_s - stability) / FAIRNESS, (found_f - fairness) / FAIRNESS])
