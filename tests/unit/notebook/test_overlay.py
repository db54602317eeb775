"""Curves of several runs in one figure."""

from __future__ import annotations

from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.notebook.overlay import RTT, THROUGHPUT, WINDOW, overlay
from farpath.report.figures.stack_colours import look_of
from tests.support.lesson_runs import plan_of, write_lesson_run

PAIR = {"rtt": "20ms", "rate": "20Mbit", "time": "5s", "stack": "bbr+cubic"}


def test_each_flow_has_its_stacks_colour_and_each_run_a_dash(tmp_path: FilePath) -> None:
    runs = [
        (name, write_lesson_run(tmp_path / name, plan_of(buffer=name, **PAIR)))
        for name in ("1BDP", "2BDP")
    ]
    data = overlay(runs, THROUGHPUT)["data"]
    assert [line["name"] for line in data] == [
        "1BDP, flow1 bbr", "1BDP, flow2 cubic", "2BDP, flow1 bbr", "2BDP, flow2 cubic",
        "all that the bottleneck carries",
    ]  # fmt: skip
    colours = [line["line"]["color"] for line in data]
    assert colours[:2] == [look_of("bbr").colour, look_of("cubic").colour]
    assert len(set(colours)) == 5
    dashes = [line["line"]["dash"] for line in data]
    assert dashes == ["solid", "solid", "dash", "dash", "dot"]


def test_blocks_of_iperf3_make_no_steps_in_a_curve_of_throughput(tmp_path: FilePath) -> None:
    plan = plan_of(rtt="20ms", rate="10Mbit", time="20s", stack="reno")
    # A block of 128 KiB, and nothing for four tenths of a second
    record = write_lesson_run(
        tmp_path / "blocks", plan,
        throughput_mbps=lambda t_s, _flow: 0.0 if round(10 * t_s) % 5 else 10.485760,
    )  # fmt: skip
    curve = overlay([("run", record)], THROUGHPUT)["data"][0]
    settled = [y for x, y in zip(curve["x"], curve["y"], strict=True) if x >= 1]
    assert settled == pytest.approx([2 * 10.485760 / 10] * len(settled), abs=1e-3)


def test_a_curve_from_a_trace_shows_what_arrived_and_not_what_was_read_in_order(
    tmp_path: FilePath,
) -> None:
    plan = plan_of(rtt="20ms", rate="10Mbit", time="5s", stack="reno", trace="10ms")
    ticks = range(1, 500)
    trace = pd.DataFrame({
        "t_s": [tick / 100 for tick in ticks],
        "delivered_packets": [8 * tick for tick in ticks],
        # Acknowledged in order only once a lost packet has been sent again
        "bytes_acked": [0 if tick < 250 else 1448 * 8 * tick for tick in ticks],
        "mss_bytes": [1448 for _ in ticks],
    })  # fmt: skip
    record = write_lesson_run(tmp_path / "traced", plan, trace=trace)
    curve = overlay([("run", record)], THROUGHPUT)["data"][0]
    assert len(curve["y"]) == 49
    assert curve["y"] == pytest.approx([8 * 1448 * 8 * 100 / 1e6] * 49, rel=1e-3)


@pytest.mark.parametrize(
    ("panel", "values", "reference"),
    [(WINDOW, 30.0, 82.6), (THROUGHPUT, 1.0, 9.56), (RTT, 50.0, 100.0)],
    ids=["window", "throughput", "RTT"],
)
def test_a_curve_and_its_reference_are_in_the_panel_s_unit(
    tmp_path: FilePath, panel: object, values: float, reference: float
) -> None:
    plan = plan_of(rtt="100ms", rate="10Mbit", time="5s", stack="reno")
    record = write_lesson_run(tmp_path / "a", plan, lambda _t_s, _flow: 30.0)
    curve, line = overlay([("run", record)], panel)["data"]  # type: ignore[arg-type]
    assert set(curve["y"]) == {values}
    assert line["y"] == pytest.approx([reference, reference], rel=0.01)
    assert line["x"] == [0.0, 5.0]
