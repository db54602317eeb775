"""What a run says of itself: each flow, the whole run, each region, and the paper's tables."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path as FilePath

import pytest

from farpath.planning.request import RunRequest
from farpath.record.record import Record, Samples, typed_frame
from farpath.report.flow_summary import flow_summaries
from farpath.report.overview import metrics_of, overview
from farpath.report.tables.regions import TextTable
from farpath.spec.plan import Plan
from tests.unit.campaigns import write_seven_regions


def _grids(record: Record) -> dict[str, TextTable]:
    return {grid.title: grid for grid in overview(record)}


def test_each_flow_has_what_it_got_by_hand(samples: Samples, plan: Plan) -> None:
    first, second = flow_summaries(samples, plan)
    assert (first.flow, first.stack, first.start_s, first.stop_s) == ("flow1", "htcp", 0, 40)
    # 10 s alone at 400 Mbit/s, 30 s beside another at 200.
    assert first.throughput_bps == pytest.approx(250e6)
    # The 8 Mbit that arrive after its end are the flow's, but not of the time it sends.
    assert second.throughput_bps == pytest.approx(200e6)
    assert first.share == pytest.approx(10_000 / (10_000 + 6_008))
    assert (first.retransmits, second.retransmits) == (20, 15)
    assert first.rtt_median_ms == pytest.approx(164.0195)
    assert first.rtt_p99_ms == pytest.approx(164.03861)


def test_shares_are_of_one_direction_and_add_up() -> None:
    plan = RunRequest(rtt="50ms", stack="reno+bbr", schedule="together", region="10s",
                    reverse="cubic").plan()  # fmt: skip
    rows = [
        (flow.name, second + 1.0, 10e6 * number, 0, 10**6, 10**7, 50_000)
        for number, flow in enumerate(plan.schedule.all_flows, 1)
        for second in range(10)
    ]
    samples = Samples(typed_frame("flows", rows), typed_frame("ping", []), typed_frame("queue", []))
    flows = flow_summaries(samples, plan)
    assert [flow.stack for flow in flows] == ["reno", "bbr", "cubic"]
    assert [flow.share for flow in flows] == [pytest.approx(1 / 3), pytest.approx(2 / 3), None]
    assert flows[2].throughput_bps == pytest.approx(30e6)


def test_what_a_program_does_not_tell_is_not_made_up(samples: Samples, plan: Plan) -> None:
    silent = dataclasses.replace(
        samples, flows=samples.flows.assign(retransmits=0, rtt_us=0, cwnd_bytes=0)
    )
    program = dataclasses.replace(plan.stacks[0], program="image")
    first, _ = flow_summaries(silent, dataclasses.replace(plan, stacks=(program,)))
    assert (first.retransmits, first.rtt_median_ms, first.rtt_p99_ms) == (None, None, None)
    assert flow_summaries(silent, plan)[0].retransmits == 0  # TCP counts them


def test_a_run_that_is_not_the_papers_has_tables_of_its_own_alone(record: Record) -> None:
    grids = _grids(record)
    assert list(grids) == ["Each flow", "Whole run", "Each region, in which the same flows send"]
    flows = grids["Each flow"]
    assert flows.header[:3] == ("flow", "stack", "sends, s")
    assert flows.rows[1][:6] == ("flow2", "htcp", "5 to 35", "200.0", "37.5 %", "15")
    whole = dict(grids["Whole run"].rows)
    assert whole["throughput"] == "400.2 Mbit/s"
    assert whole["of the bottleneck's rate"] == "88.9 %"
    assert whole["coefficient of variation (S)"] == "0.00"
    assert whole["Jain's fairness index (F)"] == "1.00"
    assert whole["ping RTT, 99th percentile"] == "164.0 ms"
    assert whole["pings lost"] == "1 of 40"
    assert (whole["retransmits"], whole["drops at the bottleneck"]) == ("35 packets", "80 packets")
    regions = grids["Each region, in which the same flows send"]
    assert [row[0:3] for row in regions.rows] == [
        ("1", "0 to 5", "1"), ("2", "5 to 35", "2"), ("3", "35 to 40", "1"),
    ]  # fmt: skip
    assert [row[5] for row in regions.rows] == ["-", "1.00", "-"]


def test_the_papers_own_test_also_has_the_papers_tables(tmp_path: FilePath) -> None:
    titles = list(_grids(write_seven_regions(tmp_path / "a", "htcp_2004")))
    assert titles[:2] == ["Each flow", "Whole run"]
    assert [title.split(":")[0] for title in titles[2:]] == ["Table 1", "Table 2"]
    others = _grids(write_seven_regions(tmp_path / "b", "cubic"))
    assert not [title for title in others if title.startswith("Table")]


def test_the_metrics_as_json_have_each_flow_and_the_summary(record: Record) -> None:
    metrics = json.loads(json.dumps(metrics_of(record), allow_nan=False))
    assert metrics["stack"] == "2xhtcp"
    assert [flow["flow"] for flow in metrics["flows"]] == ["flow1", "flow2"]
    assert metrics["flows"][1]["throughput_bps"] == pytest.approx(200e6)
    assert metrics["rtt_median_ms"] == pytest.approx(164.0)
