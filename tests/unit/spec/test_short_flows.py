"""Short flows: their sizes and arrivals, from a seed alone."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import BadInputError
from farpath.record.identity import plan_identity
from farpath.spec.arrivals import arrivals, arrivals_per_s, frames_bytes, mean_frames_bytes
from farpath.spec.path import Path
from farpath.spec.plan import Plan
from farpath.spec.short_flows import ShortFlows, bounded_pareto_mean, least_of_mean
from farpath.spec.wire import from_wire
from tests.support.plans import network_plan
from tests.support.short_flows import short_flow_plan

sizes = st.builds(
    lambda least, factor, alpha: ShortFlows(10**7, least, least * factor, alpha),
    st.integers(1, 10**6),
    st.integers(1, 10**4),
    st.floats(0.5, 3.0) | st.just(1.0),
)


@given(sizes, st.integers(0, 2**31))
def test_sizes_lie_within_their_bounds(short: ShortFlows, seed: int) -> None:
    chance = random.Random(seed)
    assert all(short.least_bytes <= short.draw_bytes(chance) <= short.most_bytes for _ in range(20))


@pytest.mark.parametrize("alpha", [0.8, 1.0, 1.2, 2.5])
def test_sizes_have_their_mean_and_their_tail(alpha: float) -> None:
    """200,000 sizes up to 100 times the least: their mean is known to 1 %."""
    short, chance = ShortFlows(10**7, 1_000, 100_000, alpha), random.Random(1)
    drawn = [short.draw_bytes(chance) for _ in range(200_000)]
    print(f"alpha {alpha}: mean {fmean(drawn):.0f}, predicted {short.mean_bytes:.0f}")
    assert fmean(drawn) == pytest.approx(short.mean_bytes, rel=0.015)
    above = (10**-alpha - 100**-alpha) / (1 - 100**-alpha)
    assert fmean(size > 10_000 for size in drawn) == pytest.approx(above, rel=0.1)


@given(st.integers(10, 10**6), st.integers(2, 1000), st.floats(0.5, 3.0))
def test_the_least_size_of_a_mean_gives_that_mean(least: int, factor: int, alpha: float) -> None:
    most = least * factor
    assert least_of_mean(bounded_pareto_mean(least, most, alpha), most, alpha) == least


def test_a_mean_beyond_the_bounds_is_refused() -> None:
    for mean in (2e6, 1.0):
        with pytest.raises(BadInputError, match="has a mean of"):
            least_of_mean(mean, 1e6, 1.2)


def test_equal_seeds_give_equal_flows_and_another_seed_others() -> None:
    plan = short_flow_plan()
    other = dataclasses.replace(plan, seed=2)
    assert list(arrivals(plan)) == list(arrivals(plan)) != list(arrivals(other))


def test_flows_start_as_a_poisson_process_and_offer_the_rate() -> None:
    """Over 2000 s: 60,000 flows; their number and the spread of the times between are known."""
    plan = short_flow_plan("tcp:rate=3Mbit,most=100kB")
    schedule = dataclasses.replace(plan.schedule, duration_s=2_000.0)
    long = dataclasses.replace(plan, schedule=schedule)
    flows = list(arrivals(long))
    expected = arrivals_per_s(long) * 2_000
    print(f"{len(flows)} flows, {expected:.0f} expected")
    assert abs(len(flows) - expected) < 4 * math.sqrt(expected)
    between_s = [after.start_s - before.start_s for before, after in pairwise(flows)]
    mean_s = fmean(between_s)
    deviation_s = math.sqrt(fmean((value - mean_s) ** 2 for value in between_s))
    assert deviation_s == pytest.approx(mean_s, rel=0.03)
    offered_bps = 8 * sum(frames_bytes(long, flow.size_bytes) for flow in flows) / 2_000
    print(f"offered {offered_bps / 1e6:.3f} Mbit/s")
    assert offered_bps == pytest.approx(3e6, rel=0.05)
    assert [flow.number for flow in flows] == list(range(len(flows)))


def test_the_first_flows_of_a_longer_schedule_are_those_of_a_shorter_one() -> None:
    plan = short_flow_plan()
    schedule = dataclasses.replace(plan.schedule, duration_s=50.0)
    longer = list(arrivals(dataclasses.replace(plan, schedule=schedule)))
    assert longer[: len(list(arrivals(plan)))] == list(arrivals(plan))


def test_frames_of_a_mean_flow_are_the_mean_of_its_frames() -> None:
    plan = short_flow_plan("tcp:10%,most=1MB")
    drawn = [frames_bytes(plan, flow.size_bytes) for flow in arrivals(plan)]
    assert plan.path.short_flows is not None
    chance = random.Random(3)
    drawn = [frames_bytes(plan, plan.path.short_flows.draw_bytes(chance)) for _ in range(100_000)]
    assert fmean(drawn) == pytest.approx(mean_frames_bytes(plan), rel=0.05)


def test_without_timestamps_a_flow_has_fewer_bytes_of_headers() -> None:
    plan, without = short_flow_plan(), short_flow_plan(sysctl="net.ipv4.tcp_timestamps=0")
    # Four frames without payload, and one with
    assert frames_bytes(plan, 1_000) - frames_bytes(without, 1_000) == 5 * 12


@pytest.mark.parametrize(
    "field",
    [
        {"rate_bps": 99_999},
        {"least_bytes": 0},
        {"least_bytes": 2_000, "most_bytes": 1_000},
        {"alpha": 0.05},
        {"congestion": ""},
        {"congestion": "Cubic"},
    ],
    ids=str,
)
def test_what_is_out_of_range_is_refused_by_its_name(field: dict[str, int | str]) -> None:
    values: dict[str, int | str] = {"rate_bps": 10**6, **field}
    with pytest.raises(BadInputError) as caught:
        ShortFlows(**values)  # type: ignore[arg-type]
    assert caught.value.option == "background"
    assert caught.value.problem.startswith(f"{next(iter(field))} of short flows is ")


def test_a_plan_comes_back_from_json_with_its_short_flows() -> None:
    plan = short_flow_plan("5%+tcp:10%,size=100kB,alpha=1.2,cc=reno")
    assert Plan.from_dict(json.loads(plan.to_json())) == plan


def test_a_path_without_short_flows_keeps_its_identity() -> None:
    plan = network_plan()
    data = plan.as_dict()
    del data["path"]["short_flows"]
    assert from_wire(Path, data["path"]).short_flows is None
    assert plan_identity(Plan.from_dict(data)) == plan_identity(plan)
