"""Curves of several runs in one figure."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.notebook.overlay import RTT, THROUGHPUT, WINDOW, overlay
from tests.support.lesson_runs import plan_of, write_lesson_run

PAIR = {"rtt": "20ms", "rate": "20Mbit", "time": "5s", "stack": "bbr+cubic"}


def test_each_run_has_a_colour_each_flow_a_dash_and_each_run_its_reference(
    tmp_path: FilePath,
) -> None:
    runs = [
        (name, write_lesson_run(tmp_path / name, plan_of(buffer=name, **PAIR)))
        for name in ("1BDP", "2BDP")
    ]
    data = overlay(runs, THROUGHPUT)["data"]
    assert [line["name"] for line in data] == [
        "1BDP, flow1 bbr", "1BDP, flow2 cubic", "all that the bottleneck carries",
        "2BDP, flow1 bbr", "2BDP, flow2 cubic", "all that the bottleneck carries",
    ]  # fmt: skip
    colours = [line["line"]["color"] for line in data]
    assert len(set(colours[:3])) == len(set(colours[3:])) == 1
    assert colours[0] != colours[3]
    assert [line["line"]["dash"] for line in data[:3]] == ["solid", "dash", "dot"]
    assert [line.get("showlegend", True) for line in data].count(False) == 1


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
