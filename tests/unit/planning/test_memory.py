"""What a guest may need of memory: by hand, and what is refused before it boots."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.planning import memory
from farpath.planning.memory import (
    FLOW_BYTES,
    GUEST_BASE_BYTES,
    GUEST_BYTES_PER_WINDOW_BYTE,
    GUEST_OWN_BYTES,
    SAMPLE_BYTES,
)
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from tests.support.plans import network_plan

#: 1 Gbit/s for 100 ms: 12.5 MB on the way, as much in the buffer, windows of three times that.
ON_THE_WAY_BYTES = 12_500_000
WINDOW_BYTES = 3 * ON_THE_WAY_BYTES


def _plan(**words: str) -> Plan:
    options = {"rate": "1Gbit", "rtt": "100ms", "schedule": "together", "region": "10s"} | words
    return RunRequest(**options).plan()


def test_few_flows_are_counted_by_their_windows() -> None:
    assert memory.in_flight_bytes(_plan(stack="reno")) == WINDOW_BYTES
    assert memory.in_flight_bytes(_plan(stack="8xreno")) == 8 * WINDOW_BYTES
    expected_bytes = GUEST_BASE_BYTES + 4 * 8 * WINDOW_BYTES
    assert _plan(stack="8xreno").settings.memory_bytes == expected_bytes


def test_many_flows_hold_no_more_than_their_path() -> None:
    assert memory.in_flight_bytes(_plan(stack="100xreno")) == 8 * WINDOW_BYTES


def test_small_windows_leave_four_times_what_the_path_holds() -> None:
    many = _plan(stack="100xreno", window="5MB")
    assert memory.in_flight_bytes(many) == 4 * 2 * ON_THE_WAY_BYTES
    assert memory.in_flight_bytes(_plan(stack="100xreno", window="100kB")) == 100 * 100_000


def test_the_other_direction_and_a_farther_sender_have_room_of_their_own() -> None:
    words = {"stack": "50xreno", "window": "30MB"}
    one = memory.in_flight_bytes(_plan(**words, buffer="37.5MB"))
    assert one == 8 * 30_000_000
    both = memory.in_flight_bytes(_plan(**words, buffer="37.5MB", reverse="50xreno"))
    assert both == 4 * 2 * (ON_THE_WAY_BYTES + 37_500_000)
    far = memory.in_flight_bytes(_plan(**words, buffer="37.5MB", senders="rtt=300ms"))
    assert far == 4 * (3 * ON_THE_WAY_BYTES + 37_500_000)


def test_programs_with_buffers_of_their_own_are_counted_by_windows() -> None:
    assert memory.in_flight_bytes(_plan(stack="100xudt")) == 100 * WINDOW_BYTES


def test_programs_and_samples_of_many_flows_count() -> None:
    small, long = (
        _plan(stack="100xreno", window="100kB", region=region) for region in ("10s", "600s")
    )
    own_bytes = GUEST_OWN_BYTES + 100 * FLOW_BYTES + 100 * 10 * SAMPLE_BYTES
    assert small.settings.memory_bytes == own_bytes + 4 * 100 * 100_000
    more_bytes = long.settings.memory_bytes - small.settings.memory_bytes
    assert more_bytes == 100 * 590 * SAMPLE_BYTES


def test_more_samples_than_a_guest_can_keep_are_refused_with_what_to_change() -> None:
    with pytest.raises(BadInputError, match=r"4,040,000 samples of 100 flows.*shorter region"):
        _plan(stack="100xreno", schedule="joining", region="800s")


def test_memory_is_for_every_flow_of_both_directions() -> None:
    one, more = network_plan(), network_plan(stack="3xreno", reverse="2xreno")
    window_bytes = GUEST_BYTES_PER_WINDOW_BYTE * one.path.window_bytes
    assert one.settings.memory_bytes == GUEST_BASE_BYTES + window_bytes
    assert more.settings.memory_bytes == GUEST_BASE_BYTES + 5 * window_bytes
