"""Settings that tell runs apart."""

from __future__ import annotations

from farpath.metrics.run_settings import further_settings
from tests.support.record_sets import member, record_set


def test_what_else_tells_runs_apart_is_said_of_each() -> None:
    more = further_settings(
        record_set(
            member("usual"),
            member("sack", sysctl="net.ipv4.tcp_sack=0"),
            member("old", era="2004", stack="reno", mtu="9000", window="16MiB"),
            member("drop", drop="every:1000", ip="6", reverse="reno"),
        )
    )
    assert more["usual"] == ""
    assert more["sack"] == "net.ipv4.tcp_sack=0"
    assert more["old"].startswith("MTU 9000, window 16.78 MB, era 2004")
    assert "queue" not in more["old"]
    assert more["drop"] == "path custom-reverse-ipv6-dropping, drop every:1000, reverse reno, IPv6"


def test_a_queue_that_drops_at_its_tail_is_named_beside_active_ones() -> None:
    more = further_settings(record_set(member("plain"), member("active", queue="codel")))
    assert more == {"plain": "queue droptail", "active": "queue codel"}
