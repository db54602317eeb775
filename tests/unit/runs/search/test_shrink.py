"""Shrinking of a schedule: durations are halved as long as the run fails."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from farpath.runs.search.shrink import halved, shorter
from farpath.spec.services import Fault

LONG = Fault("partition", ("eu", "us"), 12.0, 8.0)


@given(
    st.lists(st.integers(1, 20_000), min_size=1, max_size=5),
    st.lists(st.integers(1, 20_000), min_size=5, max_size=5),
    st.integers(0, 30),
)
def test_each_duration_is_the_last_half_that_fails_and_tests_are_bounded(
    lasting_ms: list[int], needed_ms: list[int], most: int
) -> None:
    faults = tuple(Fault("stop", (f"s{n}",), 1.0, ms / 1e3) for n, ms in enumerate(lasting_ms))
    needed_s = {f"s{n}": min(need, ms) / 1e3 for n, (need, ms) in enumerate(
        zip(needed_ms, lasting_ms, strict=False)
    )}  # fmt: skip
    calls = []

    def fails(tried: tuple[Fault, ...]) -> bool:
        calls.append(tried)
        return all((fault.lasts_s or 0.0) >= needed_s[fault.of[0]] for fault in tried)

    found = shorter(faults, fails, most)
    assert fails(found)
    assert len(calls) <= most + 1
    if len(calls) <= most:
        for index, fault in enumerate(found):
            half = halved(fault)
            assert half is None or not fails((*found[:index], half, *found[index + 1 :]))


def test_a_fault_for_the_rest_of_the_run_and_one_of_a_millisecond_have_no_half() -> None:
    assert halved(Fault("kill", ("db",), 3.0)) is None
    assert halved(Fault("loss", ("eu", "us"), 3.0, None, value=0.1)) is None
    assert halved(Fault("stop", ("db",), 3.0, 0.001)) is None
    half = halved(LONG)
    assert half is not None
    assert half.lasts_s == 4.0
