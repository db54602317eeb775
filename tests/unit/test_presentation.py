"""Tables, figure and page of a synthetic run."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path as FilePath

import pytest

from farpath import page, tables
from farpath.background import Background
from farpath.figures import run as figures
from farpath.metrics import Summary, summarise
from farpath.plan import Plan
from farpath.published import published
from farpath.record import Record, Samples


@pytest.fixture
def summary(samples: Samples, plan: Plan) -> Summary:
    """The synthetic run's, with seven regions like its second."""
    made = summarise(samples, plan)
    seven = tuple(dataclasses.replace(made.regions[1], number=k) for k in range(1, 8))
    return dataclasses.replace(made, regions=seven)


def test_table_1_puts_measured_published_and_deviation_below_each_other(
    summary: Summary,
) -> None:
    grid = tables.grid_1(summary, published("htcp", "cern"))
    assert [row[0] for row in grid.rows] == ["measured", "published", "deviation"]
    assert [row[1] for row in grid.rows] == ["400.2", "402", "+0 %"]
    assert grid.rows[0][6:8] == ("-", "-")
    assert "CPU is free on the virtual clock" in grid.note
    assert "regions of 120 s, measured with 5 s" in grid.note


def test_cpu_figures_stand_in_table_1_with_what_they_count(summary: Summary) -> None:
    counted = dataclasses.replace(summary, clock="wall", cpu_percent=12.34, mhz_per_mbps=0.5)
    grid = tables.grid_1(counted, None)
    assert grid.rows[0][6:8] == ("12.3", "0.50")
    assert "all sending programs together" in grid.note


def test_table_2_has_a_cell_for_each_region(summary: Summary) -> None:
    grid = tables.grid_2(summary, published("htcp", "cern"))
    assert all(len(row) == 8 for row in (grid.header, *grid.rows))
    assert grid.rows[0][2] == "0.00 / 1.00"
    assert grid.rows[1][2] == "0.26 / 1.00"
    assert grid.rows[2][2] == "-0.26 / +0.00"


def test_a_path_or_stack_without_published_numbers_says_so(summary: Summary) -> None:
    elsewhere = dataclasses.replace(summary, path_name="ufl")
    text = tables.render(tables.table_1(elsewhere, None), tables.table_2(elsewhere, None))
    assert text.count("not published") == 2
    assert "for path cern only" in text
    other = dataclasses.replace(summary, stack="cubic")
    assert "no row for cubic" in tables.render(tables.table_1(other, None))


def test_an_undefined_metric_is_a_dash(summary: Summary) -> None:
    silent = dataclasses.replace(summary, stability=float("nan"))
    grid = tables.grid_1(silent, published("htcp", "cern"))
    assert (grid.rows[0][3], grid.rows[2][3]) == ("-", "-")


@pytest.mark.parametrize("width_columns", [80, 100, 120])
def test_rendered_tables_fit_their_width_and_cut_nothing_off(
    summary: Summary, width_columns: int
) -> None:
    beside = published("htcp", "cern")
    both = (tables.table_1(summary, beside), tables.table_2(summary, beside))
    text = tables.render(*both, width_columns=width_columns)
    assert max(map(len, text.splitlines())) <= width_columns
    assert "…" not in text
    assert "\x1b" not in text


def test_equal_samples_give_an_equal_png(samples: Samples, plan: Plan, tmp_path: FilePath) -> None:
    for name in ("a.png", "b.png"):
        figures.save_png(samples, plan, tmp_path / name)
    first = (tmp_path / "a.png").read_bytes()
    assert first.startswith(b"\x89PNG")
    assert first == (tmp_path / "b.png").read_bytes()


def test_the_figure_shows_each_flow_and_says_what_it_is_of(samples: Samples, plan: Plan) -> None:
    figure = figures.draw(samples, plan)
    upper, lower = figure.axes
    assert lower.get_legend_handles_labels()[1] == [
        "flow1",
        "flow2",
        "aggregate",
        "bottleneck rate",
    ]
    assert "lost" in upper.texts[0].get_text()
    assert lower.get_ylim()[1] > 450
    assert figure.get_suptitle() == "SLAC to CERN, 2004: htcp, era modern, regions of 5 s, seed 1"


def test_a_run_without_any_answered_ping_still_has_a_figure(samples: Samples, plan: Plan) -> None:
    silent = Samples(samples.flows, samples.ping.assign(rtt_ms=float("nan")), samples.queue)
    assert len(figures.draw(silent, plan).axes) == 2


def test_the_page_is_self_contained(record: Record, tmp_path: FilePath) -> None:
    page.save_page(record, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert not re.search(r"<(script|link|img)[^>]*\s(src|href)=", text)
    assert "Plotly.newPlot" in text
    assert record.fingerprint in text
    assert "Table 2: S / F of each region" in text
    assert "take care" in text
    assert "6.0 &lt;test&gt;" in text


def test_the_page_says_what_other_traffic_the_path_has(record: Record) -> None:
    assert "<td>none</td>" in page.render_page(record)
    traffic = Background(4, 20_000_000, 2.0, 6.0)
    record.data["plan"]["path"]["background"] = dataclasses.asdict(traffic)
    assert str(traffic) in page.render_page(Record(record.directory, record.data))


def test_the_pages_curves_are_valid_and_cover_all_panels(record: Record) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    traces, layout = page._traces(record), page._layout(record)
    graph_objects.Figure(data=traces, layout=layout)  # checks every property
    assert {trace["yaxis"] for trace in traces} == {"y", "y2", "y3", "y4"}
    json.dumps([traces, layout], allow_nan=False)
    assert traces[0]["y"][2] is None  # the lost ping
    windows = [trace for trace in traces if trace["yaxis"] == "y3"]
    assert [len(trace["x"]) for trace in windows] == [40, 30]
