"""Delta debugging: what it leaves fails, and fails no longer without any one item."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from farpath.runs.search.ddmin import ddmin, split

SIZES = st.integers(0, 12)


class Predicate:
    """A predicate over parts of a list that fails as a whole; it counts its calls."""

    def __init__(self, size: int) -> None:
        self.whole = tuple(range(size))
        self.calls: Counter[tuple[int, ...]] = Counter()

    def says(self, part: tuple[int, ...]) -> bool:
        raise NotImplementedError

    def __call__(self, part: tuple[int, ...]) -> bool:
        self.calls[part] += 1
        return self.says(part)


class Needs(Predicate):
    """A part fails if it has all items that a failure needs."""

    def __init__(self, size: int, needed: set[int]) -> None:
        super().__init__(size)
        self.needed = needed

    def says(self, part: tuple[int, ...]) -> bool:
        return self.needed <= set(part)


class Arbitrary(Predicate):
    """Whether a part fails follows from nothing but a seed."""

    def __init__(self, size: int, seed: int, chance: float) -> None:
        super().__init__(size)
        self.seed, self.chance = seed, chance

    def says(self, part: tuple[int, ...]) -> bool:
        return part == self.whole or Random(f"{self.seed} {part}").random() < self.chance


def without_one(part: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [part[:index] + part[index + 1 :] for index in range(len(part))]


@given(st.data())
def test_a_failure_that_needs_some_items_keeps_these_alone(data: st.DataObject) -> None:
    size = data.draw(SIZES)
    needed = data.draw(st.sets(st.integers(0, size - 1))) if size else set()
    assert ddmin(range(size), Needs(size, needed)) == tuple(sorted(needed))


@given(SIZES, st.integers(0, 1 << 30), st.floats(0, 1))
def test_whatever_parts_fail_the_result_fails_and_not_without_any_one_item(
    size: int, seed: int, chance: float
) -> None:
    predicate = Arbitrary(size, seed, chance)
    found = ddmin(range(size), predicate)
    assert predicate.says(found)
    assert list(found) == sorted(found)
    if found:
        assert not any(map(predicate.says, without_one(found)))
    assert predicate.calls.total() <= size * size + 3 * size + 1
    assert set(predicate.calls.values()) <= {1}
    assert predicate.whole not in predicate.calls or not size


def test_a_list_that_fails_without_any_item_is_tested_once() -> None:
    predicate = Arbitrary(5, 1, 1.0)
    assert ddmin(range(5), predicate) == ()
    assert list(predicate.calls) == [()]


@given(st.integers(1, 40), st.data())
def test_a_split_has_every_item_once_in_parts_of_almost_one_size(
    size: int, data: st.DataObject
) -> None:
    number = data.draw(st.integers(1, size))
    parts = split(range(size), number)
    assert [item for part in parts for item in part] == list(range(size))
    sizes = [len(part) for part in parts]
    assert len(parts) == number
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) > 0
