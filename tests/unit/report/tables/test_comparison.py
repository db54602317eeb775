"""The comparison of records: what differs, and by how much."""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.record.record import Record
from farpath.report.figures.compared_curves import draw_comparison, looks_in
from farpath.report.figures.stack_colours import HUES, MOST_NAMED, look_of
from farpath.report.html.comparison_page import render_comparison
from farpath.report.tables.comparison import MOST_RECORDS, compare
from tests.support.campaigns import write_named
from tests.support.lesson_runs import Curve, plan_of, write_lesson_run
from tests.support.refusals import refused


@pytest.fixture
def pair(tmp_path: FilePath) -> list[Record]:
    """A run of UDT, and one of H-TCP with another seed."""
    return [
        write_named(tmp_path / "records", "cern", "udt", 1),
        write_named(tmp_path / "records", "cern", "htcp_2004", 2),
    ]


def test_its_table_has_each_value_and_the_difference_from_the_first(pair: list[Record]) -> None:
    comparison = compare(pair)
    assert comparison.results_table.header == ("", "A", "B", "B against A")
    name, first, second, difference = comparison.results_table.lines[0]
    assert name == "throughput (Mbit/s)"
    expected = 100 * (float(second) / float(first) - 1)
    assert float(difference.split()[0]) == pytest.approx(expected, abs=1)


def with_flows(record: Record, done_s: dict[str, float | None], dropped: int | None) -> Record:
    """The record as one of flows of a number of bytes, whose drops were counted or not."""
    data = copy.deepcopy(record.data)
    data["plan"]["transfer_bytes"] = 1_000_000
    data["readback"]["transfers"] = done_s
    if dropped is not None:
        port = {"there": {"flow1": dropped}, "back": {}, "others": 0}
        after = {"droppers": [], "flow_drops": {"queues": {"s2-eth2": port}, "losses": {}}}
        data["readback"]["after"] = after
    return Record(record.directory, data)


def test_flows_of_a_number_of_bytes_are_compared_by_their_completion_times(
    pair: list[Record],
) -> None:
    # Sorted by its stack, the second comes first
    second = with_flows(pair[0], {"flow1": 3.0, "flow2": 1.0}, dropped=None)
    first = with_flows(pair[1], {"flow1": 2.0, "flow2": None}, dropped=10)
    rows = {row[0]: row[1:] for row in compare([second, first]).results_table.lines}
    assert rows["flow1 htcp_2004 or udt (done in s)"] == ("2.000", "3.000", "+50 %")
    assert rows["flow1 htcp_2004 or udt (drops)"] == ("10", "-", "-")
    assert rows["flow2 htcp_2004 or udt (done in s)"] == ("-", "1.000", "-")
    assert not any("done" in row[0] for row in compare(pair).results_table.lines)


def test_the_rtts_that_flows_had_are_compared_beside_those_of_pings(tmp_path: FilePath) -> None:
    curves: dict[str, Curve] = {
        "bbr+bbr": lambda _t_s, flow: 60.0 + 10 * flow,
        "cubic+cubic": lambda _t_s, flow: 90.0 + 10 * flow,
    }
    runs = [
        write_lesson_run(
            tmp_path / stack,
            plan_of(rtt="50ms", rate="20Mbit", time="5s", stack=stack),
            rtt_ms=rtt_ms,
        )
        for stack, rtt_ms in curves.items()
    ]
    rows = {row[0]: row[1:] for row in compare(runs).results_table.lines}
    assert rows["99th percentile of ping RTTs (ms)"] == ("50.0", "50.0", "+0 %")
    assert rows["median of the flows' smoothed RTTs (ms)"] == ("65.0", "95.0", "+46 %")
    assert rows["flow2 bbr or cubic (RTT median ms)"] == ("70.0", "100.0", "+43 %")


def test_spurious_retransmissions_stand_apart_from_losses(pair: list[Record]) -> None:
    comparison = compare(pair)
    first = comparison.runs[0]
    wasting = tuple(dataclasses.replace(flow, spurious=5) for flow in first.flows)
    vars(first)["flows"] = wasting
    rows = {row[0]: row[1:] for row in comparison.results_table.lines}
    assert rows["spurious retransmissions (packets)"][0] == str(5 * len(wasting))
    assert not any("spurious" in row[0] for row in compare(pair).results_table.lines)


def test_figure_and_page_say_why_throughput_exceeds_the_bottleneck_s_rate(
    tmp_path: FilePath,
) -> None:
    plans = [plan_of(rtt="50ms", rate="20Mbit", time="5s", stack=one) for one in ("bbr", "cubic")]
    late, steady = (
        [
            write_lesson_run(tmp_path / f"{peak}{plan.stacks[0].name}", plan, throughput_mbps=curve)
            for plan in plans
        ]
        for peak, curve in (
            (30, lambda t_s, _flow: 30.0 if 2 < t_s <= 3 else 10.0),
            (10, lambda _t_s, _flow: 10.0),
        )
    )
    for records, is_said in ((late, True), (steady, False)):
        comparison = compare(records)
        axis = draw_comparison(comparison).axes[-1].get_xlabel().replace("\n", " ")
        assert ("exceeds the bottleneck's rate: receivers read in blocks" in axis) is is_said
        assert ("data behind a lost packet" in render_comparison(comparison)) is is_said


def test_runs_are_named_by_the_settings_in_which_they_differ(pair: list[Record]) -> None:
    first, second = compare(pair).runs
    assert first.settings.startswith("htcp_2004, ")
    assert second.settings.startswith("udt, ")
    assert first.settings.endswith("seed 2")
    assert "RTT" not in first.settings


def test_equal_samples_are_told(tmp_path: FilePath) -> None:
    twins = [write_named(tmp_path / place, "cern", "udt", 1) for place in ("before", "after")]
    comparison = compare(twins)
    assert comparison.remarks == ("B has the fingerprint of A: the same packets at the same times",)
    assert {row[-1] for row in comparison.results_table.lines[:3]} == {"+0 %"}


def test_its_figure_and_page_have_the_curves_of_all(pair: list[Record]) -> None:
    comparison = compare(pair)
    figure = draw_comparison(comparison)
    assert MOST_NAMED == MOST_RECORDS
    assert [len(axes.get_lines()) for axes in figure.axes] == [2, 2, 2]
    page = render_comparison(comparison)
    assert page.count('"type":"scatter"') == 6
    assert "connect-src 'none'" in page
    assert "B against A" in page
    assert f"<h1>{comparison.title}</h1>" in page
    assert figure.get_suptitle().replace("\n", " ") == comparison.title
    # Each run is of one stack, whose colour it has
    drawn = [line.get_color() for line in figure.axes[0].get_lines()]
    assert drawn == [look_of("htcp_2004").colour, look_of("udt").colour]


@pytest.fixture
def buffers(tmp_path: FilePath) -> list[Record]:
    """Runs of BBR beside CUBIC with four buffers, in another order than that of their sizes."""
    records = []
    for number, buffer in enumerate(("16xBDP", "0.25xBDP", "1xBDP", "0.5xBDP")):
        plan = plan_of(
            rtt="50ms", rate="20Mbit", time="5s", stack="bbr+cubic", buffer=buffer,
            seed=str(1 + number // 2),
        )  # fmt: skip
        records.append(write_lesson_run(tmp_path / f"{number}", plan))
    return records


def test_runs_are_sorted_and_named_by_what_differs(buffers: list[Record]) -> None:
    same_seed = [buffers[0], buffers[1]]
    comparison = compare(same_seed)
    assert comparison.title == "bbr + cubic: buffer 0.25, 16 BDP"
    assert [run.label for run in comparison.runs] == ["A: buffer 0.25 BDP", "B: buffer 16 BDP"]
    assert [run.record for run in compare(reversed(same_seed)).runs] == same_seed[::-1]
    every = compare(buffers)
    assert every.title == "bbr + cubic: buffer 0.25, 0.5, 1, 16 BDP; seed 1, 2"
    assert [row[0] for row in every.results_table.lines] == [
        "A: buffer 0.25 BDP, seed 1",
        "B: buffer 0.5 BDP, seed 2",
        "C: buffer 1 BDP, seed 2",
        "D: buffer 16 BDP, seed 1",
    ]
    assert "flow1 bbr (share)" in every.results_table.header
    assert "spurious" not in every.results_table.header
    by_seed = [run.settings for run in compare(buffers, by="seed").runs]
    assert by_seed == [
        "buffer 0.25 BDP, seed 1",
        "buffer 16 BDP, seed 1",
        "buffer 0.5 BDP, seed 2",
        "buffer 1 BDP, seed 2",
    ]
    with refused("by", "bufer"):
        compare(buffers, by="bufer")


def test_flows_that_all_runs_have_get_a_panel_each_in_their_stacks_colour(
    buffers: list[Record],
) -> None:
    comparison = compare(buffers)
    names = list(comparison.quantities)
    assert names[:2] == ["flow1 bbr (Mbit/s)", "flow2 cubic (Mbit/s)"]
    assert names[2:] == ["ping RTT (ms)", "queue (MB)"]
    for panel, stack in enumerate(("bbr", "cubic")):
        looks = looks_in(comparison, panel)
        assert {look.hue for look in looks} == {look_of(stack).hue}
        assert len({look.shade for look in looks}) == 4
    assert not {look.hue for look in looks_in(comparison, 2)} & set(HUES)


def test_runs_that_differ_in_no_number_have_a_hue_each(tmp_path: FilePath) -> None:
    differing: list[dict[str, str]] = [{"ip": "6"}, {"ecn": "off"}, {}]
    records = [
        write_lesson_run(
            tmp_path / str(number),
            plan_of(rtt="50ms", rate="20Mbit", time="5s", stack="5xcubic", **options),
        )
        for number, options in enumerate(differing)
    ]
    comparison = compare(records)
    last = [run.settings.rpartition(", ")[2] for run in comparison.runs]
    assert last == ["", "ECN off", "IPv6"]
    assert not comparison.is_ordered
    looks = looks_in(comparison, 0)
    assert len({look.hue for look in looks}) == 3
    assert looks == looks_in(comparison, 2)
    # Five flows have no columns of their own
    assert not [name for name in comparison.results_table.header if name.startswith("flow1")]


def test_one_record_too_many_or_one_twice_are_refused(pair: list[Record]) -> None:
    for records, message in (
        (pair[:1], f"1 record: give 2 to {MOST_RECORDS} to compare"),
        (pair * 7, f"14 records: give 2 to {MOST_RECORDS} to compare"),
        ([pair[0], pair[0]], f"{pair[0].directory}: is given twice"),
    ):
        with pytest.raises(BadInputError, match="give") as refused:
            compare(records)
        assert refused.value.message.startswith(message)
