"""L4S: Prague's share and the waits of both stacks, from records."""

from __future__ import annotations

from pathlib import Path as FilePath

import numpy as np
import pandas as pd
import pytest

from experiments.l4s import analysis, figure
from farpath.metrics.measures import Measure
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.curves import ys
from tests.support.study_measures import measure
from tests.support.study_runs import write_recorded_runs


def test_flows_of_the_first_stack_have_their_share_of_all(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, analysis.EXPERIMENT, QUICK)
    found = [each for each in analysis.measures(done) if each.quantity == analysis.SHARE]
    # Flow n of made-up records has an nth of the first
    of_two = 1 / (1 + 1 / 2)
    odd, all_16 = (sum(1 / n for n in range(1, 17, step)) for step in (2, 1))
    by_flows = {each.about["flows"]: each.value for each in found}
    assert by_flows == {"2": pytest.approx(of_two), "16": pytest.approx(odd / all_16)}
    # DualPI2 couples its queues; others promise nothing, nor has CUBIC beside itself a theory
    theories = {(each.about["queue"], each.about["stack"]): each.theory for each in found}
    assert theories.pop(("dualpi2", "prague+cubic")) == analysis.coupled_share(20.0)
    assert set(theories.values()) == {None}


@pytest.mark.parametrize(
    ("rtt_ms", "share"),
    # By hand: 20 ms of CUBIC and the reference of 25, 35 and 25, 95 and 81
    [(5.0, 20 / 45), (20.0, 35 / 60), (80.0, 95 / 176)],
)
def test_equal_windows_of_unequal_rtts_have_rates_by_their_inverse(
    rtt_ms: float, share: float
) -> None:
    assert analysis.coupled_share(rtt_ms) == pytest.approx(share)


def test_a_wait_is_what_is_above_the_base_rtt_from_a_time_on() -> None:
    rows = [("flow1", 0.5, 90_000), *(("flow1", 5 + n / 100, 1000 + 10 * n) for n in range(101))]
    rows += [("flow2", 6.0, 7000), ("flow1", 7.0, -20_000)]
    trace = pd.DataFrame(
        [(flow, t_s, 20_000 + wait_us) for flow, t_s, wait_us in rows],
        columns=["flow", "t_s", "rtt_us"],
    )
    assert analysis.wait_ms(trace, ["flow1"], 20.0, 1.0) == pytest.approx(1.99)
    assert analysis.wait_ms(trace, ["flow2"], 20.0, 1.0) == pytest.approx(7.0)
    assert np.isnan(analysis.wait_ms(trace, ["flow3"], 20.0, 1.0))


def test_the_grid_is_whole_with_ten_draws() -> None:
    runs = load_experiment(analysis.EXPERIMENT).runs(WHOLE)
    assert len(runs) == 10 * (5 * 3 + 5 + 3 + 4 + 1 + 2)


def test_the_figure_has_a_line_for_each_queue_of_the_grid_and_nothing_else() -> None:
    def of(quantity: str, queue: str, value: float, **other: str) -> Measure:
        about = {"stack": "prague+cubic", "queue": queue, "rtt": "20ms", "rate": "40Mbit",
                 "jitter": "0ms", "flows": "2"} | other  # fmt: skip
        return measure(analysis.EXPERIMENT, quantity, value, about=about)

    known = [
        of(quantity, queue, value, **other)
        for quantity in figure.HEADINGS
        for queue, value, other in (
            ("dualpi2", 0.5, {}),
            ("tail drop", 0.9, {}),
            ("dualpi2", 0.1, {"jitter": "4ms"}),
        )
    ]
    ((name, drawn),) = figure.figures(known, [])
    assert name == analysis.EXPERIMENT
    for axes in drawn.axes:
        lines = {each.get_label(): ys(each[0]) for each in axes.containers}
        assert lines == {"dualpi2": [0.5], "tail drop": [0.9]}
