"""Decimation: curves of many samples as few points, without losing a peak or a trough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
#: Most points that are visible within a curve's width, on paper and on a page.
MAX_POINTS = 4000


def min_max_points(
    x: npt.ArrayLike, y: npt.ArrayLike, max_points: int = MAX_POINTS
) -> tuple[Array, Array]:
    """Return the least and the greatest value of each stretch of a curve, in their order.

    NaN is not a value: a stretch of only NaN gives one point. A curve of at most ``max_points`` is
    returned as it is.

    >>> x, y = min_max_points(range(6), [1, 5, 2, 3, 9, 0], 4)
    >>> x.tolist(), y.tolist()
    ([0.0, 1.0, 4.0, 5.0], [1.0, 5.0, 9.0, 0.0])
    """
    positions, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if values.size <= max_points:
        return positions, values
    indices: list[int] = []
    for stretch in np.array_split(np.arange(values.size), max_points // 2):
        defined = stretch[~np.isnan(values[stretch])]
        if defined.size == 0:
            indices.append(int(stretch[0]))
            continue
        ends = {int(defined[values[defined].argmin()]), int(defined[values[defined].argmax()])}
        indices += sorted(ends)
    return positions[indices], values[indices]
