"""Datagrams: what spacing, card and bottleneck allow them."""

from __future__ import annotations

import math
from pathlib import Path as FilePath

import pytest

from experiments.udp import analysis as udp
from farpath.metrics.measures import select_measures
from farpath.planning.request import RunRequest
from farpath.runs.experiment import QUICK
from tests.support.study_runs import LOST, SEEN, write_recorded_runs


@pytest.mark.parametrize(
    ("stack", "rate_bps", "carried_mbps"),
    [
        ("udp:size=1000,spacing=40000", 1e9, 200.0),
        ("udp:size=1000,spacing=8000", 1e9, 1000 * 1000 / 1042),
        ("udp:size=1000,spacing=8000", 622e6, 622 * 1000 / 1042),
    ],
)
def test_a_link_carries_what_is_asked_or_what_its_headers_leave(
    stack: str, rate_bps: float, carried_mbps: float
) -> None:
    plan = RunRequest(rtt="6.2ms", rate="1Gbit", stack=stack, schedule="together").plan()
    assert udp.carried_mbps(plan, rate_bps) == pytest.approx(carried_mbps)


def test_loss_is_the_receiver_s_count_and_theory_what_the_bottleneck_leaves(
    tmp_path: FilePath,
) -> None:
    measures = udp.measures(write_recorded_runs(tmp_path, udp.EXPERIMENT, QUICK))
    losses = select_measures(measures, udp.LOSS, beside="")
    assert {loss.value for loss in losses} == {LOST / SEEN}
    by_spacing = {(loss.about["rate"], loss.about["spacing"]): loss.theory for loss in losses}
    frame_bytes = 1514
    assert by_spacing["1000", "24"] == 0
    asked_bps = 8e9 * frame_bytes / 16_000
    assert by_spacing["622", "16"] == pytest.approx(1 - 622e6 / asked_bps)


def test_a_flow_of_which_nothing_arrived_has_lost_all_or_sent_none() -> None:
    assert udp.lost_part({"sent": 9, "expected": 9, "lost": 3}) == pytest.approx(1 / 3)
    assert udp.lost_part({"sent": 9, "expected": 0, "lost": 0}) == 1
    assert math.isnan(udp.lost_part({"sent": 0, "expected": 0, "lost": 0}))


def test_beside_tcp_both_are_measured_and_nothing_is_predicted(tmp_path: FilePath) -> None:
    measures = udp.measures(write_recorded_runs(tmp_path, udp.EXPERIMENT, QUICK))
    beside = [measure for measure in measures if measure.about["beside"]]
    assert [measure.quantity for measure in beside] == [
        udp.THROUGHPUT, udp.LOSS, udp.TCP_THROUGHPUT,
    ]  # fmt: skip
    assert {measure.theory for measure in beside} == {None}


@pytest.mark.parametrize(
    ("stack", "card_bps", "stretch_us"),
    [
        ("udp:size=1472,spacing=40000", 1e9, 0.0),
        ("udp:size=1472,spacing=8000", 622e6, 1514 * 8 / 622 - 8),
        ("udp:size=1472,spacing=12000", 1e9, None),
    ],
)
def test_a_slow_card_stretches_the_spacing_and_where_a_bottleneck_loses_nothing_is_predicted(
    stack: str, card_bps: float, stretch_us: float | None
) -> None:
    plan = RunRequest(rtt="6.2ms", rate="622Mbit", stack=stack, schedule="together").plan()
    found = udp.stretch_us(plan, card_bps)
    assert found is None if stretch_us is None else found == pytest.approx(stretch_us)


def test_jitter_is_the_mean_and_the_percentile_of_what_was_noted(tmp_path: FilePath) -> None:
    measures = udp.measures(write_recorded_runs(tmp_path, udp.EXPERIMENT, QUICK))
    assert {each.value for each in select_measures(measures, udp.JITTER)} == {0.5}
    assert {each.value for each in select_measures(measures, udp.JITTER_P99)} == {0.0}
    by_rate = {each.about["rate"]: each.theory for each in select_measures(measures, udp.JITTER)}
    assert by_rate == {"1000": pytest.approx(0.0), "622": None}
