"""Thinning: curves of many samples as few points, without losing a peak or a trough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def min_max_points(x: npt.ArrayLike, y: npt.ArrayLike, most_points: int) -> tuple[Array, Array]:
    """Of each stretch of a curve its least and its greatest value, in their order.

    NaN is no value: a stretch of nothing else gives one. A curve of at most
    ``most_points`` stays as it is.

    >>> x, y = min_max_points(range(6), [1, 5, 2, 3, 9, 0], 4)
    >>> x.tolist(), y.tolist()
    ([0.0, 1.0, 4.0, 5.0], [1.0, 5.0, 9.0, 0.0])
    """
    at, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if values.size <= most_points:
        return at, values
    kept: list[int] = []
    for stretch in np.array_split(np.arange(values.size), most_points // 2):
        known = stretch[~np.isnan(values[stretch])]
        if known.size == 0:
            kept.append(int(stretch[0]))
            continue
        ends = {int(known[values[known].argmin()]), int(known[values[known].argmax()])}
        kept += sorted(ends)
    return at[kept], values[kept]
