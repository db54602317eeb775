"""Drops are counted by flow at all queues and losses of a path."""

from __future__ import annotations

import pytest

from farpath.planning.request import RunRequest
from farpath.spec.drop_counts import counted_ports
from topologies import lay_out


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ({"stack": "cubic", "loss": "1e-3", "reverse": "reno"}, ["queues", "losses"]),
        ({"stack": "cubic+bbr"}, ["queues", "losses"]),
        ({"stack": "bbr", "rtt": "1ms"}, ["queues", "losses"]),
        ({"stack": "cubic", "queue": "codel", "loss": "1e-3"}, []),
    ],
    ids=str,
)
def test_an_active_queue_drops_where_nothing_can_be_counted(
    words: dict[str, str], kinds: list[str]
) -> None:
    plan = RunRequest(**{"rtt": "50ms", "time": "5s", **words}).plan()
    assert list(counted_ports(plan, lay_out(plan))) == kinds
