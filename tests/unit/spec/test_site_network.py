"""The ways of packets in a network of sites."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from farpath.base.errors import BadInputError
from farpath.planning.service_plan import network_of, probes_of, service_plan
from farpath.spec.site_network import SiteNetwork, plan_of_sites
from tests.support.deployments import deployment, link, service

Links = dict[tuple[int, int], int]


def network(sites: int, rtts_ms: Links) -> SiteNetwork:
    names = [f"site{number}" for number in range(sites)]
    links = [link(names[one], names[other], rtt_ms) for (one, other), rtt_ms in rtts_ms.items()]
    members = {name: ["one"] if name == names[0] else [] for name in names}
    return network_of(deployment([service("one", "")], members, links))


@st.composite
def connected(draw: st.DrawFn) -> tuple[int, Links]:
    sites = draw(st.integers(2, 6))
    tree = {(draw(st.integers(0, number - 1)), number): 1 for number in range(1, sites)}
    pairs = draw(st.sets(st.sampled_from(list(combinations(range(sites), 2)))))
    rtts_ms = st.integers(1, 20).map(lambda half: 2 * half)
    return sites, {pair: draw(rtts_ms) for pair in [*tree, *sorted(pairs - set(tree))]}


@given(connected())
def test_a_way_has_the_least_delay_of_all(given_links: tuple[int, Links]) -> None:
    sites, rtts_ms = given_links
    made = network(sites, rtts_ms)
    graph = np.zeros((sites, sites))
    for pair, rtt_ms in rtts_ms.items():
        graph[pair] = rtt_ms
    least_ms = shortest_path(graph, directed=False)
    for one, other in combinations(range(sites), 2):
        probes = f"p{one + 1}", f"p{other + 1}"
        assert made.rtt_ms(*probes) == pytest.approx(least_ms[one, other])
        way = made.way(*probes)
        assert (way[0].start, way[-1].end) == probes
        assert all(step.end == after.start for step, after in pairwise(way))


def test_sites_without_a_way_between_them_are_refused() -> None:
    with pytest.raises(BadInputError) as caught:
        network(3, {(0, 1): 10})
    assert "no way leads from" in caught.value.message


def test_a_plan_of_sites_is_the_same_behind_its_json() -> None:
    asked = deployment(
        [service("one", ""), service("two", "")],
        {"a": ["one"], "b": ["two"], "c": []},
        [link("a", "b", 10), link("b", "c", 10), link("c", "a", 10)],
    )
    plan = service_plan(asked, 1 << 30)
    assert plan_of_sites(json.loads(plan.to_json())) == plan
    assert set(plan.idle_pings) == {"p1-p2", "p1-p3", "p2-p3"}
    assert probes_of(asked) == {"a": "p1", "b": "p2", "c": "p3"}


def test_links_that_faults_could_not_change_are_refused() -> None:
    from farpath.spec import services as spec
    from farpath.spec.services import Fault

    asked = deployment(
        [service("one", ""), service("two", "")],
        {"a": ["one"], "b": ["two"]},
        [link("a", "b", 10)],
    )
    for fault in (
        Fault(spec.RATE, ("a", "b"), 1.0, value=1e6),
        Fault(spec.PARTITION, ("a", "c"), 1.0),
    ):
        with pytest.raises(BadInputError) as caught:
            service_plan(replace(asked, faults=(fault,)), 1 << 30)
        assert caught.value.option == "faults"
