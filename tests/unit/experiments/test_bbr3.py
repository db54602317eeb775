"""Shares of BBR: measured from records, and version 1's by its model."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.bbr3 import analysis, figure
from farpath.planning.path_options import resolve_path
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.curves import ys
from tests.support.study_measures import measure
from tests.support.study_runs import write_recorded_runs


def test_the_first_of_two_flows_has_its_share(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, analysis.EXPERIMENT, QUICK)
    shares = [each for each in analysis.measures(done) if each.quantity == analysis.SHARE]
    # Flow 2 of made-up records has half of flow 1
    assert [each.value for each in shares] == [pytest.approx(2 / 3)] * 3
    # Version 1 alone has a model: in a buffer of one product it takes all
    assert [each.theory for each in shares] == [pytest.approx(1.0, abs=0.02), None, None]


@pytest.mark.parametrize(("buffer", "share"), [("0.5xBDP", 1.0), ("2xBDP", 0.75), ("4xBDP", 0.625)])
def test_version_1_takes_half_and_half_of_the_product_over_the_buffer(
    buffer: str, share: float
) -> None:
    path = resolve_path(rtt="40ms", rate="50Mbit", buffer=buffer)
    assert analysis.share_of_version_1(path) == pytest.approx(share, rel=0.02)


def test_the_grid_is_whole() -> None:
    runs = load_experiment(analysis.EXPERIMENT).runs(WHOLE)
    assert len(runs) == 5 * 2 + 4 * 3 * 4


def test_each_other_flow_has_a_frame_and_each_rtt_a_line() -> None:
    def share(stack: str, rtt: str, buffer: str, value: float, theory: float | None) -> object:
        about = {"stack": stack, "rtt": rtt, "buffer": buffer}
        return measure(analysis.EXPERIMENT, analysis.SHARE, value, theory=theory, about=about)

    known = [
        share("bbr+cubic", figure.BOTH_RTT, "1xBDP", 0.9, 1.0),
        share("bbr3+cubic", figure.BOTH_RTT, "1xBDP", 0.6, None),
        share("bbr3+reno", "5ms", "1xBDP", 0.4, None),
        share("bbr3+reno", "5ms", "4xBDP", 0.3, None),
        share("bbr3+reno", "30ms", "1xBDP", 0.5, None),
    ]
    ((name, drawn),) = figure.figures(known, [])  # type: ignore[arg-type]
    assert name == analysis.EXPERIMENT
    both, reno = drawn.axes
    assert [ys(line)[0] for line in both.lines[:3]] == [0.9, 1.0, 0.6]
    assert [ys(line) for line in reno.lines[:2]] == [[0.4, 0.3], [0.5]]
