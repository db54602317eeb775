"""Short flows of a record: their table, what fails a run, and what a record keeps of them."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.mechanisms.traffic import short_flow_table
from farpath.mechanisms.traffic.sent_traffic import check_short_flows
from farpath.mechanisms.traffic.short_flow_table import ShortFlowTable
from farpath.metrics.record_metrics import metrics_of
from farpath.metrics.short_flow import summarise_short_flows
from farpath.record.record import Samples, load_record, write_record
from farpath.report.overview import overview
from farpath.spec.arrivals import arrivals, frames_bytes
from farpath.spec.plan import Plan
from tests.support.plans import network_plan
from tests.support.short_flows import OPEN, TAKEN_NS, short_flow_plan, write_short_flows


@pytest.fixture
def web() -> Plan:
    return short_flow_plan()


@pytest.fixture
def table(web: Plan, tmp_path: FilePath) -> ShortFlowTable:
    raw = tmp_path / "lines"
    raw.mkdir()
    write_short_flows(raw, web)
    read = short_flow_table.from_raw(raw, web)
    assert read is not None
    return read


def _readback(web: Plan, part: float = 1.0) -> dict[str, Any]:
    sent = sum(frames_bytes(web, one.size_bytes) for one in arrivals(web))
    return {
        "before": {"short_flow_bytes": 1_000},
        "after": {"short_flow_bytes": 1_000 + round(part * sent)},
    }


def test_the_table_has_a_row_for_each_flow_in_their_order(table: ShortFlowTable, web: Plan) -> None:
    frame, drawn = table.frame, list(arrivals(web))
    assert frame["number"].tolist() == [one.number for one in drawn]
    assert frame["size_bytes"].tolist() == [one.size_bytes for one in drawn]
    assert frame["completion_s"].isna().tolist() == [one.number == OPEN for one in drawn]
    assert frame["completion_s"].dropna().eq(TAKEN_NS / 1e9).all()
    assert frame["received_bytes"][OPEN] == drawn[OPEN].size_bytes // 2
    assert frame["retransmits"].tolist() == [int(one.number == OPEN) for one in drawn]
    assert table.congestion == ("cubic",)
    assert check_short_flows(table, _readback(web), web) == []


def test_a_run_without_short_flows_has_no_table(tmp_path: FilePath) -> None:
    assert short_flow_table.from_raw(tmp_path, network_plan()) is None
    assert check_short_flows(None, {}, network_plan()) == []


def test_missing_or_broken_lines_are_a_failed_lab(web: Plan, tmp_path: FilePath) -> None:
    with pytest.raises(LabFailedError, match="left no short-flows-server"):
        short_flow_table.from_raw(tmp_path, web)
    write_short_flows(tmp_path, web)
    for broken in ("0 1 2\n", "0 1 x 3\n"):
        (tmp_path / "short-flows-client.txt").write_text(broken)
        with pytest.raises(LabFailedError, match="a line of the short flows"):
            short_flow_table.from_raw(tmp_path, web)


@pytest.mark.parametrize("part", [0.5, 1.3])
def test_another_amount_than_was_asked_for_fails_the_run(
    table: ShortFlowTable, web: Plan, part: float
) -> None:
    with pytest.raises(CheckFailedError, match="the server of short flows sent"):
        check_short_flows(table, _readback(web, part), web)


def test_flows_that_did_not_start_or_started_late_fail_the_run(
    table: ShortFlowTable, web: Plan
) -> None:
    fewer = ShortFlowTable(table.frame.iloc[:-1], table.congestion)
    with pytest.raises(CheckFailedError, match="short flows have started, and the plan has"):
        check_short_flows(fewer, _readback(web), web)
    late = table.frame.assign(start_s=table.frame["start_s"] + 0.002)
    with pytest.raises(CheckFailedError, match="started up to"):
        check_short_flows(ShortFlowTable(late, table.congestion), _readback(web), web)


def test_another_congestion_control_fails_the_run(table: ShortFlowTable, web: Plan) -> None:
    with pytest.raises(CheckFailedError, match="ran congestion control cubic and reno"):
        check_short_flows(ShortFlowTable(table.frame, ("cubic", "reno")), _readback(web), web)


def test_a_run_in_which_most_flows_did_not_end_is_warned_of(
    table: ShortFlowTable, web: Plan
) -> None:
    frame = table.frame.assign(completion_s=float("nan"))
    (warning,) = check_short_flows(ShortFlowTable(frame, table.congestion), _readback(web), web)
    assert "had not ended with the schedule" in warning


def test_a_record_keeps_its_short_flows_beside_the_fingerprint_of_its_samples(
    table: ShortFlowTable, plan: Plan, samples: Samples, tmp_path: FilePath
) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    records = [
        write_record(tmp_path / name, plan, samples, {}, {}, [], raw, parts=parts)
        for name, parts in {"without": [], "with": [table.part]}.items()
    ]
    assert records[0].fingerprint == records[1].fingerprint
    assert records[0].short_flows is None
    loaded = load_record(tmp_path / "with")
    assert loaded.short_flows is not None
    assert (
        short_flow_table.TABLE.fingerprint(loaded.short_flows)
        == loaded.data["short_flows"]["fingerprint"]
    )
    table.frame.iloc[1:].to_parquet(tmp_path / "with" / "short_flows.parquet", index=False)
    with pytest.raises(CheckFailedError, match="the record was changed"):
        _ = load_record(tmp_path / "with").short_flows


def test_completion_times_are_shown_by_classes_of_size(table: ShortFlowTable, web: Plan) -> None:
    summary = summarise_short_flows(table.frame, web.schedule.duration_s)
    sizes = table.frame["size_bytes"]
    assert [one.flows for one in summary.classes] == [
        count
        for low, high in [(0, 1e4), (1e4, 1e5), (1e5, 1e6), (1e6, 1e9)]
        if (count := int(((sizes >= low) & (sizes < high)).sum()))
    ]
    assert summary.finished == summary.flows - 1 == len(table.frame) - 1
    assert summary.retransmits == 1
    assert summary.offered_bps == pytest.approx(8 * sizes.sum() / 5.0)
    assert summary.offered_bps - summary.carried_bps == pytest.approx(
        8 * (sizes[OPEN] - sizes[OPEN] // 2) / 5.0
    )
    assert all(one.p99_ms == pytest.approx(TAKEN_NS / 1e6) for one in summary.classes)


def test_a_run_s_tables_and_metrics_have_them(
    table: ShortFlowTable, plan: Plan, samples: Samples, tmp_path: FilePath
) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    record = write_record(tmp_path / "run", plan, samples, {}, {}, [], raw, parts=[table.part])
    (shown,) = [grid for grid in overview(record) if "Short flows" in grid.title]
    small = table.frame[table.frame["size_bytes"] < 10_000]
    ended = small["completion_s"].count()
    assert shown.lines[0][:4] == ("less than 10 kB", f"{len(small):,}", f"{ended:,}", "100.5")
    assert metrics_of(record)["short_flows"]["flows"] == len(table.frame)
