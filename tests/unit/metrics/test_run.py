"""Metrics: against values computed by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.metrics import run as metrics
from farpath.record.record import Samples
from farpath.spec.plan import Plan

RATES = st.lists(st.floats(1, 1e10), min_size=1, max_size=8)


@given(RATES)
def test_fairness_lies_between_one_nth_and_one(means_bps: list[float]) -> None:
    assert 1 / len(means_bps) - 1e-9 <= metrics.fairness(means_bps) <= 1 + 1e-9


@given(RATES, st.floats(0.1, 10))
def test_fairness_and_stability_do_not_depend_on_the_unit(rates: list[float], k: float) -> None:
    scaled = [k * rate for rate in rates]
    assert metrics.fairness(scaled) == pytest.approx(metrics.fairness(rates))
    if len(rates) > 1:
        assert metrics.stability(scaled) == pytest.approx(metrics.stability(rates), abs=1e-6)


def test_silent_flows_have_no_fairness_and_no_stability() -> None:
    assert math.isnan(metrics.fairness([0.0, 0.0]))
    assert math.isnan(metrics.stability([0.0, 0.0]))
    assert math.isnan(metrics.stability([]))


def test_smoothing_keeps_a_constant_and_the_length() -> None:
    assert metrics.smoothed([7.0] * 12).tolist() == [7.0] * 12
    assert metrics.smoothed([1.0, 2.0]).tolist() == [1.5, 1.5]


def test_smoothing_reaches_over_no_flows_start_or_end(samples: Samples, plan: Plan) -> None:
    flows_bps = metrics.per_second(samples, plan.schedule)
    flows_bps.loc[6, "flow2"] = 0  # slow to start
    smooth = metrics.smoothed_flows(flows_bps, plan.schedule)["flow2"] / 1e6
    assert set(smooth[:5]) == {0.0}
    assert smooth[6] == pytest.approx(400 / 3)  # of three seconds, it has no earlier ones
    assert smooth[35] == pytest.approx(200)
    assert smooth[36] == pytest.approx(8)
    assert set(smooth[37:]) == {0.0}


def test_the_aggregate_has_one_value_per_second_of_the_schedule(
    samples: Samples, plan: Plan
) -> None:
    total = metrics.aggregate(samples, plan.schedule)
    assert list(total.index) == list(range(1, 41))
    # 50 MB in a second are 400 Mbit/s, alone or shared by two.
    assert total[5] == pytest.approx(400e6)
    assert total[20] == pytest.approx(400e6)


def test_what_arrives_after_a_flow_stopped_counts_in_the_second_after(
    samples: Samples, plan: Plan
) -> None:
    flows_bps = metrics.per_second(samples, plan.schedule)
    assert flows_bps["flow2"][35] == pytest.approx(200e6)
    assert flows_bps["flow2"][36] == pytest.approx(8e6)  # 1 MB within 0.2 s
    assert flows_bps["flow2"][37] == 0
    assert flows_bps["flow2"][5] == 0
    # Flow 1's 7 MB arrive after the schedule's end.
    assert flows_bps["flow1"].sum() == pytest.approx(8 * (10 * 50e6 + 30 * 25e6))


def test_samples_closer_than_a_second_count_in_their_seconds() -> None:
    ends_s = np.arange(1, 31) / 10 + 0.04  # from 40 ms after the start on
    rates_bps = np.repeat([100e6, 200e6, 300e6], 10)
    rows = pd.DataFrame({"t_s": ends_s, "interval_s": 0.1, "throughput_bps": rates_bps})
    assert metrics.flow_per_second(rows, 3) == pytest.approx(rates_bps[::10])


def test_a_second_without_a_sample_is_zero(samples: Samples, plan: Plan) -> None:
    cut = samples.flows[samples.flows["flow"] != "flow2"]
    flows_bps = metrics.per_second(Samples(cut, samples.ping, samples.queue), plan.schedule)
    assert (flows_bps["flow2"] == 0).all()


def test_a_summary_agrees_with_a_calculation_by_hand(samples: Samples, plan: Plan) -> None:
    summary = metrics.summarise(samples, plan)
    # 39 seconds of 400 and one of 408 Mbit/s: mean 400.2, s = 8 / sqrt(40).
    assert summary.mean_bps == pytest.approx(400.2e6)
    assert summary.std_bps == pytest.approx(8e6 / math.sqrt(40))
    assert summary.stability == pytest.approx(8 / math.sqrt(40) / 400.2)
    assert (summary.fairness_min, summary.fairness_max) == (1.0, 1.0)
    assert summary.rtt_std_ms == pytest.approx(0, abs=1e-9)
    assert (summary.pings, summary.pings_lost) == (40, 1)
    assert summary.queue_max_bytes == 40 * 1514
    assert summary.queue_drops == 80
    assert summary.retransmits == 20 + 15


def test_cpu_is_shown_per_core_and_per_bit_where_it_was_counted(
    samples: Samples, plan: Plan
) -> None:
    summary = metrics.summarise(samples, plan, {"senders_s": 4.0, "mhz": 2000.0})
    assert summary.cpu_percent == pytest.approx(10.0)  # 4 s of the 40 s with a flow
    assert summary.mhz_per_mbps == pytest.approx(4.0 * 2000 / (40 * 400.2))
    without = metrics.summarise(samples, plan)
    assert (without.cpu_percent, without.mhz_per_mbps) == (None, None)


def test_regions_count_the_flows_present_throughout(samples: Samples, plan: Plan) -> None:
    regions = metrics.summarise(samples, plan).regions
    assert [region.flows for region in regions] == [
        ("flow1",),
        ("flow1", "flow2"),
        ("flow1",),
    ]
    assert regions[0].fairness == 1.0
    assert regions[1].flow_means_bps == pytest.approx((200e6, 200e6))
    assert regions[2].mean_bps == pytest.approx(401.6e6)


def test_unequal_flows_show_in_the_least_fairness(samples: Samples, plan: Plan) -> None:
    flows = samples.flows.copy()
    flows.loc[flows["flow"] == "flow2", "throughput_bps"] /= 3
    summary = metrics.summarise(Samples(flows, samples.ping, samples.queue), plan)
    assert summary.fairness_min == pytest.approx(0.8)  # 3 to 1
    assert summary.fairness_max == pytest.approx(0.8)


def test_a_summary_is_plain_json_even_where_a_metric_is_undefined(
    samples: Samples, plan: Plan
) -> None:
    ping = samples.ping.assign(rtt_ms=float("nan"))
    flows = samples.flows.assign(throughput_bps=0.0)
    summary = metrics.summarise(Samples(flows, ping, samples.queue), plan)
    data = json.loads(json.dumps(summary.as_dict(), allow_nan=False))
    assert data["rtt_max_ms"] is None
    assert data["stability"] is None
    assert data["fairness_min"] is None
    assert data["regions"][0]["flows"] == ["flow1"]
