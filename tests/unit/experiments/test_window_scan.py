"""The window scan: measures of regions, the sentences that hold, and the figure."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.window_scan import analysis, figure
from farpath.metrics.measures import Measure, select_measures
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.study_measures import measure
from tests.support.study_runs import write_recorded_runs


def scanned(stack: str, window: str = "8.4MB", **values: float) -> list[Measure]:
    about = {"stack": stack, "rate": "480Mbit", "window": window}
    names = {
        "two": analysis.TWO_STABILITY, "four": analysis.FOUR_STABILITY, "rtt": analysis.ONE_RTT,
    }  # fmt: skip
    return [
        measure(analysis.EXPERIMENT, names[name], value, about=about)
        for name, value in values.items()
    ]


def test_a_buffer_holds_186_ms_at_each_rate() -> None:
    paths = [run.plan.path for run in load_experiment(analysis.EXPERIMENT).runs(WHOLE)]
    assert len(paths) == 3 * 3 * 4
    assert {path.buffer_bytes / path.rate_bps * 8e3 for path in paths} == {186.0}
    assert {path.window_bytes for path in paths} == {6_300_000, 8_400_000, 12_600_000, 16_777_216}


def test_a_run_has_the_numbers_of_table_1_and_those_of_its_regions(tmp_path: FilePath) -> None:
    measured = analysis.measures(write_recorded_runs(tmp_path, analysis.EXPERIMENT, QUICK))
    values = {each.quantity: each for each in measured}
    assert values[analysis.MEAN].published == "window-htcp_2004-mean"
    assert values[analysis.MEAN].printed is not None
    assert values[analysis.MEAN].printed.value == 402
    # Pings of made-up records take the base RTT
    assert values[analysis.ONE_RTT].value == pytest.approx(1, abs=0.1)
    assert 0 <= values[analysis.HOLD].value <= len(analysis.SENTENCES)


def test_a_window_is_possible_if_two_flows_are_steadier_than_four_and_one_fills_nothing() -> None:
    fits = scanned("htcp_2004", two=0.1, four=0.3, rtt=1.1)
    assert analysis.is_possible(
        [*fits, *scanned("reno_2004", two=0.1, four=0.2, rtt=1.0)], "480Mbit", "8.4MB"
    )
    for wrong in ({"two": 0.3, "four": 0.2, "rtt": 1.0}, {"two": 0.1, "four": 0.2, "rtt": 1.3}):
        reno = scanned("reno_2004", **wrong)
        assert not analysis.is_possible([*fits, *reno], "480Mbit", "8.4MB")


def test_the_figure_has_a_row_for_each_stack_and_the_printed_values() -> None:
    about = {"stack": "htcp_2004", "rate": "480Mbit"}
    known = [
        measure(
            analysis.EXPERIMENT, analysis.MEAN, value, published="window-htcp_2004-mean",
            about={**about, "window": window},
        )
        for window, value in (("16777216B", 317.0), ("8.4MB", 369.0))
    ]  # fmt: skip
    ((_, drawn),) = figure.figures(known, [])
    means = drawn.axes[0]
    assert means.lines[0].get_xydata().tolist() == [[8.4, 369.0], [16.777216, 317.0]]
    assert means.lines[1].get_ydata()[0] == 402
    assert len(select_measures(known, analysis.MEAN)) == 2
