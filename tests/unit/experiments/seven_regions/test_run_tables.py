"""Tables of a run's regions: measured, published and deviation."""

from __future__ import annotations

import dataclasses
import re

import pytest

from experiments.seven_regions import run_tables
from experiments.seven_regions.published import Published, published
from farpath.metrics.run import Summary, summarise
from farpath.record.record import Samples
from farpath.report import table
from farpath.spec.plan import Plan


@pytest.fixture
def summary(samples: Samples, plan: Plan) -> Summary:
    """The synthetic run's, with seven regions like its second."""
    made = summarise(samples, plan)
    seven = tuple(dataclasses.replace(made.regions[1], number=k) for k in range(1, 8))
    return dataclasses.replace(made, regions=seven)


def _printed() -> Published:
    """What the paper prints for H-TCP."""
    printed = published("htcp", "cern")
    assert printed is not None
    return printed


def test_table_1_puts_measured_published_and_deviation_below_each_other(
    summary: Summary,
) -> None:
    grid = run_tables.run_table_1(summary, _printed())
    assert [row[0] for row in grid.lines] == ["measured", "published", "deviation"]
    assert [row[1] for row in grid.lines] == ["400.2", "402", "+0 %"]
    assert grid.lines[0][8:10] == ("-", "-")
    assert "CPU is free on the virtual clock" in grid.note
    assert "regions of 120 s, measured with 5 s" in grid.note


def test_cpu_figures_stand_in_table_1_with_what_they_count(summary: Summary) -> None:
    counted = dataclasses.replace(summary, clock="wall", cpu_percent=12.34, mhz_per_mbps=0.5)
    grid = run_tables.run_table_1(counted, _printed())
    assert grid.lines[0][8:10] == ("12.3", "0.50")
    assert "all sending programs together" in grid.note


def test_table_2_has_a_cell_for_each_region(summary: Summary) -> None:
    grid = run_tables.run_table_2(summary, _printed())
    assert all(len(row) == 8 for row in (grid.header, *grid.lines))
    assert grid.lines[0][2] == "0.00 / 1.00"
    assert grid.lines[1][2] == "0.26 / 1.00"
    assert grid.lines[2][2] == "-0.26 / +0.00"


def test_an_undefined_metric_is_a_dash(summary: Summary) -> None:
    silent = dataclasses.replace(summary, stability=float("nan"))
    grid = run_tables.run_table_1(silent, _printed())
    assert (grid.lines[0][4], grid.lines[2][4]) == ("-", "-")


def test_a_long_word_goes_on_in_the_next_line_and_is_not_cut() -> None:
    stack = "quic_ngtcp2:cc=cubic,pacing=0,mtu=9000"
    grid = table.Table.of_texts("", ("stack", "beside", "left to"), (("reno", stack, stack),))
    text = table.render(table.rich_table(grid), width_columns=60)
    assert "…" not in text
    assert text.count("mtu=9000") == 2


@pytest.mark.parametrize("width_columns", [40, 60, 80, 100, 120])
def test_tables_of_a_run_fit_a_terminal_and_no_number_is_cut(
    summary: Summary, width_columns: int
) -> None:
    for grid in (
        run_tables.run_table_1(summary, _printed()),
        run_tables.run_table_2(summary, _printed()),
    ):
        text = table.render(*table.fitting(grid, width_columns), width_columns=width_columns)
        assert max(map(len, text.splitlines())) <= width_columns
        assert "…" not in text
        assert "\x1b" not in text
        lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
        cells = {cell for line in lines for cell in line}
        assert {cell for row in grid.lines for cell in row} <= cells


def test_a_table_that_has_room_is_in_one_piece(summary: Summary) -> None:
    grid = run_tables.run_table_1(summary, _printed())
    assert len(table.fitting(grid, 120)) == 1
    assert len(table.fitting(grid, 50)) > 1
