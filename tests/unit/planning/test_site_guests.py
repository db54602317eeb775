"""Which sites of a deployment have a guest of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farpath.planning.deployment import Deployment, VolumeRequest
from farpath.planning.service_plan import service_plan
from farpath.record.idle_path import ping_rtt_ms
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import NetemDelay
from farpath.spec.services import DELAY, Fault
from farpath.spec.site_clock import clock_start_ns, epoch_after_ns, turns_after_ns
from farpath.spec.site_network import SiteNetwork
from farpath.spec.sites import far_ends, window_ns
from tests.support.deployments import deployment, link, service
from topologies import lay_out
from topologies.sites import with_control_links

RATE = {"rate_bps": 10_000_000, "buffer_packets": 100}


def three_sites(near_ms: float, far_ms: float) -> Deployment:
    """Sites a, b and c; b is near to a, c is far from both."""
    return deployment(
        [service("one", ""), service("two", ""), service("three", "")],
        {"a": ["one"], "b": ["two"], "c": ["three"]},
        [link("a", "b", near_ms, **RATE), link("b", "c", far_ms, **RATE)],
        guest_per_site=True,
    )


def planned(asked: Deployment) -> tuple[Plan, SiteNetwork]:
    plan = service_plan(asked, 1 << 30)
    assert isinstance(plan.user_network, SiteNetwork)
    return plan, plan.user_network


def test_each_site_has_a_guest_where_all_its_links_are_long_enough() -> None:
    plan, network = planned(three_sites(2, 80))
    assert network.guests == (0, 1, 2)
    assert [(one.there_ms, one.back_ms) for one in network.far] == [(1, 1), (40, 40)]
    layout = lay_out(plan)
    assert layout.sites == 3
    assert {layout.site_of(node) for node in ("h1", "p1", "s1", "f1")} == {0}
    assert {layout.site_of(node) for node in ("g1", "s2", "h2", "f2")} == {1}


def test_sites_that_are_too_near_to_each_other_share_a_guest() -> None:
    assert planned(three_sites(1.9, 80))[1].guests == (0, 0, 1)
    plan, network = planned(three_sites(1.9, 1.9))
    assert (network.guests, network.far, plan.settings.one_guest) == ((), (), True)


def test_without_the_wish_all_sites_have_one_guest() -> None:
    plan, network = planned(replace(three_sites(20, 80), guest_per_site=False))
    assert (network.guests, plan.settings.one_guest, lay_out(plan).sites) == ((), True, 1)


def test_services_that_share_a_volume_share_a_guest() -> None:
    asked = three_sites(20, 80)
    shared = (VolumeRequest("shared", "/data"),)
    one, two, three = asked.services
    services = (replace(one, volumes=shared), two, replace(three, volumes=shared))
    assert planned(replace(asked, services=services))[1].guests == (0, 1, 0)


def test_a_far_link_has_the_least_delay_that_faults_give_and_netem_the_rest() -> None:
    fault = Fault(DELAY, ("b", "c"), 1.0, 1.0, one_way=True, value=15.0)
    plan, network = planned(replace(three_sites(20, 80), faults=(fault,)))
    assert [(one.there_ms, one.back_ms) for one in network.far] == [(10, 10), (15, 40)]
    delays_s = {
        port.name: port.queue.delay_s
        for port in lay_out(plan).ports
        if isinstance(port.queue, NetemDelay)
    }
    assert sorted(delays_s.values()) == [0, 0, 0, 0.025]


def test_jitter_and_the_delay_of_a_link_without_a_rate_stay_with_netem() -> None:
    asked = replace(
        three_sites(20, 80), links=(link("a", "b", 20, jitter_ms=2.0, **RATE), link("b", "c", 80))
    )
    assert [one.there_ms for one in planned(asked)[1].far] == [8, 39]


def test_a_guest_with_too_many_links_is_one_for_all_sites() -> None:
    names = [f"site{number}" for number in range(20)]
    asked = deployment(
        [service("one", "")],
        {name: ["one"] if name == names[0] else [] for name in names},
        [link(names[0], name, 20) for name in names[1:]],
        guest_per_site=True,
    )
    # 19 links to other sites, and 19 on which guests tell of services
    assert planned(asked)[1].guests == ()


@pytest.mark.parametrize("guest_per_site", [False, True])
def test_pings_take_as_long_in_one_guest_as_in_several(guest_per_site: bool) -> None:
    plan, _ = planned(replace(three_sites(20, 80), guest_per_site=guest_per_site))
    sending_ms = 2 * 98 * 8 / 10e6 * 1e3
    assert ping_rtt_ms(plan, "p1-p2") == pytest.approx(20 + sending_ms, abs=1e-6)
    assert ping_rtt_ms(plan, "p1-p3") == pytest.approx(100 + 2 * sending_ms, abs=1e-6)


def test_guests_tell_each_other_of_services_within_the_least_delay() -> None:
    plan, _ = planned(three_sites(20, 80))
    layout = with_control_links(plan, lay_out(plan))
    assert window_ns(layout) == window_ns(lay_out(plan))
    ends = [end for site in range(3) for end in far_ends(layout, site)]
    control = [end for end in ends if end.port.node.startswith("c")]
    assert len(control) == 6
    assert {end.delay_ns for end in control} == {10_000_000}
    assert len({end.sends_to for end in ends}) == len(ends)


def test_clocks_show_the_date_when_the_first_services_start() -> None:
    from farpath.lab.exec.service_roots import found_services
    from farpath.runs.service_runs import up_run

    asked = replace(three_sites(20, 80), date_s=1_800_000_000)
    run = up_run(asked, found_services(asked))
    start_ns, after_ns = (call(run.plan, run.services) for call in (clock_start_ns, epoch_after_ns))
    assert start_ns + after_ns == 1_800_000_000 * 10**9
    turns_ns = list(turns_after_ns(run.plan, run.services).values())
    assert turns_ns == sorted(turns_ns)
    assert turns_ns[-1] < after_ns
