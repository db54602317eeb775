"""The network of a run: Mininet builds it, ip, ethtool and tc set it, all read back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mininet.net import Mininet
from mininet.node import OVSBridge

from farpath.guest import addresses
from farpath.guest.mininet_topo import LayoutTopo
from farpath.guest.platforms import Platform, silence
from farpath.spec.hosts import BACKGROUND
from farpath.spec.plan import Plan
from farpath.spec.window import buffer_of
from farpath.tools.commands import run, run_json
from farpath.tools.sysctl import can_write_setting, has_setting, read_setting, write_setting

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

    def __init__(self, plan: Plan, ground: Platform) -> None:
        self.plan = plan
        self.ground = ground
        topology = LayoutTopo(plan)
        self.layout = topology.layout
        # Mininet's own initialisation raises limits: sysctls that the plan sets, and
        # 16,384 open files, all of which mnexec closes one by one for every node.
        Mininet.inited = True
        self.mininet = Mininet(
            topo=topology,
            switch=OVSBridge,
            controller=None,
        )

    def start(self) -> None:
        """Start forwarding and set every port and host.

        Queues come last: Open vSwitch clears those of the ports it takes.
        """
        for host in self.mininet.hosts if self.ground.shared else []:
            with network_namespace(host.pid):
                silence()
        self.mininet.start()
        for node in self._namespaces():
            with network_namespace(node.pid):
                self._set_ports(node)
        for node in self._namespaces():
            with network_namespace(node.pid):
                self._add_queues(node)
        self._apply(self.plan.path.sysctl)
        for host in self.mininet.hosts:
            with network_namespace(host.pid):
                self._apply(self._host_settings(host.name))
                self._set_route(host)

    def _add_queues(self, node: Any) -> None:
        queues = [
            line for port, queue in self._queues(node).items() for line in queue.tc_lines(port)
        ]
        if queues:
            run("tc", "-batch", "-", text="\n".join(queues))

    def _route_features(self) -> dict[str, int]:
        """What the end hosts' one route says of connections, as ip names it."""
        features = {}
        if self.plan.era.initial_window_packets is not None:
            features["initcwnd"] = self.plan.era.initial_window_packets
        if not self.plan.settings.delayed_ack:
            features["quickack"] = 1
        return features

    def _set_route(self, host: Any) -> None:
        """Give the route that came with the address its features."""
        features = [str(word) for pair in self._route_features().items() for word in pair]
        if features:
            (route,) = run_json(*self._routes, "dev", str(host.defaultIntf()))
            by_version = {4: ("scope", "src"), 6: ("metric",)}[self.plan.ip_version]
            names = {"scope": "scope", "src": "prefsrc", "metric": "metric"}
            run(
                *("ip", "route", "change", route["dst"], "dev", str(host.defaultIntf())),
                *("proto", route["protocol"]),
                *(word for name in by_version for word in (name, str(route[names[name]]))),
                *features,
            )

    @property
    def _routes(self) -> tuple[str, ...]:
        """The command that shows a namespace's routes, of IPv6 without those of multicast."""
        if self.plan.ip_version == 4:
            return ("ip", "-j", "route", "show")
        return ("ip", "-6", "-j", "route", "show", "type", "unicast")

    @staticmethod
    def _apply(settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            if can_write_setting(name):
                write_setting(name, value)

    def _needed_settings(self) -> dict[str, str]:
        """Settings of every end host by its era and its stacks."""
        settings = dict(self.plan.era.sysctl)
        for stack in self.plan.stacks:
            settings.update(stack.sysctl)
        return settings

    def _host_settings(self, host: str) -> dict[str, str]:
        settings = {**self.plan.path.sysctl, **self._needed_settings(), **HOST_SETTINGS}
        if self.plan.ip_version == 6:
            settings |= addresses.quiet_settings(str(self.mininet.get(host).defaultIntf()))
        if host in self.plan.receivers:
            buffer_bytes = buffer_of(self.plan, host)
            low, _, high = settings.get("net.ipv4.tcp_rmem", "4096 0 0").split()
            most = max(buffer_bytes, int(high))
            settings["net.ipv4.tcp_rmem"] = f"{low} {buffer_bytes} {most}"
            settings["net.ipv4.tcp_moderate_rcvbuf"] = "0"
        return settings

    def _kernel_settings(self) -> dict[str, str]:
        """Settings that the path asks of the kernel as a whole."""
        names = self.ground.kernel_wide(self.plan.path.sysctl)
        return {name: self.plan.path.sysctl[name] for name in names}

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
        mtus_bytes = self.layout.mtus_bytes
        links = [
            f"link set dev {port} mtu {mtus_bytes[port.name]} gso_max_segs 1" for port in ports
        ]
        if node in self.mininet.hosts:
            if self.plan.ip_version == 6:
                self._apply(addresses.quiet_settings(ports[0].name))
                old = f"{node.IP()}/{ports[0].prefixLen}"
                links += addresses.lines_of_ipv6(ports[0].name, self.address(node.name), old)
            links += [
                f"neigh replace {self.address(host.name)} lladdr {host.MAC()} dev {ports[0]} "
                "nud permanent"
                for host in self.mininet.hosts
                if host is not node
            ]
        if node.name == BACKGROUND:
            receiver = self.mininet.get(self.plan.schedule.flows[0].receiver)
            links.append(
                f"neigh replace {self.nowhere} lladdr {receiver.MAC()} dev {ports[0]} nud permanent"
            )
        run("ip", "-batch", "-", text="\n".join(links))
        for port in ports:
            states = [word for name in OFFLOADS for word in (name, "off")]
            run("ethtool", "-K", port.name, *states)

    def _queues(self, node: Any) -> dict[str, Any]:
        """The queues of the ports in a node's network namespace."""
        return {
            intf.name: intf.params["queue"]
            for intf in self._ports_with(node)
            if intf.params.get("queue")
        }

    def read_back(self) -> dict[str, Any]:
        """What the lab really is: qdiscs with statistics, offloads, host settings."""
        links = [
            {"host": node.name, **link} for node in self._namespaces() for link in self._links(node)
        ]
        settings, routes = {}, {}
        for host in self.mininet.hosts:
            with network_namespace(host.pid):
                settings[host.name] = {
                    name: read_setting(name)
                    for name in self._host_settings(host.name)
                    if has_setting(name)
                }
                routes[host.name] = run_json(*self._routes)
        names = self._kernel_settings()
        with self.ground.whole_kernel():
            global_settings = {name: read_setting(name) for name in names if has_setting(name)}
        return self._addresses() | {
            "qdiscs": [qdisc for node in self._namespaces() for qdisc in self._qdiscs(node)],
            "links": links,
            "routes": routes,
            "settings": {"": global_settings, **settings},
            "dropped_between_ports": self.ground.dropped_between_ports(),
            "background_bytes": self._background_bytes(),
        }

    def _addresses(self) -> dict[str, Any]:
        """Each host's ports with their addresses, where these are not Mininet's own."""
        found = {}
        for host in self.mininet.hosts if self.plan.ip_version == 6 else []:
            with network_namespace(host.pid):
                found[host.name] = run_json("ip", "-j", "address", "show")
        return {"addresses": found} if found else {}

    def _background_bytes(self) -> int:
        """What the source of background traffic has sent, in bytes of frames."""
        if not self.plan.path.background:
            return 0
        with network_namespace(self.pid(BACKGROUND)):
            (port,) = run_json("ip", "-s", "-j", "link", "show", "type", "veth")
        sent: int = port["stats64"]["tx"]["bytes"]
        return sent

    def _qdiscs(self, node: Any) -> list[dict[str, Any]]:
        if not self._queues(node):
            return []
        with network_namespace(node.pid):
            shown: list[dict[str, Any]] = run_json("tc", "-r", "-s", "-j", "qdisc", "show")
        return shown

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
        for node in self._namespaces():
            for port, queue in self._queues(node).items():
                for difference in queue.differences(roots.get(port, {})):
                    sentences.append(f"queue of {port}: {difference}")
        for link in found["links"]:
            sentences += self._link_differences(link)
        for host, ports in found.get("addresses", {}).items():
            sentences += addresses.differences(host, ports, self.address(host))
        for host, routes in found["routes"].items():
            sentences += self._route_differences(host, routes)
        for host, settings in found["settings"].items():
            sentences += self._setting_differences(host, settings)
        return sentences

    def _link_differences(self, link: dict[str, Any]) -> list[str]:
        sentences = []
        port = link["port"]
        if link["mtu_bytes"] != self.layout.mtus_bytes[port]:
            sentences.append(f"MTU of {port} is {link['mtu_bytes']} bytes")
        if link["gso_max_segs"] != 1:
            sentences.append(f"{port} takes {link['gso_max_segs']} segments at once, not 1")
        return sentences + [
            f"{offload} of {port} is on" for offload, active in link["offloads"].items() if active
        ]

    def _route_differences(self, host: str, routes: list[dict[str, Any]]) -> list[str]:
        metrics = {
            key: value for entry in routes[0].get("metrics", []) for key, value in entry.items()
        }
        wanted = self._route_features()
        if len(routes) == 1 and metrics == wanted:
            return []
        return [f"routes of {host} have {metrics}, not {wanted}"]

    def _setting_differences(self, host: str, settings: dict[str, str]) -> list[str]:
        where = host or "the kernel"
        wanted = self._host_settings(host) if host else self._kernel_settings()
        asked = self._needed_settings() if host else wanted
        different = [
            f"{name} of {where} is '{value}', not '{wanted[name]}'"
            for name, value in settings.items()
            if value.split() != wanted[name].split()
        ]
        missing = sorted(set(asked) - set(settings))
        return different + [f"{where} has no setting {name}" for name in missing]

    def pid(self, host: str) -> int:
        """A process in the network namespace of a host."""
        pid: int = self.mininet.get(host).pid
        return pid

    def address(self, host: str) -> str:
        """The address of a host that flows use."""
        number = 1 + [each.name for each in self.mininet.hosts].index(host)
        return addresses.address(self.mininet.get(host), number, self.plan.ip_version)

    @property
    def nowhere(self) -> str:
        """The address to which background traffic is sent."""
        return addresses.NOWHERE[self.plan.ip_version]
