"""The comparison of records: what differs, and by how much."""

from __future__ import annotations

import copy
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.record.record import Record
from farpath.report.figures.comparison import draw_comparison
from farpath.report.figures.stack_colours import MOST_NAMED
from farpath.report.html.comparison_page import render_comparison
from farpath.report.tables.comparison import MOST_RECORDS, compare
from tests.support.campaigns import write_named


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
    name, first, second, difference = comparison.results_table.rows[0]
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
    first = with_flows(pair[0], {"flow1": 2.0, "flow2": None}, dropped=10)
    second = with_flows(pair[1], {"flow1": 3.0, "flow2": 1.0}, dropped=None)
    rows = {row[0]: row[1:] for row in compare([first, second]).results_table.rows}
    assert rows["flow1 udt or htcp_2004 (done in s)"] == ("2.000", "3.000", "+50 %")
    assert rows["flow1 udt or htcp_2004 (drops)"] == ("10", "-", "-")
    assert rows["flow2 udt or htcp_2004 (done in s)"] == ("-", "1.000", "-")
    assert not any("done" in row[0] for row in compare(pair).results_table.rows)


def test_runs_are_named_by_the_settings_in_which_they_differ(pair: list[Record]) -> None:
    first, second = compare(pair).runs
    assert first.settings.startswith("udt, ")
    assert second.settings.startswith("htcp_2004, ")
    assert first.settings.endswith("seed 1")
    assert "RTT" not in first.settings


def test_equal_samples_are_told(tmp_path: FilePath) -> None:
    twins = [write_named(tmp_path / place, "cern", "udt", 1) for place in ("before", "after")]
    comparison = compare(twins)
    assert comparison.remarks == ("B has the fingerprint of A: the same packets at the same times",)
    assert {row[-1] for row in comparison.results_table.rows[:3]} == {"+0 %"}


def test_its_figure_and_page_have_the_curves_of_all(pair: list[Record]) -> None:
    comparison = compare(pair)
    figure = draw_comparison(comparison)
    assert MOST_NAMED == MOST_RECORDS
    assert [len(axes.get_lines()) for axes in figure.axes] == [2, 2, 2]
    page = render_comparison(comparison)
    assert page.count('"type":"scatter"') == 6
    assert "connect-src 'none'" in page
    assert "B against A" in page


def test_one_record_too_many_or_one_twice_are_refused(pair: list[Record]) -> None:
    for records, message in (
        (pair[:1], f"1 record: give 2 to {MOST_RECORDS} to compare"),
        (pair * 7, f"14 records: give 2 to {MOST_RECORDS} to compare"),
        ([pair[0], pair[0]], f"{pair[0].directory}: is given twice"),
    ):
        with pytest.raises(BadInputError, match="give") as refused:
            compare(records)
        assert refused.value.message.startswith(message)
