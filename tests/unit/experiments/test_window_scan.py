"""The window scan: measures of regions, the sentences that hold, and the figure."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.window_scan import analysis, figure
from farpath.metrics.measures import Measure
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.curves import xs, ys
from tests.support.study_measures import measure
from tests.support.study_runs import write_recorded_runs


def scanned(stack: str, two: float, four: float, rtt: float) -> list[Measure]:
    """S of two flows and of four, and the RTT of one over the base, with a window of 8.4 MB."""
    about = {"stack": stack, "rate": "480Mbit", "window": "8.4MB"}
    values = {
        analysis.TWO_STABILITY: two, analysis.FOUR_STABILITY: four, analysis.ONE_RTT: rtt,
    }  # fmt: skip
    return [
        measure(analysis.EXPERIMENT, name, value, about=about) for name, value in values.items()
    ]


def test_a_buffer_holds_186_ms_at_each_rate() -> None:
    paths = [run.plan.path for run in load_experiment(analysis.EXPERIMENT).runs(WHOLE)]
    assert len(paths) == 3 * 3 * 4
    assert {path.buffer_bytes / path.rate_bps * 8e3 for path in paths} == {186.0}
    assert {path.window_bytes for path in paths} == {6_300_000, 8_400_000, 12_600_000, 16_777_216}


def test_a_run_has_the_numbers_of_table_1_and_those_of_its_regions(tmp_path: FilePath) -> None:
    measured = analysis.measures(write_recorded_runs(tmp_path, analysis.EXPERIMENT, QUICK))
    values = {each.quantity: each for each in measured}
    printed = values[analysis.MEAN].printed
    assert printed is not None
    assert printed.value == 402
    # Pings of made-up records take the base RTT
    assert values[analysis.ONE_RTT].value == pytest.approx(1, abs=0.1)
    assert 0 <= values[analysis.HOLD].value <= len(analysis.SENTENCES)


def test_a_window_is_possible_if_two_flows_are_steadier_than_four_and_one_fills_nothing() -> None:
    fits = scanned("htcp_2004", two=0.1, four=0.3, rtt=1.1)
    assert analysis.is_possible(
        [*fits, *scanned("reno_2004", two=0.1, four=0.2, rtt=1.0)], "480Mbit", "8.4MB"
    )
    for two, rtt in ((0.3, 1.0), (0.1, 1.3)):
        reno = scanned("reno_2004", two=two, four=0.2, rtt=rtt)
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
    assert (xs(means.lines[0]), ys(means.lines[0])) == ([8.4, 16.777216], [369.0, 317.0])
    assert ys(means.lines[1])[0] == 402
