"""Read-back of several sites as one."""

from __future__ import annotations

from farpath.record.readback import merged


def test_the_read_back_of_one_site_stays_as_it_is() -> None:
    part = {"before": {"links": [1], "dropped_between_ports": 0}, "after": {}}
    assert merged([part]) == part


def test_hosts_and_ports_are_joined_and_counts_added() -> None:
    near = {
        "links": ["s1-eth1"],
        "settings": {"": {"net.a": "1"}, "sender": {"net.b": "2"}},
        "dropped_between_ports": 0,
        "background_bytes": 10,
        "parameters": {"htcp": {"variant": "1"}},
        "droppers": [{"dropper": "every:10", "seen": 0, "lost": 0, "flows": {"flow1": 0}}],
    }
    far = {
        "links": ["s2-eth1"],
        "settings": {"": {"net.a": "1"}, "receiver": {"net.b": "3"}},
        "dropped_between_ports": 2,
        "background_bytes": 0,
        "parameters": {"htcp": {"variant": "1"}},
        "droppers": [{"dropper": "every:10", "seen": 50, "lost": 5, "flows": {"flow1": 5}}],
    }
    assert merged([near, far]) == {
        "links": ["s1-eth1", "s2-eth1"],
        "settings": {"": {"net.a": "1"}, "sender": {"net.b": "2"}, "receiver": {"net.b": "3"}},
        "dropped_between_ports": 2,
        "background_bytes": 10,
        "parameters": {"htcp": {"variant": "1"}},
        "droppers": [{"dropper": "every:10", "seen": 50, "lost": 5, "flows": {"flow1": 5}}],
    }
