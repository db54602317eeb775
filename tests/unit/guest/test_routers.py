"""Addresses and routes of a row of routers: packets find their way there and back."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface, ip_network

import pytest

from farpath.guest import addresses
from farpath.guest.routers import Router, host_names
from farpath.spec.layout import Layout
from tests.support.networks import ROUTED, short_plan
from topologies import lay_out


def routers(layout: Layout, version: int) -> list[Router]:
    return [Router(layout, name, version) for name in layout.routers]


def crossed(layout: Layout, version: int, start: str, end: str) -> list[str]:
    """The routers that a packet between two hosts crosses, by their routes."""
    length = addresses.prefix_length(layout, version)
    by_address = {
        address: router for router in routers(layout, version) for address in router.addresses
    }
    first = addresses.gateway(layout, start)
    assert first is not None
    router = by_address[addresses.router_address(layout, first, version)]
    target = ip_address(addresses.address(layout, end, version))
    way = [router.name]
    while not any(
        target in ip_interface(f"{address}/{length}").network for address in router.addresses
    ):
        fitting = [
            route
            for route in router.routes
            if route.destination == "default" or target in ip_network(route.destination)
        ]
        best = min(fitting, key=lambda route: route.destination == "default")
        router = by_address[best.via]
        way.append(router.name)
        assert len(way) <= len(layout.routers), way
    return way


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("words", ROUTED, ids=str)
def test_packets_cross_every_router_in_order_there_and_back(
    words: dict[str, str], version: int
) -> None:
    plan = short_plan(**words)
    layout = lay_out(plan)
    for sender in ("pinger", *(flow.sender for flow in plan.schedule.flows)):
        assert crossed(layout, version, sender, "receiver") == list(layout.routers)
        assert crossed(layout, version, "receiver", sender) == list(reversed(layout.routers))


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("words", ROUTED, ids=str)
def test_all_addresses_differ_and_neighbours_are_of_one_subnet(
    words: dict[str, str], version: int
) -> None:
    layout = lay_out(short_plan(**words))
    length = addresses.prefix_length(layout, version)
    hosts = [addresses.address(layout, host, version) for host in layout.hosts]
    all_addresses = [
        *hosts,
        *(address for router in routers(layout, version) for address in router.addresses),
        addresses.sink_address(layout, version),
    ]
    assert len(set(all_addresses)) == len(all_addresses)
    assert all(str(ip_address(address)) == address for address in all_addresses)
    macs = {addresses.mac_address(layout, host) for host in layout.hosts} | {
        addresses.router_mac_address(layout, port)
        for router in routers(layout, version)
        for port in router.ports
    }
    assert len(macs) == len(layout.hosts) + 2 * len(layout.routers)
    for router in routers(layout, version):
        for port, address in zip(router.ports, router.addresses, strict=True):
            network = ip_interface(f"{address}/{length}").network
            found = addresses.router_neighbours(layout, port, version)
            assert found
            assert all(ip_address(one.ip_address) in network for one in found)
    for host in layout.hosts:
        network = ip_interface(f"{addresses.address(layout, host, version)}/{length}").network
        found = addresses.neighbours(layout, host, version)
        assert all(ip_address(one.ip_address) in network for one in found)
    receiver = addresses.address(layout, "receiver", version)
    sink = ip_address(addresses.sink_address(layout, version))
    assert sink in ip_interface(f"{receiver}/{length}").network
    assert sink != ip_interface(f"{receiver}/{length}").network.broadcast_address


def test_hosts_without_routers_keep_their_one_subnet() -> None:
    layout = lay_out(short_plan(senders="rtt=30ms"))
    assert addresses.address(layout, "receiver", 4) == "10.0.0.1"
    assert addresses.mininet_address(layout, "sender2") == "10.0.0.4/8"
    assert addresses.address(layout, "pinger", 6) == "fd00::3"
    assert [one.ip_address for one in addresses.neighbours(layout, "receiver", 4)] == [
        "10.0.0.2",
        "10.0.0.3",
        "10.0.0.4",
    ]
    assert addresses.gateway(layout, "sender") is None
    assert addresses.sink_address(layout, 4) == addresses.SINK_ADDRESS[4]


def test_both_ports_of_a_router_have_the_name_of_its_hop() -> None:
    layout = lay_out(short_plan(path="caltech", topology="routed"))
    lines = host_names(layout, 4).splitlines()
    assert [line for line in lines if line.endswith(" losnettos")] == [
        "10.6.255.1 losnettos",
        "10.7.255.2 losnettos",
    ]
    assert "10.9.0.1 receiver" in lines


def test_other_routes_than_planned_are_named() -> None:
    router = Router(lay_out(short_plan(path="caltech", topology="routed")), "r1", 4)
    own = {"dst": "10.1.0.0/16", "dev": "r1-eth1"}
    planned = {"dst": "default", "gateway": "10.2.255.1"}
    assert router.route_differences([planned, own]) == []
    assert router.route_differences([own]) == ["routes of r1 are none"]
    assert router.route_differences([planned | {"gateway": "10.1.0.2"}]) == [
        "routes of r1 are default via 10.1.0.2"
    ]
