"""The network of a run: Mininet builds it, ip, ethtool and tc set it, all read back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from mininet.net import Mininet
from mininet.node import OVSBridge

from farpath.guest.commands import run, run_json
from farpath.guest.system import (
    can_write_setting,
    dropped_between_ports,
    has_setting,
    read_setting,
    write_setting,
)
from farpath.plan import Plan

#: Work that a network card would do for the kernel: with any of it on, netem and
#: tbf see packets of up to 64 KB instead of the path's. Short name for setting,
#: long one as ``ethtool -k`` prints it.
OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
}
#: Settings of every end host beside its path's: ping without privileges, and no
#: memory of earlier connections' congestion windows.
HOST_SETTINGS = {
    "net.ipv4.ping_group_range": "0 2147483647",
    "net.ipv4.tcp_no_metrics_save": "1",
}


def receive_buffer_bytes(window_bytes: int, mtu_bytes: int) -> int:
    """Receive buffer with which the kernel advertises ``window_bytes``.

    The window is buffer * ratio / 256, ratio = 256 * payload / memory of a full
    segment (tcp_measure_rcv_mss in net/ipv4/tcp_input.c). A segment's memory is
    its payload and 840 bytes of headers, seen in the lab at both common MTUs. What
    really is advertised is in every flow's samples, and the host checks it.
    """
    payload = mtu_bytes - 52
    ratio = 256 * payload // (payload + 840)
    return -(-window_bytes * 256 // ratio)


@contextmanager
def network_namespace(pid: int) -> Iterator[None]:
    """Be in the network namespace of a process for a while."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    away = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        os.setns(away, os.CLONE_NEWNET)
        yield
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(away)
        os.close(home)


class Network:
    """A running Mininet and what was asked of it."""

    def __init__(self, plan: Plan, topology: ModuleType) -> None:
        self.plan = plan
        self.topology = topology.TOPOLOGY(plan.path, plan.seed)
        # Mininet's own initialisation raises limits: sysctls that the plan sets, and
        # 16,384 open files, all of which mnexec closes one by one for every node.
        Mininet.inited = True
        self.mininet = Mininet(
            topo=self.topology,
            switch=OVSBridge,
            controller=None,
        )

    def start(self) -> None:
        """Start forwarding and set every port and host.

        Queues come last: Open vSwitch clears those of the ports it takes.
        """
        self.mininet.start()
        for node in self._namespaces():
            with network_namespace(node.pid):
                self._set_ports(node)
        queues = [
            f"qdisc add dev {port} {' '.join(queue.tc_arguments())}"
            for port, queue in self._queues().items()
        ]
        run("tc", "-batch", "-", text="\n".join(queues))
        self._apply(self.plan.path.sysctl)
        for host in self.mininet.hosts:
            with network_namespace(host.pid):
                self._apply(self._host_settings(host.name))

    @staticmethod
    def _apply(settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            if can_write_setting(name):
                write_setting(name, value)

    def _host_settings(self, host: str) -> dict[str, str]:
        settings = {**self.plan.path.sysctl, **HOST_SETTINGS}
        if host in self.topology.receivers:
            path = self.plan.path
            buffer_bytes = receive_buffer_bytes(path.window_bytes, path.mtu_bytes)
            low, _, high = settings.get("net.ipv4.tcp_rmem", "4096 0 0").split()
            most = max(buffer_bytes, int(high))
            settings["net.ipv4.tcp_rmem"] = f"{low} {buffer_bytes} {most}"
            settings["net.ipv4.tcp_moderate_rcvbuf"] = "0"
        return settings

    def _namespaces(self) -> list[Any]:
        """One node of each network namespace: every host, one switch for all."""
        return [*self.mininet.hosts, self.mininet.switches[0]]

    def _ports_with(self, node: Any) -> list[Any]:
        """The ports in a node's network namespace; all switches share one."""
        nodes = self.mininet.switches if node in self.mininet.switches else [node]
        return [intf for each in nodes for intf in each.intfList() if intf.name != "lo"]

    def _set_ports(self, node: Any) -> None:
        """MTU, offloads and neighbours, in as few processes as the tools allow."""
        ports = self._ports_with(node)
        mtu_bytes = self.plan.path.mtu_bytes
        links = [f"link set dev {port} mtu {mtu_bytes} gso_max_segs 1" for port in ports]
        if node in self.mininet.hosts:
            links += [
                f"neigh replace {host.IP()} lladdr {host.MAC()} dev {ports[0]} nud permanent"
                for host in self.mininet.hosts
                if host is not node
            ]
        run("ip", "-batch", "-", text="\n".join(links))
        for port in ports:
            states = [word for name in OFFLOADS for word in (name, "off")]
            run("ethtool", "-K", port.name, *states)

    def _queues(self) -> dict[str, Any]:
        return {
            intf.name: intf.params["queue"]
            for switch in self.mininet.switches
            for intf in switch.intfList()
            if intf.params.get("queue")
        }

    def read_back(self) -> dict[str, Any]:
        """What the lab really is: qdiscs with statistics, offloads, host settings."""
        links = [
            {"host": node.name, **link} for node in self._namespaces() for link in self._links(node)
        ]
        settings = {}
        for host in self.mininet.hosts:
            with network_namespace(host.pid):
                settings[host.name] = {
                    name: read_setting(name)
                    for name in self._host_settings(host.name)
                    if has_setting(name)
                }
        global_settings = {
            name: read_setting(name) for name in self.plan.path.sysctl if has_setting(name)
        }
        return {
            "qdiscs": run_json("tc", "-r", "-s", "-j", "qdisc", "show"),
            "links": links,
            "settings": {"": global_settings, **settings},
            "dropped_between_ports": dropped_between_ports(),
        }

    def _links(self, node: Any) -> list[dict[str, Any]]:
        with network_namespace(node.pid):
            shown = run_json("ip", "-d", "-j", "link", "show", "type", "veth")
            features = {port["ifname"]: port for port in run_json("ethtool", "--json", "-k", "*")}
        return [
            {
                "port": link["ifname"],
                "mtu_bytes": link["mtu"],
                "gso_max_segs": link["gso_max_segs"],
                "offloads": {
                    long: features[link["ifname"]][long]["active"] for long in OFFLOADS.values()
                },
            }
            for link in shown
        ]

    def differences(self, found: dict[str, Any]) -> list[str]:
        """How a read-back differs from what was asked, one sentence each."""
        sentences = []
        if found["dropped_between_ports"]:
            sentences.append(f"{found['dropped_between_ports']} packets were lost between ports")
        roots = {qdisc["dev"]: qdisc for qdisc in found["qdiscs"] if qdisc.get("root")}
        for port, queue in self._queues().items():
            for difference in queue.differences(roots.get(port, {})):
                sentences.append(f"queue of {port}: {difference}")
        for link in found["links"]:
            port = link["port"]
            if link["mtu_bytes"] != self.plan.path.mtu_bytes:
                sentences.append(f"MTU of {port} is {link['mtu_bytes']} bytes")
            if link["gso_max_segs"] != 1:
                sentences.append(f"{port} takes {link['gso_max_segs']} segments at once, not 1")
            for offload, active in link["offloads"].items():
                if active:
                    sentences.append(f"{offload} of {port} is on")
        for host, settings in found["settings"].items():
            wanted = self._host_settings(host) if host else self.plan.path.sysctl
            for name, value in settings.items():
                if value.split() != wanted[name].split():
                    where = host or "the kernel"
                    sentences.append(f"{name} of {where} is '{value}', not '{wanted[name]}'")
        missing = set(self.plan.path.sysctl) - set(found["settings"][""])
        sentences += [f"the kernel has no setting {name}" for name in sorted(missing)]
        return sentences

    def address(self, host: str) -> str:
        """IPv4 address of a host."""
        ip: str = self.mininet.get(host).IP()
        return ip
