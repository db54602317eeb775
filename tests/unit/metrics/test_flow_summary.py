"""What each flow got, by hand."""

from __future__ import annotations

import dataclasses

import pytest

from farpath.mechanisms.dropper.drops_by_flow import FlowDrops
from farpath.metrics.flow_summary import flow_summaries, spurious_of
from farpath.planning.request import RunRequest
from farpath.record.record import Samples, typed_frame
from farpath.report.overview import flows_table
from farpath.spec.plan import Plan


def test_each_flow_has_what_it_got_by_hand(samples: Samples, plan: Plan) -> None:
    first, second = flow_summaries(samples, plan)
    assert (first.flow, first.stack, first.start_s, first.stop_s) == ("flow1", "htcp", 0, 40)
    # 10 s alone at 400 Mbit/s, 30 s beside another at 200.
    assert first.throughput_bps == pytest.approx(250e6)
    # The 8 Mbit that arrive after its end are the flow's, but not of the time it sends.
    assert second.throughput_bps == pytest.approx(200e6)
    assert first.share == pytest.approx(10_000 / (10_000 + 6_008))
    assert (first.retransmits, second.retransmits) == (20, 15)
    assert first.smoothed_rtt_median_ms == pytest.approx(164.0195)
    assert first.smoothed_rtt_p99_ms == pytest.approx(164.03861)


def test_shares_are_of_one_direction_and_add_up() -> None:
    plan = RunRequest(
        rtt="50ms", stack="reno+bbr", schedule="together", region="10s", reverse="cubic"
    ).plan()
    rows = [
        (flow.name, second + 1.0, 1.0, 10e6 * number, 10e6 * number, 0, 10**6, 10**7, 50_000)
        for number, flow in enumerate(plan.schedule.all_flows, 1)
        for second in range(10)
    ]
    samples = Samples(typed_frame("flows", rows), typed_frame("ping", []), typed_frame("queue", []))
    flows = flow_summaries(samples, plan)
    assert [flow.stack for flow in flows] == ["reno", "bbr", "cubic"]
    assert [flow.share for flow in flows] == [pytest.approx(1 / 3), pytest.approx(2 / 3), None]
    assert flows[2].throughput_bps == pytest.approx(30e6)


def test_a_flow_of_a_number_of_bytes_has_its_time_and_the_rate_over_that(
    samples: Samples, plan: Plan
) -> None:
    plan = dataclasses.replace(plan, transfer_bytes=100_000_000)
    first, second = flow_summaries(samples, plan, {"flow1": 4.0, "flow2": None})
    assert (first.completion_s, first.throughput_bps) == (4.0, 200e6)
    assert second.completion_s is None
    assert second.throughput_bps == pytest.approx(200e6)


def test_drops_are_those_of_each_flow_and_unknown_where_they_were_not_counted(
    samples: Samples, plan: Plan
) -> None:
    drops = FlowDrops(dropped={"flow1": 12, "flow2": 0}, lost={"flow1": 3})
    flows = flow_summaries(samples, plan, drops=drops)
    assert [(flow.drops, flow.lost) for flow in flows] == [(12, 3), (0, 0)]
    header = flows_table(flows).header
    assert header[header.index("retransmits") + 1 :][:3] == ("drops", "lost", "spurious")
    # 20 and 15 packets sent again
    assert [flow.spurious for flow in flows] == [5, 15]
    without = flow_summaries(samples, plan)
    assert [(flow.drops, flow.lost) for flow in without] == [(None, None)] * 2
    assert [flow.spurious for flow in without] == [None, None]
    assert (spurious_of(flows), spurious_of(without)) == (20, None)
    assert not {"drops", "lost", "spurious"} & set(flows_table(without).header)


def test_what_a_transport_of_its_own_sends_again_is_no_retransmission_of_tcp(
    samples: Samples, plan: Plan
) -> None:
    udt = dataclasses.replace(plan.stacks[0], program="udtperf", congestion="")
    flows = flow_summaries(samples, dataclasses.replace(plan, stacks=(udt,)))
    assert [(flow.retransmits, flow.resent) for flow in flows] == [(None, 20), (None, 15)]
    table = flows_table(flows)
    assert [row[table.header.index("retransmits")] for row in table.lines] == ["-", "-"]
    assert [row[table.header.index("resent")] for row in table.lines] == ["20", "15"]


def test_what_a_program_does_not_tell_is_not_made_up(samples: Samples, plan: Plan) -> None:
    silent = dataclasses.replace(
        samples, flows=samples.flows.assign(retransmits=0, rtt_us=0, cwnd_bytes=0)
    )
    program = dataclasses.replace(plan.stacks[0], program="image")
    first, _ = flow_summaries(silent, dataclasses.replace(plan, stacks=(program,)))
    assert (first.retransmits, first.smoothed_rtt_median_ms, first.smoothed_rtt_p99_ms) == (
        None,
        None,
        None,
    )
    assert flow_summaries(silent, plan)[0].retransmits == 0  # TCP counts them
