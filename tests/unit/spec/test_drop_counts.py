"""Drops are counted wherever that cannot move a packet."""

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
        ({"stack": "cubic+bbr", "loss": "1e-3"}, ["queues"]),
        ({"stack": "bbr", "reverse": "reno"}, ["losses"]),
        ({"stack": "bbr", "rtt": "1ms"}, ["losses"]),
        ({"stack": "cubic", "queue": "codel", "loss": "1e-3"}, []),
    ],
    ids=str,
)
def test_senders_that_draw_random_numbers_have_no_module_beside_them(
    words: dict[str, str], kinds: list[str]
) -> None:
    plan = RunRequest(**{"rtt": "50ms", "time": "5s", **words}).plan()
    assert list(counted_ports(plan, lay_out(plan))) == kinds
