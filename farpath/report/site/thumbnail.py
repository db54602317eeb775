"""Thumbnails: a run's stacked throughput as a few SVG paths for a cell of the matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from farpath.metrics.run import Array, per_second
from farpath.record.record import Samples
from farpath.report.figures.stack_colours import looks_of
from farpath.spec.plan import Plan

WIDTH, HEIGHT = 160, 46
#: The height of a thumbnail, relative to the bottleneck's rate.
HEADROOM = 1.05


def _binned(values: Array) -> Array:
    """Return the means of as many stretches as there are points to draw, or fewer values."""
    stretches = np.array_split(values, min(WIDTH // 2, values.size))
    return np.array([stretch.mean() for stretch in stretches])


@dataclass(frozen=True)
class Area:
    """A flow's area: a path of SVG, and its colour on a page and where pages mix no colours."""

    path: str
    css: str
    colour: str


def areas(samples: Samples, plan: Plan) -> tuple[Area, ...]:
    """Return an area for each flow, the last first: each covers those below it too.

    They fill a box of WIDTH by HEIGHT; its top is just above the bottleneck's rate.
    """
    flows_bps = per_second(samples, plan.schedule)
    total = np.cumsum([_binned(flows_bps[name].to_numpy()) for name in flows_bps.columns], axis=0)
    x = np.linspace(0, WIDTH, total.shape[1])
    y = HEIGHT * (1 - np.minimum(total / (HEADROOM * max(plan.path.rates_bps)), 1))
    looks = looks_of([flow.stack for flow in plan.schedule.flows])
    drawn = []
    for curve, look in zip(y[::-1], looks[::-1], strict=True):
        points = " ".join(f"L{a:.1f} {b:.1f}" for a, b in zip(x, curve, strict=True))
        path = f"M0 {HEIGHT} {points} L{WIDTH} {HEIGHT}Z"
        drawn.append(Area(path, look.css, look.colour))
    return tuple(drawn)
