"""The figure of an ablation: what it draws of each stack, and what it leaves out."""

from __future__ import annotations

import dataclasses

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from experiments.ablation.analysis import ABLATION, Ablation
from experiments.ablation.drawing import draw_ablation
from farpath.runs.experiment import load_experiment
from tests.support.ablations import ablation_of, halved
from tests.support.curves import xs, ys


def marks(axes: Axes) -> list[tuple[float, float]]:
    return [(xs(line)[0], ys(line)[0]) for line in axes.lines if line.get_marker() != "None"]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.fixture(scope="module")
def ablation() -> Ablation:
    return ablation_of(halved("quiet", "htcp_2004"))


def test_means_and_s_of_all_stacks_stand_beside_published_ones(ablation: Ablation) -> None:
    figure = draw_ablation(ablation)
    means, _stabilities = figure.axes
    assert [label.get_text() for label in means.get_yticklabels()] == [
        "Reno", "HSTCP", "HTCP", "Scalable", "Fast-TCP", "LTCP", "HSTCP-LP", "BICTCP", "UDTv2",
    ]  # fmt: skip
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "mean throughput (Mbit/s)",
        "S (standard deviation over mean)",
    ]
    assert "regions of 120 s, 3 seeds" in figure.get_suptitle()
    bars = [each for each in means.collections if isinstance(each, LineCollection)]
    assert bars[0].get_segments()[0][0][0] == 248.0


def test_each_mechanism_is_in_the_legend_once(ablation: Ablation) -> None:
    assert legend(draw_ablation(ablation)) == [
        "published",
        *load_experiment(ABLATION).mechanisms,
    ]


def test_a_mechanism_that_is_not_of_a_stack_has_no_mark_there(ablation: Ablation) -> None:
    drawn = marks(draw_ablation(ablation).axes[0])
    # Eight are of all nine stacks, two of one each; the base is a line
    assert len(drawn) == 8 * 9 + 2
    # H-TCP is the third stack from above
    assert [x for x, y in drawn if 1.5 < y < 2.5 and x == pytest.approx(201)] != []


def test_no_two_marks_of_a_stack_are_at_one_height(ablation: Ablation) -> None:
    for axes in draw_ablation(ablation).axes:
        heights = [y for _, y in marks(axes)]
        assert len(set(heights)) == len(heights)


def test_one_mechanism_without_the_base_is_drawn_too(ablation: Ablation) -> None:
    alone = dataclasses.replace(ablation, runs=ablation.runs_of("window"))
    assert legend(draw_ablation(alone)) == ["published", "window"]


def test_no_two_mechanisms_have_one_colour_and_mark(ablation: Ablation) -> None:
    of_first_stack = [
        (line.get_color(), line.get_marker())
        for line in draw_ablation(ablation).axes[0].lines
        if line.get_marker() != "None" and line.get_label() != "_nolegend_"
    ]
    assert len(of_first_stack) == len(load_experiment(ABLATION).mechanisms) - 1
    assert len(set(of_first_stack)) == len(of_first_stack)
