"""Delta debugging: a smallest part of a list that still fails, by tests of other parts.

Source: Zeller, Hildebrandt: *Simplifying and Isolating Failure-Inducing Input*, IEEE Transactions
on Software Engineering 28(2), 2002, figure 7 (ddmin) and propositions 11 and 12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def ddmin(items: Sequence[T], fails: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """Return a part of a list that fails, and that fails no longer without any one of its items.

    ``items``: a list that fails; its order stays. ``fails``: tests a part, the empty one first. No
    part is tested twice, nor is the whole list. The result is 1-minimal: a smaller part with fewer
    than all but one of its items may fail as well. There are at most n^2 + 3n tests of n items.
    """
    known: dict[tuple[int, ...], bool] = {}

    def test(part: tuple[int, ...]) -> bool:
        if part not in known:
            known[part] = fails(tuple(items[index] for index in part))
        return known[part]

    found = tuple(range(len(items)))
    known[found] = True
    if test(()):
        return ()
    parts = 2
    while len(found) > 1:
        subsets = split(found, parts)
        complements = [tuple(index for index in found if index not in one) for one in subsets]
        if smaller := next(filter(test, subsets), None):
            found, parts = smaller, 2
        elif smaller := next(filter(test, complements), None):
            found, parts = smaller, max(parts - 1, 2)
        elif parts < len(found):
            parts = min(2 * parts, len(found))
        else:
            break
    return tuple(items[index] for index in found)


def split(items: Sequence[T], parts: int) -> list[tuple[T, ...]]:
    """Divide a list into so many parts, of which none is empty if there are as many items.

    >>> split((1, 2, 3, 4, 5), 2)
    [(1, 2), (3, 4, 5)]
    """
    ends = [len(items) * number // parts for number in range(parts + 1)]
    return [tuple(items[low:high]) for low, high in pairwise(ends)]
