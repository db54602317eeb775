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
    # DualPI2 couples its queues; others promise nothing, nor has CUBIC beside itself a theory, nor
    # any path with losses, other traffic or a trace
    impaired = ("path", *analysis.IMPAIRMENTS)
    theories = {
        (each.about["queue"], each.about["stack"], any(each.about[name] for name in impaired)):
        each.theory for each in found
    }  # fmt: skip
    assert theories.pop(("dualpi2", "prague+cubic", False)) == analysis.coupled_share(20.0)
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


@pytest.mark.parametrize(("rtt_ms", "marks"), [(4.0, 0.4), (24.0, 2.0), (80.0, 2.0)])
def test_a_window_over_a_short_rtt_has_fewer_marks(rtt_ms: float, marks: float) -> None:
    assert analysis.marks_in_window(rtt_ms) == pytest.approx(marks)


def test_parts_are_of_what_each_flow_delivered_after_a_time() -> None:
    trace = pd.DataFrame(
        [
            ("flow1", 0.5, 10, 100, 50, 9),
            ("flow1", 2.0, 20, 1000, 60, 10),
            ("flow1", 9.0, 40, 2000, 160, 15),
            ("flow3", 2.0, 30, 0, 0, 0),
            ("flow3", 9.0, 30, 500, 100, 5),
        ],
        columns=["flow", "t_s", "cwnd_packets", "delivered_packets", "delivered_ce_packets",
                 "retransmits"],
    )  # fmt: skip
    # 100 and 100 of 1000 and 500 are marked, 5 and 5 are sent again
    assert analysis.parts(trace, ["flow1", "flow3"], 1.0) == pytest.approx((0.15, 0.0075))
    assert analysis.window_packets(trace, ["flow1", "flow3"], 1.0) == 30
    assert np.isnan(analysis.window_packets(None, ["flow1"], 1.0))
    assert np.isnan(analysis.parts(None, ["flow1"], 1.0)).all()


def test_the_grid_is_whole_with_ten_draws() -> None:
    runs = load_experiment(analysis.EXPERIMENT).runs(WHOLE)
    by_rtt, of_cubic, rates, jitters, flows = 7 * 4, 3, 4, 2, 4
    stacks, losses, busy, buffers, traced = 4, 4, 2, 5, 2 * 7
    two_stacks = by_rtt + rates + stacks + losses + jitters + busy + buffers + traced
    assert len(runs) == 10 * (two_stacks + of_cubic + flows)
    assert len({repr(run.plan) for run in runs}) == len(runs)


def test_a_figure_has_a_line_for_each_queue_of_the_grid_and_nothing_else() -> None:
    def of(quantity: str, queue: str, value: float, **other: str) -> Measure:
        asked = dict.fromkeys(analysis.ASKED, "")
        about = {"stack": "prague+cubic", "queue": queue, "flows": "2", **asked,
                 "rtt": "20ms", "rate": "40Mbit", "buffer": "100ms"} | other  # fmt: skip
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
    wifi = {"path": "wifi-trace", "rtt": "", "rate": "", "buffer": "750kB"}
    known += [
        of(quantity, queue, value, **wifi)
        for quantity in (*figure.HEADINGS, analysis.UTILISATION)
        for queue, value in (("dualpi2", 0.3), ("fq_codel", 0.7))
    ]
    (name, drawn), (of_traces, traced) = figure.figures(known, [])
    assert (name, of_traces) == (analysis.EXPERIMENT, "l4s-traces")
    for axes in drawn.axes:
        lines = {each.get_label(): ys(each[0]) for each in axes.containers}
        assert lines == {"dualpi2": [0.5], "tail drop": [0.9]}
    assert [axes.get_xticklabels()[0].get_text() for axes in traced.axes] == ["wifi"] * 4
    for axes in traced.axes:
        marks = {each.get_label(): ys(each[0]) for each in axes.containers}
        assert marks == {"dualpi2": [0.3], "fq_codel": [0.7]}
