"""Curves of fewer points: extremes stay."""

from __future__ import annotations

import numpy as np

from farpath.report.figures.decimate import min_max_points


def test_a_thinned_curve_keeps_peaks_and_troughs() -> None:
    y = np.sin(np.arange(100_000) / 100.0)
    y[[31_415, 27_182]] = 5.0, -5.0
    x, thin = min_max_points(np.arange(100_000), y, 1000)
    assert thin.size <= 1000
    assert thin[x == 31_415] == [5.0]
    assert thin[x == 27_182] == [-5.0]
    assert (np.diff(x) > 0).all()
    assert min_max_points([0, 1], [float("nan")] * 2, 2)[1].size == 2
    assert np.isnan(min_max_points(range(9), [float("nan")] * 9, 2)[1]).all()
