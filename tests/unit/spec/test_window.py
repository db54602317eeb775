"""Windows: what a receive buffer offers, and when a receiver wakes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from farpath.spec.settings import Settings
from farpath.spec.window import offered_window_bytes, receive_buffer_bytes, window_of
from tests.support.plans import network_plan


def test_with_mixed_mtus_each_flow_is_offered_the_window_or_more() -> None:
    plan = network_plan(mtu="9000", senders="mtu=1500")
    large, small = (window_of(plan, flow) for flow in plan.schedule.flows)
    assert small == plan.path.window_bytes
    assert 1.3 * small < large < 1.5 * small


@given(
    window_bytes=st.integers(65_536, 1 << 29),
    mtu_bytes=st.integers(576, 9000),
    ip_version=st.sampled_from([4, 6]),
)
def test_a_receive_buffer_gives_the_window_that_it_is_for(
    window_bytes: int, mtu_bytes: int, ip_version: int
) -> None:
    buffer_bytes = receive_buffer_bytes(window_bytes, mtu_bytes, ip_version)
    offered = offered_window_bytes(buffer_bytes, mtu_bytes, ip_version)
    assert window_bytes <= offered <= window_bytes + 1


def test_packets_that_a_receiver_expects_at_first_get_half_of_its_buffer() -> None:
    assert receive_buffer_bytes(1_000_000, 588) == 2_000_000
    assert receive_buffer_bytes(1_000_000, 589) > 2_000_000


def test_a_receiver_wakes_several_times_in_a_small_window_too() -> None:
    assert network_plan().settings.wake_bytes == Settings.wake_bytes
    assert network_plan(window="65536").settings.wake_bytes == 8_192
