"""Drops by flow: data is told from acknowledgements, and every drop is counted."""

from __future__ import annotations

from typing import Any

import pytest

from farpath.base.errors import CheckFailedError
from farpath.mechanisms.dropper.drops_by_flow import FlowDrops, check_flow_drops, flow_drops
from farpath.mechanisms.dropper.mechanism import parse_droppers
from farpath.spec.plan import Plan
from tests.support.plans import with_droppers


def counts(there: int, back: int, others: int = 0) -> dict[str, Any]:
    """What a port dropped of flow 1 and of others."""
    return {"there": {"flow1": there}, "back": {"flow1": back}, "others": others}


def readback(queues: dict[str, Any], losses: dict[str, Any], **drops: int) -> dict[str, Any]:
    """A read-back in which tc says that ports dropped so many packets in all."""
    qdiscs = [{"dev": port, "root": True, "drops": 2 + count} for port, count in drops.items()]
    before = [{**qdisc, "drops": 2} for qdisc in qdiscs]
    after = {"qdiscs": qdiscs, "droppers": [], "flow_drops": {"queues": queues, "losses": losses}}
    return {"before": {"qdiscs": before}, "after": after}


def test_queues_and_losses_are_told_apart_and_summed_over_ports(plan: Plan) -> None:
    queues = {"s1-eth1": counts(3, 1), "s2-eth2": counts(4, 0)}
    text = "every:9 every:7,direction=back"
    data = readback(queues, {"s3-eth1": counts(5, 2)})
    data["after"]["droppers"] = [{"flows": {"flow1": 10}}, {"flows": {"flow1": 100}}]
    drops = flow_drops(data, with_droppers(plan, parse_droppers(text)))
    assert (drops.dropped, drops.lost) == ({"flow1": 7}, {"flow1": 15})


def test_what_was_not_counted_is_not_known(plan: Plan) -> None:
    assert flow_drops({"after": {"droppers": []}}, plan) == FlowDrops()
    assert flow_drops({}, plan) == FlowDrops()
    only_queues = {"after": {"flow_drops": {"queues": {"s2-eth2": counts(3, 1)}}}}
    assert flow_drops(only_queues, plan) == FlowDrops({"flow1": 3}, None)


def test_a_run_fails_if_a_qdisc_dropped_more_or_less_than_was_counted() -> None:
    queues, losses = {"s2": counts(5, 2, others=1)}, {"s1": counts(0, 1)}
    check_flow_drops(readback(queues, losses, s2=8, s1=1))
    for s2, s1 in ((7, 1), (9, 1), (8, 0)):
        with pytest.raises(CheckFailedError, match=r"the qdisc of s\d dropped \d packets, but \d"):
            check_flow_drops(readback(queues, losses, s2=s2, s1=s1))
    check_flow_drops({"after": {}})
