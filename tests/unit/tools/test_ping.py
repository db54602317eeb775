"""ping: its lines, captured in the lab, and an end that is missing."""

from __future__ import annotations

import pytest

from farpath.base.errors import LabFailedError
from farpath.tools import ping
from tests.support.data import captured


def test_pings_are_read_with_time_number_and_rtt() -> None:
    pings = ping.parse(captured("ping/replies.txt"))
    assert pings.sent == 5
    assert pings.lost == ()
    assert pings.replies[0] == ping.Reply(1_100_000_000.250421, 1, 164.014)


def test_pings_without_an_answer_are_lost_and_duplicates_count_once() -> None:
    pings = ping.parse(
        "[10.5] 64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=164 ms\n"
        "[10.6] 64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=200 ms (DUP!)\n"
        "From 10.0.0.9 icmp_seq=3 Destination Host Unreachable\n"
        "3 packets transmitted, 1 received, +1 duplicates, 66% packet loss, time 2000ms\n"
    )
    assert pings.lost == (1, 3)
    assert [reply.rtt_ms for reply in pings.replies] == [164.0]


def test_a_ping_that_did_not_end_is_a_failed_lab() -> None:
    with pytest.raises(LabFailedError, match="ended before it printed its statistics"):
        ping.parse("PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n")


def test_where_many_are_lost_ping_waits_as_long_as_it_is_told() -> None:
    assert ping.arguments("10.0.0.1", 0.2, 26, 0.5)[-3:] == ["-W", "0.5", "10.0.0.1"]
    assert "-W" not in ping.arguments("10.0.0.1", 0.2, 5)
