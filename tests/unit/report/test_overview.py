"""What a run says of itself: each flow, the whole run, each region, and the paper's tables."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pytest

from farpath.metrics.record_metrics import metrics_of
from farpath.record.record import Record
from farpath.report.overview import overview
from farpath.report.table import Table
from farpath.runs.experiment import QUICK, load_experiment
from tests.support.campaigns import write_seven_regions
from tests.support.study_runs import write_run


def _grids(record: Record) -> dict[str, Table]:
    return {grid.title: grid for grid in overview(record)}


def test_a_run_that_is_not_the_papers_has_tables_of_its_own_alone(record: Record) -> None:
    grids = _grids(record)
    assert list(grids) == ["Each flow", "Whole run", "Each region, in which the same flows send"]
    flows = grids["Each flow"]
    assert flows.header[:3] == ("flow", "stack", "sends, s")
    assert flows.lines[1][:6] == ("flow2", "htcp", "5-35", "200.0", "37.5 %", "15")
    whole = {row[0]: row[1] for row in grids["Whole run"].lines}
    assert whole["throughput"] == "400.2 Mbit/s"
    assert whole["payload of the bottleneck's rate"] == "88.9 %"
    assert whole["coefficient of variation (S)"] == "0.00"
    assert whole["Jain's fairness index (F)"] == "1.00"
    assert whole["ping RTT, 99th percentile"] == "164.0 ms"
    assert whole["pings lost"] == "1 of 40"
    assert (whole["retransmits"], whole["drops at the bottleneck"]) == ("35 packets", "80 packets")
    regions = grids["Each region, in which the same flows send"]
    assert [row[0:3] for row in regions.lines] == [
        ("1", "0 to 5", "1"),
        ("2", "5 to 35", "2"),
        ("3", "35 to 40", "1"),
    ]
    assert [row[5] for row in regions.lines] == ["-", "1.00", "-"]


def test_a_run_over_routers_has_the_table_of_its_hops(record: Record) -> None:
    hops = [
        {"name": "chicago.esnet", "address": "10.1.255.1", "rtts_ms": [0.0, 0.001]},
        {"name": "receiver", "address": "", "rtts_ms": []},
    ]
    readback = {**record.data["readback"], "hops": hops}
    table = _grids(Record(record.directory, {**record.data, "readback": readback}))["Hops"]
    assert table.lines == (
        ("1", "chicago.esnet", "10.1.255.1", "0.000, 0.001"),
        ("2", "receiver", "-", "-"),
    )


def test_the_papers_own_test_also_has_the_papers_tables(tmp_path: FilePath) -> None:
    titles = list(_grids(write_seven_regions(tmp_path / "a", "htcp_2004")))
    assert titles[:3] == ["Each flow", "Whole run", "Each region, in which the same flows send"]
    assert [title.split(":")[0] for title in titles[3:]] == ["Table 1", "Table 2"]
    others = _grids(write_seven_regions(tmp_path / "b", "cubic"))
    assert not [title for title in others if title.startswith("Table")]


def test_the_metrics_as_json_have_each_flow_and_the_summary(record: Record) -> None:
    metrics = json.loads(json.dumps(metrics_of(record), allow_nan=False))
    assert metrics["stack"] == "2xhtcp"
    assert [flow["flow"] for flow in metrics["flows"]] == ["flow1", "flow2"]
    assert metrics["flows"][1]["throughput_bps"] == pytest.approx(200e6)
    assert metrics["rtt_median_ms"] == pytest.approx(164.0)
    backlog = record.samples.queue["backlog_bytes"]
    mean_ms = 8e3 * backlog.mean() / record.plan.path.rate_bps
    assert metrics["queueing_mean_ms"] == pytest.approx(mean_ms)
    assert metrics["queueing_p99_ms"] >= metrics["queueing_mean_ms"] > 0
    rows = _grids(record)["Whole run"].lines
    assert ("queueing delay, mean", f"{mean_ms:.1f} ms") in rows


def test_a_run_with_disks_says_who_waited_for_whom(tmp_path: FilePath) -> None:
    runs = load_experiment("disks").runs(QUICK)
    run = next(each for each in runs if each.request.sink == "disk:50MB/s,writeback=200MB")
    record = write_run(tmp_path / "record", run)
    grid = _grids(record)["Disks"]
    assert grid.header[0] == "disk of"
    assert [row[:4] for row in grid.lines] == [
        ("sender", "read", "264", "2.097 MB"),
        ("receiver", "written", "50", "200 MB"),
    ]
    assert {row[4:] for row in grid.lines} == {("1.0", "2.50 s", "0.00 s")}
    assert set(metrics_of(record)["disks"]) == {"sender", "receiver"}
