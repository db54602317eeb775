"""The processor of a host of 2004: its constants, by the measurements that they come from."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.spec.plan import Plan
from farpath.spec.processor import MISS_NS, Processor, ProcessorQueue
from topologies import lay_out

PAYLOAD_BITS = 8 * 1448


def plan_with(era: str, **words: str) -> Plan:
    texts = {"rtt": "20ms", "stack": "reno_2004", "schedule": "together", "era": era}
    return RunRequest(**{**texts, **words}).plan()


def busy(processor: Processor, rate_bps: float) -> float:
    """The part of its time that a processor sends for, with an ACK for two packets."""
    return 1.5 * rate_bps / PAYLOAD_BITS * processor.packet_ns / 1e9


def test_both_published_hosts_are_as_busy_as_they_were() -> None:
    xeon, pentium = busy(Processor(2.8e9), 916e6), busy(Processor(1.2e9), 980e6)
    print(f"Xeon {xeon:.2f}, published 0.43; Pentium III {pentium:.2f}, published 0.95")
    assert xeon == pytest.approx(0.43, abs=0.005)
    # Not calibrated on: a processor that has no time left
    assert pentium == pytest.approx(0.95, rel=0.15)


def test_a_line_of_memory_takes_what_a_longer_path_cost_a_user() -> None:
    seconds_more = PAYLOAD_BITS / 770e6 - PAYLOAD_BITS / 960e6
    lines = (1448 + 52) / 64
    assert seconds_more / lines * 1e9 == pytest.approx(MISS_NS, rel=0.05)


def test_other_programs_take_their_share_unless_there_are_processors_for_all() -> None:
    alone = Processor(2.8e9)
    assert Processor(2.8e9, load=1).packet_ns == 2 * alone.packet_ns
    assert Processor(2.8e9, load=1).walk_ns == 2 * alone.walk_ns
    assert Processor(2.8e9, load=1, processors=2).packet_ns == alone.packet_ns
    assert Processor(2.8e9, load=3, processors=2).packet_ns == 2 * alone.packet_ns


def test_the_queue_stands_at_the_port_that_leads_to_each_sending_host() -> None:
    for words in ({}, {"senders": "rtt=40ms", "stack": "2xreno_2004"}):
        layout = lay_out(plan_with("2004:cpu=2.8GHz", **words))
        queues = [port.name for port in layout.ports if port.queue == ProcessorQueue()]
        senders = [host for host in layout.hosts if host.startswith("sender")]
        assert queues == [layout.peer(host).name for host in senders]
    parking_lot = lay_out(plan_with("2004:cpu=2.8GHz", topology="parking-lot:2"))
    assert sum(port.queue == ProcessorQueue() for port in parking_lot.ports) == 3


def test_without_a_processor_a_plan_is_what_it_was() -> None:
    plan = plan_with("2004")
    assert plan.era.processor is None
    assert Plan.from_dict(plan.as_dict()) == plan
    with_it = plan_with("2004:cpu=2.8GHz")
    assert Plan.from_dict(with_it.as_dict()) == with_it
    assert plan_identity(with_it) != plan_identity(plan)
    same = dataclasses.replace(with_it, era=dataclasses.replace(with_it.era, processor=None))
    assert plan_identity(same) == plan_identity(plan)


def test_a_port_that_has_another_queue_is_told() -> None:
    assert ProcessorQueue().differences({"kind": "processor"}) == []
    assert ProcessorQueue().differences({"kind": "noqueue"}) == ["kind is noqueue, not processor"]
