"""The processor of a host of 2004: what it has no time for waits, and is lost where it cannot."""

from __future__ import annotations

import pytest

from farpath.metrics.run import per_second
from farpath.planning.request import RunRequest
from farpath.record.record import Record
from farpath.spec.bus import Bus
from farpath.spec.plan import Plan
from tests.lab.conftest import RunPlan

#: As sent, with the headers of a segment of 1448 bytes.
PAYLOAD_BITS = 8 * 1448


def gigabit(era: str) -> Plan:
    """A run without losses at the card's rate, on a short path."""
    return RunRequest(
        rtt="1ms", rate="2Gbit", buffer="1MB", stack="reno_2004", schedule="together",
        region="5s", era=era,
    ).plan()  # fmt: skip


def long_path(stack: str, era: str) -> Plan:
    """A run that loses one packet of a window of 2700."""
    return RunRequest(
        rtt="100ms", rate="500Mbit", buffer="6MB", window="4MB", stack=stack, schedule="together",
        region="15s", drop="at:8s", trace="10ms", era=era,
    ).plan()  # fmt: skip


def mean_bps(record: Record) -> float:
    """The mean after slow start."""
    return float(per_second(record.samples, record.plan.schedule)["flow1"].iloc[2:].mean())


@pytest.mark.parametrize("mmrbc", [512, 4096])
def test_a_bus_carries_jumbo_frames_at_its_rate(run_plan: RunPlan, mmrbc: int) -> None:
    record = run_plan(
        RunRequest(
            rtt="4ms", rate="10Gbit", buffer="20MB", mtu="9000", stack="reno_2004",
            schedule="together", region="5s", era=f"2004:card=10Gbit,bus=133MHz,mmrbc={mmrbc}",
        ).plan()
    )  # fmt: skip
    stated_bps = Bus("133MHz", mmrbc).rate_bps(9014) * 8948 / 9014
    last_bps = float(per_second(record.samples, record.plan.schedule)["flow1"].iloc[-1])
    print(f"mmrbc {mmrbc}: {last_bps / 1e9:.3f} Gbit/s, stated {stated_bps / 1e9:.3f}")
    assert last_bps == pytest.approx(stated_bps, rel=0.005)


def dropped_by_the_host(record: Record) -> int:
    qdiscs = record.data["readback"]["after"]["qdiscs"]
    (queue,) = [qdisc for qdisc in qdiscs if qdisc["kind"] == "processor"]
    return int(queue["drops"])


def test_the_measured_xeon_fills_its_card(run_plan: RunPlan) -> None:
    without, with_it = run_plan(gigabit("2004")), run_plan(gigabit("2004:cpu=2.8GHz"))
    print(f"{mean_bps(without) / 1e6:.1f} and {mean_bps(with_it) / 1e6:.1f} Mbit/s")
    assert mean_bps(with_it) == pytest.approx(mean_bps(without), rel=0.02)
    assert dropped_by_the_host(with_it) == 0


def test_a_processor_without_time_sends_what_it_has_time_for(run_once: RunPlan) -> None:
    plan = gigabit("2004:cpu=1.2GHz,load=2")
    record = run_once(plan)
    assert plan.era.processor is not None
    packet_s = plan.era.processor.packet_ns / 1e9
    # Of the ACKs, one for two packets, those that find the queue full take no time
    most_bps, least_bps = PAYLOAD_BITS / packet_s, PAYLOAD_BITS / packet_s / 1.5
    print(f"{least_bps / 1e6:.0f} <= {mean_bps(record) / 1e6:.0f} <= {most_bps / 1e6:.0f} Mbit/s")
    assert least_bps <= mean_bps(record) <= most_bps
    assert dropped_by_the_host(record) > 0


def recovery_is_longer_ms(run_once: RunPlan, stack: str, era: str) -> float:
    """By how much ACKs wait longer after a loss than on hosts without a processor."""
    longest_ms = []
    for hosts in ("2004", era):
        record = run_once(long_path(stack, hosts))
        # Where ACKs wait longer than the RTO, the packet is sent once more
        assert record.samples.flows["retransmits"].sum() in (1, 2 if "cpu" in hosts else 1)
        assert record.trace is not None
        recovery = record.trace[record.trace["t_s"].between(8, 9)]
        longest_ms.append(recovery["rtt_us"].max() / 1e3)
    longer_ms = float(longest_ms[1] - longest_ms[0])
    print(f"{stack}, {era}: {longer_ms:.1f} ms longer")
    return longer_ms


def test_a_loss_in_a_large_window_makes_acks_wait_unless_walks_are_remembered(
    run_once: RunPlan,
) -> None:
    # 2700 ACKs walk along half of as many packets thrice on the mean, which is 1.4 s of work;
    # a queue of 300 holds 0.3 s of it
    assert recovery_is_longer_ms(run_once, "reno_2004", "2004:cpu=2.8GHz") > 100
    assert recovery_is_longer_ms(run_once, "scalable_2004", "2004:cpu=2.8GHz") < 1


def test_walks_may_be_remembered_by_any_stack_or_by_none(run_once: RunPlan) -> None:
    assert recovery_is_longer_ms(run_once, "reno_2004", "2004:cpu=2.8GHz,hints=all") < 10
    assert recovery_is_longer_ms(run_once, "scalable_2004", "2004:cpu=2.8GHz,hints=none") > 100


def test_a_queue_that_throttles_loses_the_acks_of_a_whole_window(run_once: RunPlan) -> None:
    records = [run_once(gigabit(f"2004:cpu=1.2GHz,load=2{word}")) for word in ("", ",throttle=yes")]
    print([f"{mean_bps(record) / 1e6:.0f} Mbit/s" for record in records])
    # Without it an ACK comes through for each that is done; with it 300 are done between two
    assert mean_bps(records[1]) < mean_bps(records[0])
    assert all(dropped_by_the_host(record) > 0 for record in records)


def test_a_processor_is_the_same_every_time(run_once: RunPlan, run_plan: RunPlan) -> None:
    plan = gigabit("2004:cpu=1.2GHz,load=2")
    assert run_plan(plan).fingerprint == run_once(plan).fingerprint


def test_the_module_has_what_the_plan_says(run_plan: RunPlan) -> None:
    era = "2004:cpu=2.8GHz,load=1,processors=1"
    record = run_plan(RunRequest(rtt="1ms", rate="10Mbit", time="5s", era=era).plan())
    assert record.data["readback"]["before"]["processor"] == {
        "packet_ns": "7250", "walk_ns": "248", "segment_bytes": "1448", "backlog_packets": "300",
        "throttle": "N",
    }  # fmt: skip
