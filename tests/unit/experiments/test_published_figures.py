"""Three published figures: measures of made-up runs, models by hand, and what is drawn."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.bbr_queue import analysis as bbr_queue
from experiments.bbr_queue import figure as bbr_queue_figure
from experiments.bbr_share import analysis as bbr_share
from experiments.bbr_share import figure as bbr_share_figure
from experiments.dctcp_queue import analysis as dctcp_queue
from experiments.dctcp_queue import figure as dctcp_queue_figure
from farpath.metrics.measures import Measure
from farpath.planning.path_options import resolve_path
from farpath.runs.experiment import QUICK, WHOLE, load_experiment
from tests.support.curves import ys
from tests.support.study_measures import measure
from tests.support.study_runs import write_recorded_runs


def values(measures: list[Measure], quantity: str) -> list[float]:
    return [each.value for each in measures if each.quantity == quantity]


@pytest.mark.parametrize(
    ("buffer", "share"),
    # By hand from p = 1/2 - 1/(2 X) - 4/q, (1 - p) (1 - (q/c + 0.2 + 0.04) / 10), q = 33 X packets
    [("1xBDP", 0.972), ("8xBDP", 0.546), ("32xBDP", 0.438), ("64xBDP", 0.367)],
)
def test_the_model_of_bbr_beside_others_is_that_of_its_paper(buffer: str, share: float) -> None:
    path = resolve_path(rtt="40ms", rate="10Mbit", buffer=buffer)
    assert bbr_share.modelled_share(path) == pytest.approx(share, abs=0.003)


def test_bbrs_part_is_that_of_all_other_flows_too(tmp_path: FilePath) -> None:
    done = write_recorded_runs(tmp_path, bbr_share.EXPERIMENT, QUICK)
    # Flow n of made-up records has an nth of the first: one beside one, and one beside four
    shares = values(bbr_share.measures(done), bbr_share.SHARE)
    assert sorted(set(shares)) == pytest.approx([1 / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5), 2 / 3])


def test_several_flows_of_bbr_leave_one_product_standing_and_one_leaves_none(
    tmp_path: FilePath,
) -> None:
    assert (bbr_queue.predicted_bdp(1), bbr_queue.predicted_bdp(4)) == (0.0, 1.0)
    done = write_recorded_runs(tmp_path, bbr_queue.EXPERIMENT, QUICK)
    assert values(bbr_queue.measures(done), bbr_queue.STANDING) == [0.0, 0.0]


def test_dctcps_largest_queue_is_its_threshold_and_a_packet_of_each_flow(
    tmp_path: FilePath,
) -> None:
    assert dctcp_queue.largest_packets(2) == 22
    done = write_recorded_runs(tmp_path, dctcp_queue.EXPERIMENT, QUICK)
    found = dctcp_queue.measures(done)
    # Queues of made-up records are empty but for the packet in transmission
    assert values(found, dctcp_queue.QUEUE) == [1.0, 1.0]
    printed = {each.published: each.printed for each in found if each.published}
    assert printed["dctcp-1"] is not None
    assert printed["dctcp-1"].value == 20
    assert sorted(printed) == ["dctcp-1", "dctcp-2", "dctcp-3", "dctcp-4"]
    ((_, drawn),) = dctcp_queue_figure.figures(found, done)
    assert len(drawn.axes[0].get_legend_handles_labels()[1]) == 2


def test_the_sets_are_whole_and_have_three_seeds() -> None:
    counts = {
        experiment: len(load_experiment(experiment).runs(WHOLE))
        for experiment in ("bbr-share", "bbr-queue", "dctcp-queue")
    }
    assert counts == {"bbr-share": 3 * (7 + 2), "bbr-queue": 3 * 4, "dctcp-queue": 3 * 4}


def test_points_are_means_over_seeds_with_intervals_beside_the_model() -> None:
    def share(buffer: str, value: float, seed: int) -> Measure:
        about = {"stack": "bbr+cubic", "buffer": buffer}
        return measure("bbr-share", bbr_share.SHARE, value, theory=0.6, about=about, seed=seed)

    measures = [
        share(buffer, value, seed)
        for buffer, seeds in (("2xBDP", (0.5, 0.6, 0.7)), ("8xBDP", (0.4, 0.4, 0.4)))
        for seed, value in enumerate(seeds, start=1)
    ]
    ((_, drawn),) = bbr_share_figure.figures(measures, [])
    lines = {str(line.get_label()): ys(line) for line in drawn.axes[0].lines}
    assert lines["model"] == [0.6, 0.6]
    (container,) = drawn.axes[0].containers
    assert ys(container[0]) == pytest.approx([0.6, 0.4])
    queues = [
        measure("bbr-queue", bbr_queue.STANDING, value, about={"flows": flows})
        for flows, value in (("1", 0.0), ("4", 1.2))
    ]
    ((_, other),) = bbr_queue_figure.figures(queues, [])
    assert ys(other.axes[0].lines[-1]) == [0.0, 1.0]
