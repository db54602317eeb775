"""Topologies of containerlab: nodes as services at sites of their own, and links by their vars."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.containerlab import read_containerlab
from farpath.planning.deployment import Deployment, VolumeRequest
from farpath.planning.deployment_files import read_deployment
from farpath.spec.services import Fault, Healthcheck
from farpath.spec.user_network import Shaping

LAB = """
name: two-hosts
topology:
  defaults:
    kind: linux
    env: {LEVEL: default, PLACE: default}
  kinds:
    linux: {image: "example/tools:${TAG:=1}", env: {LEVEL: kind}, binds: ["conf:/conf:ro"]}
  groups:
    clients: {env: {LEVEL: group}, exec: [sleep 1]}
  nodes:
    server:
      cmd: iperf3 -s
      aliases: [srv]
      healthcheck: {test: [CMD, pgrep, iperf3], interval: 2, start-period: 1}
    client:
      group: clients
      env: {MORE: 1}
      exec: ["iperf3 -c server -t 5"]
      labels: {farpath.main: "true"}
      privileged: true
  links:
    - endpoints: ["server:eth1", "client:eth1"]
      mtu: 9000
      vars: {delay: 40ms, jitter: 1ms, loss: 0.1, rate: 100000}
"""
TWO = """
topology:
  nodes:
    a: {kind: linux, image: i, cmd: x, labels: {farpath.main: true}}
    b: {kind: linux, image: i, cmd: x}
  links:
"""


def read(folder: Path, text: str, faults: tuple[str, ...] = ()) -> Deployment:
    file = folder / "lab.clab.yml"
    file.write_text(textwrap.dedent(text))
    return read_containerlab(file, None, faults, {})


def node(folder: Path, text: str) -> Deployment:
    return read(folder, f"topology: {{nodes: {{a: {{kind: linux, image: i, {text}}}}}}}")


def error_of(folder: Path, text: str) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(folder, text)
    assert "\n" not in caught.value.message
    assert caught.value.message.startswith(str(folder))
    return caught.value


def test_nodes_have_what_their_group_kind_and_the_defaults_have(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    found = read(tmp_path, LAB, ("delay:client>server=100ms,at=3s",))
    server, client = found.services
    assert server.image == client.image == "example/tools:1"
    assert server.environment == {"LEVEL": "kind", "PLACE": "default"}
    assert client.environment == {"LEVEL": "group", "PLACE": "default", "MORE": "1"}
    assert server.volumes == (VolumeRequest(str(tmp_path / "conf"), "/conf"),)
    assert (server.command, server.names) == (("iperf3", "-s"), ("server", "srv"))
    assert server.health == Healthcheck(("pgrep", "iperf3"), 2.0, start_period_s=1.0)
    assert (client.entrypoint, client.command) == (
        ("/bin/sh", "-c"),
        ("sleep 1\niperf3 -c server -t 5",),
    )
    assert found.sites == {"server": ("server",), "client": ("client",)}
    (link,) = found.links
    assert link.there == link.back == Shaping(100_000_000, 1000, 40.0, 1.0, 0.001)
    assert (found.name, found.main) == ("two-hosts", "client")
    assert found.faults == (Fault("delay", ("client", "server"), 3, None, True, 100.0),)
    assert [warning.split()[0] for warning in found.warnings] == ["privileged", "mtu"]


def test_vars_of_an_end_are_of_the_packets_that_leave_it(tmp_path: Path) -> None:
    link = """
    - type: veth
      endpoints:
        - {node: a, interface: eth1, vars: {delay: 10ms, rate: 0}}
        - {node: b, interface: eth1}
      vars: {delay: 20ms, loss: 1%}
    """
    (found,) = read(tmp_path, TWO + textwrap.indent(textwrap.dedent(link), "    ")).links
    assert found.there == Shaping(delay_ms=10.0, loss=0.01)
    assert found.back == Shaping(delay_ms=20.0, loss=0.01)


def test_commands_of_exec_run_before_those_of_the_node(tmp_path: Path) -> None:
    found = node(tmp_path, "entrypoint: /run, cmd: a b, exec: [mkdir /x]")
    assert found.services[0].entrypoint == ("/bin/sh", "-c")
    assert found.services[0].command == ('mkdir /x\nexec "$@"', "a", "/run", "a", "b")
    assert len(found.warnings) == 1


def test_a_file_is_told_by_its_content(tmp_path: Path) -> None:
    lab, compose = tmp_path / "one.yml", tmp_path / "two.yml"
    lab.write_text("topology: {nodes: {a: {kind: linux, image: i}}}")
    compose.write_text("services: {b: {image: i}}")
    assert read_deployment(lab, environment={}).main == "a"
    assert read_deployment(compose, environment={}).main == "b"


@pytest.mark.parametrize("text", ["a", "[a]", "topology: {}", "nodes: {}"])
def test_a_file_that_is_neither_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "file.yml").write_text(text)
    with pytest.raises(BadInputError):
        read_deployment(tmp_path / "file.yml", environment={})


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("kind: nokia_srlinux, image: i", "kind"),
        ("kind: bridge", "kind"),
        ("image: i", "kind"),
        ("kind: linux", "image"),
        ("kind: linux, image: machine", "cmd"),
        ("kind: linux, image: i, comand: x", "comand"),
        ("kind: linux, image: i, startup-config: x", "startup-config"),
        ("kind: linux, image: i, network-mode: host", "network-mode"),
        ("kind: linux, image: i, stages: {create: {}}", "stages"),
        ("kind: linux, image: i, exec: [ip addr add 10.0.0.1/24 dev eth1]", "exec"),
        ("kind: linux, image: i, exec: [/sbin/ip link]", "exec"),
        ('kind: linux, image: i, exec: ["a \'"]', "exec"),
        ("kind: linux, image: i, binds: x", "binds"),
        ("kind: linux, image: i, binds: [a]", "volumes"),
        ("kind: linux, image: i, env: [a]", "env"),
        ("kind: linux, image: i, aliases: [a b]", "aliases"),
        ("kind: linux, image: i, healthcheck: {test: x}", "healthcheck"),
    ],
)
def test_what_the_lab_does_not_have_is_refused_by_node_and_key(
    tmp_path: Path, text: str, option: str
) -> None:
    error = error_of(tmp_path, f"topology: {{nodes: {{one: {{{text}}}}}}}")
    assert error.option == option
    assert "node one" in error.message


@pytest.mark.parametrize(
    ("link", "option"),
    [
        ('{endpoints: ["a:eth1", "host:eth1"]}', "endpoints"),
        ('{endpoints: ["a:eth1", "c:eth1"]}', "endpoints"),
        ('{endpoints: ["a:eth1"]}', "endpoints"),
        ('{endpoints: ["a:eth1", "a:eth2"]}', "sites"),
        ("{type: macvlan, endpoint: {node: a, interface: eth1}}", "type"),
        ('{endpoints: ["a:eth1", "b:eth1"], impairments: {delay: 1ms}}', "impairments"),
        ('{endpoints: ["a:eth1", "b:eth1"], vars: {dealy: 1ms}}', "dealy"),
        ('{endpoints: ["a:eth1", "b:eth1"], vars: {corruption: 1}}', "corruption"),
        ('{endpoints: ["a:eth1", "b:eth1"], vars: {delay: 1}}', "delay"),
        (
            "{endpoints: [{node: a, interface: e, ipv4: 10.0.0.1/24}, {node: b, interface: e}]}",
            "ipv4",
        ),
    ],
)
def test_what_is_no_link_is_refused_by_its_key(tmp_path: Path, link: str, option: str) -> None:
    assert error_of(tmp_path, f"{TWO}    - {link}\n").option == option


def test_two_nodes_have_one_link_and_all_have_a_way(tmp_path: Path) -> None:
    link = '    - {endpoints: ["a:eth1", "b:eth1"]}\n'
    assert error_of(tmp_path, TWO + link + link).option == "sites"
    assert error_of(tmp_path, TWO).option == "links"


def test_one_node_ends_the_run(tmp_path: Path) -> None:
    both = "labels: {farpath.main: true}"
    text = f"topology: {{defaults: {{kind: linux, image: i, {both}}}, nodes: {{a: , b: }}, links: "
    assert error_of(tmp_path, text + '[{endpoints: ["a:e", "b:e"]}]}').option == "labels"
    text = text.replace(both, "cmd: x")
    assert error_of(tmp_path, text + '[{endpoints: ["a:e", "b:e"]}]}').option == "main"
