"""Runs compared in Python: one table, one figure, and what the command line refuses."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

import farpath
from farpath.record.record import Record, load_record
from farpath.report.tables.comparison import compare as compare_records
from tests.support.lesson_runs import Curve, plan_of, write_lesson_run
from tests.support.refusals import refused

STACKS = ("bbr+bbr", "cubic+cubic")


def constant(rtt_ms: float) -> Curve:
    """The same RTT of each flow at any time."""
    return lambda _t_s, _flow: rtt_ms


@pytest.fixture
def records(tmp_path: FilePath) -> list[Record]:
    """Two runs of two flows each, at 60 and at 90 ms; their second flow gets three times more."""
    return [
        write_lesson_run(
            tmp_path / stack,
            plan_of(rtt="50ms", rate="20Mbit", time="5s", stack=stack),
            throughput_mbps=lambda _t_s, flow: (3.0, 9.0)[flow],
            rtt_ms=constant(rtt_ms),
        )
        for stack, rtt_ms in zip(STACKS, (60.0, 90.0), strict=True)
    ]


def test_results_and_directories_give_one_table_with_the_columns_of_sweeps(
    records: list[Record],
) -> None:
    first, second = records
    compared = farpath.compare(farpath.load(first.directory), str(second.directory))
    table = compared.table.set_index("run")
    assert list(table["record"]) == [str(each.directory) for each in records]
    assert list(table["differs_in"]) == ["2xbbr", "2xcubic"]
    assert list(table["throughput_mbps"]) == pytest.approx([12, 12])
    assert list(table["smoothed_rtt_median_ms"]) == pytest.approx([60, 90])
    assert list(table["flow2_share"]) == pytest.approx([0.75, 0.75])
    assert list(table["flow2_stack"]) == ["bbr", "cubic"]
    assert table["spurious"].isna().all()
    assert [run.path for run in compared.runs] == [each.directory for each in records]


def test_it_is_the_comparison_of_the_command(records: list[Record]) -> None:
    compared = farpath.compare(*(each.directory for each in records), by="stack")
    expected = compare_records([load_record(each.directory) for each in records], "stack")
    assert compared.title == expected.title
    assert compared.comparison.results_table.lines == expected.results_table.lines
    assert repr(compared) == f"<farpath comparison of 2 runs: {expected.title}>"


def test_a_notebook_shows_the_differences_and_the_curves(records: list[Record]) -> None:
    compared = farpath.compare(*(each.directory for each in records))
    page = compared._repr_html_()
    assert ">B against A</th>" in page
    assert "+50 %" in page
    assert str(records[1].directory) in page
    assert "data:image/png;base64," in page
    assert "<script" not in page
    figure = compared.plot()
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_what_the_command_refuses_is_refused(records: list[Record]) -> None:
    first, second = (each.directory for each in records)
    with pytest.raises(farpath.BadInputError, match="1 record: give 2 to 12 to compare"):
        farpath.compare(first)
    with pytest.raises(farpath.BadInputError, match="is given twice"):
        farpath.compare(first, first)
    with pytest.raises(farpath.BadInputError, match="is not a directory"):
        farpath.compare(first, "/nowhere")
    with refused("by", "bufer"):
        farpath.compare(first, second, by="bufer")
