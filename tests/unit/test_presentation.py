"""Tables, figure and page of a synthetic run."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path as FilePath

import pytest

from farpath.analysis.metrics import Summary, summarise
from farpath.analysis.published import Published, published
from farpath.planning.request import RunRequest
from farpath.record.record import Record, Samples, typed_frame
from farpath.report.figures import run as figures
from farpath.report.html import run_page
from farpath.report.html.render import PLOTLY_CONFIG
from farpath.report.tables import regions
from farpath.spec.background import Background
from farpath.spec.plan import Plan
from tests.unit.campaigns import write_seven_regions


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
    grid = regions.run_table_1(summary, _printed())
    assert [row[0] for row in grid.rows] == ["measured", "published", "deviation"]
    assert [row[1] for row in grid.rows] == ["400.2", "402", "+0 %"]
    assert grid.rows[0][6:8] == ("-", "-")
    assert "CPU is free on the virtual clock" in grid.note
    assert "regions of 120 s, measured with 5 s" in grid.note


def test_cpu_figures_stand_in_table_1_with_what_they_count(summary: Summary) -> None:
    counted = dataclasses.replace(summary, clock="wall", cpu_percent=12.34, mhz_per_mbps=0.5)
    grid = regions.run_table_1(counted, _printed())
    assert grid.rows[0][6:8] == ("12.3", "0.50")
    assert "all sending programs together" in grid.note


def test_table_2_has_a_cell_for_each_region(summary: Summary) -> None:
    grid = regions.run_table_2(summary, _printed())
    assert all(len(row) == 8 for row in (grid.header, *grid.rows))
    assert grid.rows[0][2] == "0.00 / 1.00"
    assert grid.rows[1][2] == "0.26 / 1.00"
    assert grid.rows[2][2] == "-0.26 / +0.00"


def test_an_undefined_metric_is_a_dash(summary: Summary) -> None:
    silent = dataclasses.replace(summary, stability=float("nan"))
    grid = regions.run_table_1(silent, _printed())
    assert (grid.rows[0][3], grid.rows[2][3]) == ("-", "-")


@pytest.mark.parametrize("width_columns", [40, 60, 80, 100, 120])
def test_tables_of_a_run_fit_a_terminal_and_no_number_is_cut(
    summary: Summary, width_columns: int
) -> None:
    for grid in (
        regions.run_table_1(summary, _printed()),
        regions.run_table_2(summary, _printed()),
    ):
        text = regions.render(*regions.fitting(grid, width_columns), width_columns=width_columns)
        assert max(map(len, text.splitlines())) <= width_columns
        assert "…" not in text
        assert "\x1b" not in text
        lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
        shown = {cell for line in lines for cell in line}
        assert {cell for row in grid.rows for cell in row} <= shown


def test_a_table_that_has_room_is_in_one_piece(summary: Summary) -> None:
    grid = regions.run_table_1(summary, _printed())
    assert len(regions.fitting(grid, 120)) == 1
    assert len(regions.fitting(grid, 50)) > 1


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
        "flow1 htcp",
        "flow2 htcp",
        "aggregate",
        "bottleneck rate",
    ]
    assert "lost" in upper.texts[0].get_text()
    assert lower.get_ylim()[1] > 450
    assert figure.get_suptitle() == "SLAC to CERN, 2004: 2xhtcp, era modern, regions of 5 s, seed 1"


def test_the_figure_shows_each_second_as_it_was_measured(samples: Samples, plan: Plan) -> None:
    total = figures.draw(samples, plan).axes[1].lines[0]
    each = samples.flows[samples.flows["flow"] == "flow1"]["throughput_bps"].to_numpy() / 1e6
    assert total.get_ydata()[:5] == pytest.approx(each[:5])
    assert total.get_ydata()[35] == pytest.approx(408)  # what flow 2 left on its way
    smooth = figures.draw(samples, plan, smoothing_s=5).axes[1]
    assert "over 5 s" in smooth.get_ylabel()
    assert "over" not in figures.draw(samples, plan).axes[1].get_ylabel()


def _ticks(region_s: float, **words: str) -> list[float]:
    plan = RunRequest(rtt="50ms", region=f"{region_s:g}s", **words).plan()
    empty = Samples(*(typed_frame(name, []) for name in ("flows", "ping", "queue")))
    low, high = 0.0, plan.schedule.duration_s
    ticks = figures.draw(empty, plan).axes[1].get_xticks()
    return [float(tick) for tick in ticks if low <= tick <= high]


def test_the_time_axis_has_ticks_enough_whatever_the_regions() -> None:
    assert _ticks(120) == [120.0 * count for count in range(9)]
    for schedule, stack in (("together", "cubic"), ("joining", "2xcubic"), ("joining", "60xreno")):
        assert 5 <= len(_ticks(10, schedule=schedule, stack=stack)) <= 15


def test_a_run_without_any_answered_ping_still_has_a_figure(samples: Samples, plan: Plan) -> None:
    silent = Samples(samples.flows, samples.ping.assign(rtt_ms=float("nan")), samples.queue)
    assert len(figures.draw(silent, plan).axes) == 2


def test_the_page_is_self_contained(record: Record, tmp_path: FilePath) -> None:
    run_page.save_pictures(record)
    text = (record.directory / run_page.PAGE_FILE).read_text()
    assert not re.search(r"<(script|link|img)[^>]*\s(src|href)=", text)
    assert "Plotly.newPlot" in text
    assert record.fingerprint in text
    assert "take care" in text
    assert "6.0 &lt;test&gt;" in text


def test_the_page_has_what_each_flow_got_and_what_the_whole_run_did(record: Record) -> None:
    text = run_page.render_page(record)
    for title in ("Each flow", "Whole run", "Each region, in which the same flows send"):
        assert f"<h2>{title}</h2>" in text
    for word in ("RTT p99 ms", "drops at the bottleneck", "Jain&#39;s fairness index (F)"):
        assert word in text
    assert "Table 1" not in text


def test_the_page_says_when_it_was_recorded_and_how_to_repeat_it(tmp_path: FilePath) -> None:
    record = write_seven_regions(tmp_path / "a", "htcp_2004", 3)
    assert "Recorded" not in run_page.render_page(record)
    record.data["provenance"]["recorded_at"] = "2026-11-22T10:11:12+00:00"
    text = run_page.render_page(record)
    assert "Recorded 2026-11-22 10:11:12 UTC." in text
    words = re.findall(r'<span class="word">([^<]+)</span>', text)
    plan = RunRequest.of_options(words[2:]).plan()
    assert (plan.seed, plan.schedule, plan.path.name) == (3, record.plan.schedule, "cern")
    assert "Table 1: whole run, path cern" in text


def test_the_page_says_so_where_no_options_repeat_the_run(record: Record) -> None:
    assert "alone ask for exactly this run" in run_page.render_page(record)


def test_no_page_may_reach_a_network_or_offers_to(record: Record) -> None:
    for assets in ("", "../assets"):
        text = run_page.render_page(record, assets=assets)
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
        rules = dict(rule.split(" ", 1) for rule in html.unescape(policy).split("; "))
        for closed in ("default-src", "connect-src", "form-action", "base-uri"):
            assert rules.pop(closed) == "'none'"
        assert not re.search(r"https?:|\*", policy)
    buttons = {name for group in PLOTLY_CONFIG["modeBarButtons"] for name in group}
    assert not [name for name in buttons if re.search("cloud|send|share|edit", name, re.I)]
    assert PLOTLY_CONFIG["plotlyServerURL"] == ""


def test_the_page_says_what_other_traffic_the_path_has(record: Record) -> None:
    assert "<td>none</td>" in run_page.render_page(record)
    traffic = Background(4, 20_000_000, 2.0, 6.0)
    record.data["plan"]["path"]["background"] = dataclasses.asdict(traffic)
    assert str(traffic) in run_page.render_page(Record(record.directory, record.data))


def test_the_pages_curves_are_valid_and_cover_all_panels(record: Record) -> None:
    graph_objects = pytest.importorskip("plotly.graph_objects")
    traces, layout = run_page._traces(record), run_page._layout(record)
    graph_objects.Figure(data=traces, layout=layout)  # checks every property
    assert {trace["yaxis"] for trace in traces} == {"y", "y2", "y3", "y4"}
    json.dumps([traces, layout], allow_nan=False)
    assert traces[0]["y"][2] is None  # the lost ping
    windows = [trace for trace in traces if trace["yaxis"] == "y3"]
    assert [len(trace["x"]) for trace in windows] == [40, 30]


def test_the_pages_throughput_is_as_measured_and_nobody_sends_before_the_start(
    record: Record,
) -> None:
    by_name = {trace["name"]: trace for trace in run_page._traces(record)}
    flow2 = by_name["flow2 htcp"]
    assert flow2["x"] == [float(second) for second in range(41)]
    for curve in (flow2["y"], flow2["meta"]["smoothed"]):
        assert set(curve[1:6]) == {None}  # it starts at 5 s
        assert curve[6:36] == [200.0] * 30
        assert curve[36] == 8.0  # what was on its way
        assert set(curve[37:]) == {None}
    assert by_name["aggregate"]["y"][1:] == [400.0] * 35 + [408.0] + [400.0] * 4
    assert by_name["bottleneck rate"]["y"] == [450.0, 450.0]


def test_every_curve_says_its_quantity_and_unit_under_the_mouse(record: Record) -> None:
    for trace in run_page._traces(record):
        if trace["name"] == "bottleneck rate":
            continue
        unit = {"y": "ms", "y2": "Mbit/s", "y3": "MB", "y4": "MB"}[trace["yaxis"]]
        assert re.search(rf"%{{y:\.\df}} {unit} at %{{x:[^}}]+}} s", trace["hovertemplate"])


def test_what_is_no_flow_looks_like_no_other_curve(record: Record) -> None:
    looks = [
        json.dumps([trace.get("fill"), trace.get("line"), trace.get("marker"), trace["meta"]])
        for trace in run_page._traces(record)
        if trace["meta"]["colour"] in ("ink", "queue")
    ]
    assert len(set(looks)) == len(looks) == 4
