"""Shares of BBR: measured from records, and version 1's by its model."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from experiments.bbr3 import analysis, figure
from farpath.metrics.measures import select_measures
from farpath.planning.path_options import resolve_path
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.curves import xs, ys
from tests.support.study_measures import measure
from tests.support.study_runs import write_recorded_runs


def test_the_first_of_two_flows_has_its_share_and_a_flow_alone_none(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, analysis.EXPERIMENT, QUICK)
    shares = select_measures(analysis.measures(done), analysis.SHARE)
    # Flow 2 of made-up records has half of flow 1
    assert [each.value for each in shares] == [pytest.approx(2 / 3)] * 3
    # Version 1 alone has a model: in a buffer of one product it takes all
    assert [each.theory for each in shares] == [pytest.approx(1.0, abs=0.02), None, None]
    alone = {each.condition for each in analysis.measures(done) if each.about["flows"] == "1"}
    assert alone == {"bbr3, 30ms, 1xBDP, loss 1%", "bbr3, wifi-trace"}


@pytest.mark.parametrize(("buffer", "share"), [("0.5xBDP", 1.0), ("2xBDP", 0.75), ("4xBDP", 0.625)])
def test_version_1_takes_half_and_half_of_the_product_over_the_buffer(
    buffer: str, share: float
) -> None:
    path = resolve_path(rtt="40ms", rate="50Mbit", buffer=buffer)
    assert analysis.share_of_version_1(path) == pytest.approx(share, rel=0.02)


def test_the_grid_is_whole() -> None:
    runs = load_experiment(analysis.EXPERIMENT).runs(WHOLE)
    shared, lossy, jittery, busy, traced, many = 6 * 2 + 4 * 3 * 4, 4 * 4, 2 * 4, 4, 2 * 4, 4
    assert len(runs) == 10 * (shared + lossy + jittery + busy + traced + many)


def _means(axes: Axes) -> list[Line2D]:
    """The lines of means, without those of their intervals."""
    return [container[0] for container in axes.containers]


def test_each_other_flow_has_a_frame_and_each_rtt_a_line() -> None:
    def share(stack: str, rtt: str, buffer: str, value: float, theory: float | None) -> object:
        about = {"stack": stack, "rtt": rtt, "buffer": buffer, "flows": "2"}
        about |= dict.fromkeys(("path", "loss", "jitter", "background"), "")
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
    assert {line.get_label(): ys(line) for line in both.lines}["model"] == [1.0]
    assert [ys(line) for line in _means(both)] == [[0.9], [0.6]]
    assert [ys(line) for line in _means(reno)] == [[0.4, 0.3], [0.5]]


def test_a_flow_alone_has_a_line_by_loss_and_a_mark_in_each_other_condition() -> None:
    def alone(quantity: str, value: float, **about: str) -> object:
        usual = {"stack": "bbr3", "flows": "1", "rtt": "30ms", "buffer": "1xBDP"}
        usual |= dict.fromkeys(("path", "loss", "jitter", "background"), "")
        return measure(analysis.EXPERIMENT, quantity, value, about=usual | about)

    known = [
        alone(analysis.UTILISATION, 0.9, loss="0.5%"),
        alone(analysis.UTILISATION, 0.8, loss="1%"),
        alone(analysis.UTILISATION, 0.7, jitter="5ms"),
        alone(analysis.WAIT, 3.0, path="lte-trace"),
    ]
    ((name, drawn),) = figure.figures(known, [])  # type: ignore[arg-type]
    by_loss, used, waits = drawn.axes
    assert name == "bbr3-alone"
    (losses,), (jitter,) = _means(by_loss), _means(used)
    assert (xs(losses), ys(losses)) == ([0.5, 1.0], [0.9, 0.8])
    assert ys(jitter) == [0.7]
    assert [text.get_text() for text in waits.get_xticklabels()] == ["jitter\n5ms", "lte\ntrace"]
