"""Services on the hosts of a Mininet topology."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.planning.deployment import Deployment
from farpath.planning.deployment_files import read_deployment
from farpath.planning.service_plan import network_of
from farpath.spec.user_network import Cable, Shaping, UserNetwork
from tests.support.refusals import refused

NEAR, FAR = Shaping(delay_ms=1.0), Shaping(rate_bps=10_000_000, buffer_packets=100, delay_ms=20.0)
NETWORK = UserNetwork(
    ("h1", "h2", "h3"),
    ("s1", "s2"),
    (
        Cable("h1", 0, "s1", 1),
        Cable("s1", 2, "h2", 0),
        Cable("s2", 1, "h3", 0, there=Shaping(), back=NEAR),
        Cable("s1", 3, "s2", 2, there=FAR, back=FAR),
    ),
)
FILE = """
services:
  web: {image: machine, command: "true"}
  h1: {image: machine, command: "true", depends_on: [web]}
x-farpath:
  topology: ./mine.py
"""


def read(tmp_path: FilePath, more: str) -> Deployment:
    file = tmp_path / "compose.yml"
    file.write_text(FILE + more)
    asked: list[str] = []

    def network(text: str) -> UserNetwork:
        asked.append(text)
        return NETWORK

    deployment = read_deployment(file, network_of=network)
    assert asked == [f"{tmp_path}/./mine.py"]
    return deployment


def test_switches_are_sites_and_services_stand_on_hosts_of_the_topology(
    tmp_path: FilePath,
) -> None:
    deployment = read(tmp_path, "  hosts: {web: h3}\n")
    assert deployment.sites == {"s1": ("h1",), "s2": ("web",)}
    network = network_of(deployment)
    # From the host of web to that of h1: only what web sends is late by its own cable
    assert [step.shaping.delay_ms for step in network.way("h1", "h2")] == [1.0, 20.0, 0.0]
    assert network.rtt_ms("h1", "h2") == pytest.approx(41.0)


@pytest.mark.parametrize(
    ("more", "option"),
    [
        ("", "hosts"),
        ("  hosts: {web: h9}\n", "hosts"),
        ("  hosts: {web: h1}\n", "hosts"),
        ("  hosts: {wab: h3}\n", "hosts"),
        ("  hosts: {web: h3}\n  sites: {a: [web, h1]}\n", "topology"),
    ],
)
def test_services_without_a_host_of_their_own_are_refused(
    tmp_path: FilePath, more: str, option: str
) -> None:
    with refused(option):
        read(tmp_path, more)
