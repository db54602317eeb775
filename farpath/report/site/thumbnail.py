"""Thumbnails: a run's stacked throughput as a few SVG paths for a cell of the matrix."""

from __future__ import annotations

import numpy as np

from farpath.analysis.metrics import Array, per_second
from farpath.record.record import Samples
from farpath.spec.plan import Plan

WIDTH, HEIGHT = 160, 46
#: The height of a thumbnail, relative to the bottleneck's rate.
HEADROOM = 1.05


def _binned(values: Array) -> Array:
    """Return the means of as many stretches as there are points to draw, or fewer values."""
    stretches = np.array_split(values, min(WIDTH // 2, values.size))
    return np.array([stretch.mean() for stretch in stretches])


def areas(samples: Samples, plan: Plan) -> tuple[str, ...]:
    """Return one path for each flow, the last first: each covers those below it too.

    They fill a box of WIDTH by HEIGHT; its top is just above the bottleneck's rate.
    """
    flows_bps = per_second(samples, plan.schedule)
    total = np.cumsum([_binned(flows_bps[name].to_numpy()) for name in flows_bps.columns], axis=0)
    x = np.linspace(0, WIDTH, total.shape[1])
    y = HEIGHT * (1 - np.minimum(total / (HEADROOM * max(plan.path.rates_bps)), 1))
    paths = []
    for curve in y[::-1]:
        points = " ".join(f"L{a:.1f} {b:.1f}" for a, b in zip(x, curve, strict=True))
        paths.append(f"M0 {HEIGHT} {points} L{WIDTH} {HEIGHT}Z")
    return tuple(paths)
