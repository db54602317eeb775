"""The stacks are the real ones: what their laws say can be seen in the samples."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.metrics.flow import flow_samples, payload_bytes
from farpath.programs.catalog import catalogue
from farpath.programs.iperf3.program import MAINLINE, OURS
from tests.support.paths import LONG, SHORT

from .conftest import RunPlan, single_flow, together


def test_every_kernel_stack_runs_in_one_lab_with_the_defaults_that_are_listed(
    run_plan: RunPlan,
) -> None:
    # Every flow's congestion control is asked of its kernel by the run's own checks.
    # A variant of a stack is the same module, with parameters for all of its flows.
    stacks = [
        entry
        for entry in catalogue().values()
        if entry.kind in (MAINLINE, OURS) and not entry.variant_of
    ]
    path = dataclasses.replace(SHORT, loss=0.0)
    record = run_plan(together([entry.name for entry in stacks], 3.0, path))
    carried = record.samples.flows.groupby("flow")["throughput_bps"].sum()
    assert len(carried) == len(stacks)
    assert (carried > 1e5).all()
    parameters = record.data["readback"]["before"]["parameters"]
    for entry in stacks:
        listed = {name: parameter.default for name, parameter in entry.parameters.items()}
        assert listed.items() <= parameters.get(entry.name, {}).items(), entry.name


def test_parameters_given_are_the_kernels_and_in_the_record(run_plan: RunPlan) -> None:
    texts = ["bic:beta=900,max_increment=32", "fast:alpha=50"]
    record = run_plan(together(texts, 2.0, dataclasses.replace(SHORT, loss=0.0)))
    assert [stack.label for stack in record.plan.stacks] == texts
    for stack in record.plan.stacks:
        parameters = record.data["readback"]["after"]["parameters"][stack.label]
        assert stack.parameters.items() <= parameters.items()


@pytest.mark.nightly
def test_hosts_of_2004_begin_with_three_packets_behind_a_gigabit_card(run_plan: RunPlan) -> None:
    path = dataclasses.replace(LONG, loss=0.0)
    record = run_plan(single_flow("reno", 3.0, path, era="2004"))
    after = record.data["readback"]["after"]
    assert record.plan.stacks[0].congestion == "reno_2004"
    assert after["routes"]["sender"][0]["metrics"] == [{"initcwnd": 3}]
    card = next(q for q in after["qdiscs"] if q["dev"] == "sender-eth0")
    assert card["options"]["rate"]["rate"] * 8 == 1_000_000_000
    assert after["settings"]["receiver"]["net.ipv4.tcp_frto"] == "0"


@pytest.mark.nightly
def test_a_cached_threshold_ends_slow_start(run_plan: RunPlan) -> None:
    path = dataclasses.replace(LONG, loss=0.0)
    record = run_plan(single_flow("reno_2004:initial_ssthresh=50", 3.0, path, era="2004"))
    packets = flow_samples(record)["cwnd_bytes"] / payload_bytes(path, 4)
    seconds = len(packets) - 1
    rounds = seconds / (path.rtt_ms / 1e3)
    print(f"{packets.tolist()} packets, {rounds:.1f} round trips from the first to the last")
    assert 50 <= packets.iloc[0] <= 50 + rounds / seconds
    # A packet in one round trip or in two: the receiver acknowledges every packet while the window
    # that it offers still grows (tcp_grow_window in net/ipv4/tcp_input.c), then every second one
    assert rounds / 2 <= packets.iloc[-1] - packets.iloc[0] <= rounds


@pytest.mark.nightly
def test_a_short_card_queue_drops_what_slow_start_sends_and_a_long_one_does_not(
    run_plan: RunPlan,
) -> None:
    # Slow start sends at up to twice the bottleneck's 800 Mbit/s into 1 Gbit/s; the
    # card holds what is over: up to a fifth of a window of 900 packets.
    path = dataclasses.replace(SHORT, loss=0.0, buffer_bytes=50_000_000)
    drops = {}
    for packets in (20, 10_000):
        record = run_plan(single_flow("reno", 3.0, path, era=f"2004:txqueuelen={packets},ring=0"))
        after = record.data["readback"]["after"]
        drops[packets] = next(q["drops"] for q in after["qdiscs"] if q["dev"] == "sender-eth0")
    print(f"packets dropped at the card, by its queue: {drops}")
    assert drops[20] > 0
    assert drops[10_000] == 0


@pytest.mark.parametrize("clock", ["cpu", "wall"])
def test_the_other_clocks_run_the_same_lab(run_plan: RunPlan, clock: str) -> None:
    path = dataclasses.replace(SHORT, loss=0.0, rate_bps=50_000_000)
    record = run_plan(single_flow("cubic", 3.0, path, clock=clock, receiver_discards=False))
    assert record.plan.settings.clock == clock
    assert record.samples.flows["throughput_bps"].sum() > 1e6
