"""The page of a run: what it says, and that it needs no network."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from pathlib import Path as FilePath
from urllib.parse import unquote

import pytest

from farpath.record.record import Record
from farpath.report.figures.run_over_time import draw
from farpath.report.html import run_page
from farpath.report.html.render import PLOTLY_CONFIG
from farpath.report.html.run_page import curves, render_page
from farpath.spec.background import Background
from tests.support.campaigns import write_named, write_seven_regions
from tests.support.lesson_runs import plan_of, write_lesson_run
from tests.support.plans import request_of


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
    plan = request_of(words[2:]).plan()
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
        if trace["name"] in ("bottleneck rate", "base RTT"):
            continue
        unit = {"y": "ms", "y2": "Mbit/s", "y3": "MB", "y4": "MB"}[trace["yaxis"]]
        assert re.search(rf"%{{y:\.\df}} {unit} at %{{x:[^}}]+}} s", trace["hovertemplate"])


def test_what_is_no_flow_looks_like_no_other_curve(record: Record) -> None:
    looks = [
        json.dumps([trace.get("fill"), trace.get("line"), trace.get("marker"), trace["meta"]])
        for trace in run_page._traces(record)
        if trace["meta"]["colour"] in ("ink", "queue")
    ]
    assert len(set(looks)) == len(looks) == 5


def test_page_and_figure_draw_windows_from_the_trace(traced: Record) -> None:
    drawn = [
        line
        for line in curves(traced)["data"]
        if line.get("yaxis") == "y3" and "receiver" not in line["name"]
    ]
    names = [
        f"{flow.name} {flow.stack} {each}"
        for flow in traced.plan.schedule.flows
        for each in ("window", "ssthresh")
    ]
    assert [line["name"] for line in drawn] == names
    assert drawn[0]["y"][-1] == pytest.approx(1000 * 1448 / 1e6)
    assert set(drawn[1]["y"]) == {None}  # no threshold yet
    figure = draw(traced.samples, traced.plan, trace=traced.trace)
    assert [axes.get_ylabel().split()[0] for axes in figure.axes] == ["ping", "throughput", "cwnd"]
    assert len(draw(traced.samples, traced.plan).axes) == 2


MARKUP = "<script>alert('&')</script>"


def test_everything_a_record_says_is_escaped(tmp_path: FilePath) -> None:
    record = write_named(tmp_path, "cern", "fast", 1, warnings=(MARKUP,), kernel=MARKUP)
    record.data["plan"]["path"].update(title=MARKUP, sources={"loss": MARKUP})
    text = render_page(record, assets="../assets")
    assert "alert(" in text
    assert MARKUP not in text
    assert text.count("<script") == 4


def test_the_page_explains_throughput_above_the_rate_where_it_happens_only(
    tmp_path: FilePath,
) -> None:
    plan = plan_of(rtt="20ms", rate="10Mbit", time="5s", stack="reno")
    usual = write_lesson_run(tmp_path / "usual", plan, throughput_mbps=lambda _t_s, _flow: 9.5)
    # Nothing is read in the third second, and twice as much in the fourth
    late = write_lesson_run(
        tmp_path / "late",
        plan,
        throughput_mbps=lambda t_s, _flow: 0.0 if 2 < t_s < 3 else 19.0 if 3 < t_s < 4 else 9.5,
    )
    words = "throughput exceeds the bottleneck&#39;s rate: receivers read in blocks and in order"
    assert words not in render_page(usual)
    assert f"In 1 second {words}" in render_page(late)
    assert "In 1 second" in draw(late.samples, plan).axes[-1].get_xlabel()
    assert draw(usual.samples, plan).axes[-1].get_xlabel() == "time (s, virtual clock)"
    # A run of one region has no lines between regions
    assert "Vertical lines" not in render_page(usual)


def test_values_of_the_path_are_as_people_write_them(tmp_path: FilePath) -> None:
    plan = plan_of(rtt="20ms", rate="480Mbit", buffer="2MB", window="16MiB", time="5s")
    text = render_page(write_lesson_run(tmp_path / "a", plan))
    for value in ("480 Mbit/s", "2 MB", "16 MiB", "20 ms", "1,500 bytes"):
        assert f"<td>{value}</td>" in text
    facts = text[text.index("<h2>Path ") :]
    assert not re.search(r"<th[^>]*>\w+_(bps|bytes|ms)<", facts)
    assert text.count("<table") == text.count('<caption class="unseen">')


def test_a_full_buffer_is_drawn_and_one_that_stays_empty_is_not(
    record: Record, tmp_path: FilePath
) -> None:
    empty = write_lesson_run(tmp_path / "a", plan_of(rtt="20ms", rate="10Mbit", time="5s"))
    assert "buffer" not in [trace["name"] for trace in curves(empty)["data"]]
    plan = record.data["plan"]
    plan["path"]["buffer_bytes"] = int(record.samples.queue["backlog_bytes"].max()) + 1
    full = Record(record.directory, record.data)
    (drawn,) = (trace for trace in curves(full)["data"] if trace["name"] == "buffer")
    assert drawn["y"] == pytest.approx([plan["path"]["buffer_bytes"] / 1e6] * 2, abs=1e-4)


def test_a_buffer_beyond_the_panel_is_said(tmp_path: FilePath) -> None:
    plan = plan_of(rtt="20ms", rate="10Mbit", buffer="16MiB", time="5s")
    assert "The buffer, 16 MiB, is beyond the panel" in render_page(
        write_lesson_run(tmp_path / "a", plan)
    )


def test_the_page_says_and_draws_where_a_receiver_s_window_limits_a_flow(
    tmp_path: FilePath,
) -> None:
    plan = plan_of(rtt="20ms", rate="100Mbit", window="10MB", time="5s", stack="cubic+bbr")
    # Receivers advertise 10^7 bytes; the first flow's window is above in the last fifth
    record = write_lesson_run(
        tmp_path / "a",
        plan,
        window_packets=lambda t_s, flow: 8000.0 if t_s > 4.05 and not flow else 100.0,
    )
    text = html.unescape(render_page(record))
    assert "not its congestion control: flow1 cubic (20 %) of the samples" in text
    assert "The path's window is 10 MB." in text
    names = [trace["name"] for trace in curves(record)["data"]]
    assert "flow1 cubic receiver's window" in names
    assert "flow2 bbr receiver's window" not in names
    open_ended = write_lesson_run(tmp_path / "b", plan)
    assert "receiver limits" not in render_page(open_ended)


def test_a_table_of_values_comes_as_csv_from_the_page_itself(record: Record) -> None:
    (address,) = re.findall(
        r'<a download="flows.csv" href="data:text/csv;charset=utf-8,([^"]+)"', render_page(record)
    )
    header, first, second = unquote(html.unescape(address)).splitlines()
    assert header.startswith("flow,stack,")
    assert (first.split(",")[:2], second.split(",")[:2]) == (["flow1", "htcp"], ["flow2", "htcp"])


def test_a_second_that_holds_a_part_of_a_faster_one_needs_no_explanation(
    tmp_path: FilePath,
) -> None:
    plan = plan_of(rtt="20ms", rate="10Mbit,3s:100Mbit", time="5s", stack="reno")
    record = write_lesson_run(
        tmp_path / "a", plan, throughput_mbps=lambda t_s, _flow: 9.5 if t_s < 2.8 else 90.0
    )
    assert "exceeds the bottleneck" not in render_page(record)
