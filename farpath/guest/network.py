"""Network: builds a run's network with Mininet, configures it, and reads all settings back.

Ports and hosts are configured with ip, ethtool, tc and sysctls.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mininet.link import Intf
from mininet.net import Mininet
from mininet.node import Node, OVSBridge

from farpath.guest import addresses, further_links, qdiscs
from farpath.guest.mininet_topo import SiteTopo
from farpath.guest.platforms import Platform, disable_ipv6
from farpath.guest.routers import Router
from farpath.spec import ecn
from farpath.spec.hosts import BACKGROUND
from farpath.spec.layout import Layout, Port
from farpath.spec.offloads import segments_at_once, wanted_features
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import Bottleneck, Qdisc
from farpath.spec.sites import far_ends
from farpath.spec.window import buffer_of
from farpath.tools.commands import run, run_json
from farpath.tools.sysctl import can_write_setting, has_setting, read_setting, write_setting

#: Sysctls of every end host in addition to its path's: ping without privileges, and no cache
#: of the congestion windows of earlier connections.
HOST_SETTINGS = {
    "net.ipv4.ping_group_range": "0 2147483647",
    "net.ipv4.tcp_no_metrics_save": "1",
}


@contextmanager
def network_namespace(pid: int | None) -> Iterator[None]:
    """Enter the network namespace of a process, and return to the former one at the end.

    None: stay in this one, which is that of the switches.
    """
    if pid is None:
        yield
        return
    former = os.open("/proc/self/ns/net", os.O_RDONLY)
    target = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        os.setns(target, os.CLONE_NEWNET)
        yield
    finally:
        os.setns(former, os.CLONE_NEWNET)
        os.close(target)
        os.close(former)


class Bridge(OVSBridge):
    """A bridge of Open vSwitch, which is newer than Mininet's oldest, 1.10."""

    @classmethod
    def isOldOVS(cls) -> bool:  # noqa: N802  # Mininet's name
        """Return False without asking ovs-vsctl for its version."""
        return False


class Network:
    """The Mininet network of one site of a plan."""

    def __init__(self, plan: Plan, platform: Platform, layout: Layout, site: int) -> None:
        self.plan = plan
        self.platform = platform
        self.site = site
        self.layout = layout
        # Skip Mininet's own initialisation. It sets sysctls that the plan sets, and raises the
        # limit of open files to 16,384, all of which mnexec closes one by one for every node.
        Mininet.inited = True
        # Nor look for its tools and for Open vSwitch, which the guest has started.
        Node.isSetup = True
        self.mininet = Mininet(
            topo=SiteTopo(layout=self.layout, site=site, left_out=self._left_out()),
            switch=Bridge,
            controller=None,
        )
        for port in self._module_ports():
            Intf(port.name, self.mininet.get(port.node), port.number, queue=port.queue)

    def _left_out(self) -> list[str]:
        """Return the hosts that a kernel module stands for."""
        return [] if self.platform.shared else [BACKGROUND]

    def _module_ports(self) -> list[Port]:
        """Return the ports that kernel modules have made at this site."""
        ports = [end.port for end in far_ends(self.layout, self.site)]
        if BACKGROUND in self.layout.hosts and self.has(BACKGROUND) and self._left_out():
            ports.append(self.layout.peer(BACKGROUND))
        return ports

    def start(self) -> None:
        """Start the switches and configure every port and host.

        Qdiscs are set last: Open vSwitch removes those of the ports that it takes over.
        """
        for host in self.mininet.hosts if self.platform.shared else []:
            with network_namespace(host.pid):
                disable_ipv6()
        self.mininet.start()
        for node in self._namespaces():
            with network_namespace(node.pid):
                self._set_ports(node)
        for node in self._namespaces():
            with network_namespace(node.pid):
                qdiscs.add(self._planned_qdiscs(node))
        self._apply(self.plan.path.sysctl)
        for host in self.hosts:
            with network_namespace(host.pid):
                self._apply(self._host_settings(host.name))
                self._set_route(host)

    @property
    def hosts(self) -> list[Any]:
        """The end hosts of this site, as Mininet's nodes."""
        return [node for node in self.mininet.hosts if node.name in self.layout.hosts]

    def _route_features(self) -> dict[str, int]:
        """Return the attributes of the end hosts' route that concern TCP, as ip names them."""
        features = {}
        if self.plan.era.initial_window_packets is not None:
            features["initcwnd"] = self.plan.era.initial_window_packets
        if not self.plan.settings.delayed_ack:
            features["quickack"] = 1
        return features

    def _set_route(self, host: Any) -> None:
        """Set the TCP attributes of the route that came with the host's address.

        A host beside a router gets a default route with them.
        """
        features = [str(word) for pair in self._route_features().items() for word in pair]
        if router := addresses.gateway(self.layout, host.name):
            via = addresses.router_address(self.layout, router, self.plan.ip_version)
            run("ip", "route", "add", "default", "via", via, *features)
        elif features:
            (route,) = run_json(*self._routes, "dev", str(host.defaultIntf()))
            by_version = {4: ("scope", "src"), 6: ("metric",)}[self.plan.ip_version]
            names = {"scope": "scope", "src": "prefsrc", "metric": "metric"}
            run(
                *("ip", "route", "change", route["dst"], "dev", str(host.defaultIntf())),
                *("proto", route["protocol"]),
                *(word for name in by_version for word in (name, str(route[names[name]]))),
                *features,
            )
        version = self.plan.ip_version
        if lines := further_links.route_lines(self.layout, host.name, version, features):
            run("ip", f"-{version}", "-batch", "-", text="\n".join(lines))

    @property
    def _routes(self) -> tuple[str, ...]:
        """The command that prints a namespace's routes; for IPv6 without multicast routes."""
        if self.plan.ip_version == 4:
            return ("ip", "-j", "route", "show")
        return ("ip", "-6", "-j", "route", "show", "type", "unicast")

    @staticmethod
    def _apply(settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            if can_write_setting(name):
                write_setting(name, value)

    def _needed_settings(self) -> dict[str, str]:
        """Return the sysctls that the era and the stacks require of every end host."""
        settings = dict(self.plan.era.sysctl)
        for stack in self.plan.stacks:
            settings.update(stack.sysctl)
        return settings

    def _router(self, name: str) -> Router:
        return Router(self.layout, name, self.plan.ip_version)

    def _node_settings(self, name: str) -> dict[str, str]:
        if name in self.layout.routers:
            return self._router(name).settings
        return self._host_settings(name)

    def _host_settings(self, host: str) -> dict[str, str]:
        settings = {**self.plan.path.sysctl, **self._needed_settings(), **HOST_SETTINGS}
        settings |= ecn.host_setting(self.plan, host)
        if self.plan.ip_version == 6:
            settings |= addresses.quiet_settings(str(self.mininet.get(host).defaultIntf()))
            settings |= further_links.settings(self.layout, host)
        if host in self.plan.receivers and not self.plan.programs:
            buffer_bytes = buffer_of(self.plan, host)
            low, _, high = settings.get("net.ipv4.tcp_rmem", "4096 0 0").split()
            most = max(buffer_bytes, int(high))
            settings["net.ipv4.tcp_rmem"] = f"{low} {buffer_bytes} {most}"
            settings["net.ipv4.tcp_moderate_rcvbuf"] = "0"
        return settings

    def _kernel_settings(self) -> dict[str, str]:
        """Return the path's sysctls that are not per network namespace."""
        names = self.platform.kernel_wide(self.plan.path.sysctl)
        return {name: self.plan.path.sysctl[name] for name in names}

    def _namespaces(self) -> list[Any]:
        """Return one node of each network namespace: every host, and one switch for all."""
        return [*self.mininet.hosts, self.mininet.switches[0]]

    def _ports_with(self, node: Any) -> list[Any]:
        """Return the ports in a node's network namespace; all switches share one."""
        nodes = self.mininet.switches if node in self.mininet.switches else [node]
        return [intf for member in nodes for intf in member.intfList() if intf.name != "lo"]

    def _set_ports(self, node: Any) -> None:
        """Set MTU, offloads and neighbours, in as few processes as the tools allow."""
        ports = self._ports_with(node)
        mtus_bytes = self.layout.mtus_bytes
        offloads = self._offloads(node.name)
        links = [
            f"link set dev {port} up mtu {mtus_bytes[port.name]} "
            f"gso_max_segs {segments_at_once(offloads)}"
            for port in ports
        ]
        if node.name in self.layout.routers:
            router = self._router(node.name)
            if self.plan.ip_version == 6:
                run("ip", "-batch", "-", text="\n".join(router.silent_lines))
            self._apply(router.settings)
            links += router.ip_lines
        elif node in self.mininet.hosts:
            links.append(f"link set dev {ports[0]} address {self._mac(node.name)}")
            if self.plan.ip_version == 6:
                self._apply(addresses.quiet_settings(ports[0].name))
                ipv4_address = addresses.mininet_address(self.layout, node.name)
                links += addresses.ip_lines(ports[0].name, self.address(node.name), ipv4_address)
            found = addresses.neighbours(self.layout, node.name, self.plan.ip_version)
            if node.name == BACKGROUND:
                receiver = self.plan.schedule.flows[0].receiver
                found.append(addresses.Neighbour(self.sink_address, self._mac(receiver)))
            links += addresses.neighbour_lines(ports[0].name, found)
            links += self._further_lines(node.name)
        run("ip", "-batch", "-", text="\n".join(links))
        for port in ports:
            states = [
                word
                for feature in wanted_features(offloads)
                for word in (feature.short, "on" if feature.on else "off")
            ]
            run("ethtool", "-K", port.name, *states)

    def _further_lines(self, host: str) -> list[str]:
        """Return lines that give the further ports of a host addresses and neighbours."""
        version = self.plan.ip_version
        if version == 6:
            self._apply(further_links.settings(self.layout, host))
        return [
            *further_links.hardware_lines(self.layout, host, version),
            *further_links.address_lines(self.layout, host, version),
        ]

    def _offloads(self, node_name: str) -> tuple[str, ...] | None:
        """Return the offloads of a node's ports; those of the path's nodes stay the lab's own."""
        return self.plan.offloads if node_name in self.layout.hosts else None

    def _planned_qdiscs(self, node: Any) -> dict[str, Any]:
        """Return the planned qdiscs of the ports in a node's network namespace, by port."""
        return {
            intf.name: intf.params["queue"]
            for intf in self._ports_with(node)
            if intf.params.get("queue")
        }

    def set_planned(self, port: str, qdisc: Qdisc) -> None:
        """Note what the qdisc of a port of this site is to be from now on."""
        node = next(one.node for one in self.layout.ports if one.name == port)
        self.mininet.get(node).intf(port).params["queue"] = qdisc

    def link(self, port: str) -> qdiscs.RtnetlinkQdisc:
        """Return the link of a port of this site, whose bottleneck is one."""
        with network_namespace(self.host_pid(port)):
            return qdiscs.link_of(port)

    def read_back(self) -> dict[str, Any]:
        """Read the network's real settings: qdiscs with statistics, links, routes, sysctls."""
        links = [
            {"host": node.name, **link} for node in self._namespaces() for link in self._links(node)
        ]
        settings, routes = {}, {}
        for node in self.mininet.hosts:
            with network_namespace(node.pid):
                settings[node.name] = {
                    name: read_setting(name)
                    for name in self._node_settings(node.name)
                    if has_setting(name)
                }
                routes[node.name] = run_json(*self._routes)
        names = self._kernel_settings()
        with self.platform.initial_network_namespace():
            global_settings = {name: read_setting(name) for name in names if has_setting(name)}
        return {
            **self._addresses(),
            **self._further_links(),
            "qdiscs": [qdisc for node in self._namespaces() for qdisc in self._qdiscs(node)],
            "links": links,
            "routes": routes,
            "settings": {"": global_settings, **settings},
            "dropped_between_ports": self.platform.dropped_between_ports(),
        }

    def _addresses(self) -> dict[str, Any]:
        """Return the addresses of each node's ports for IPv6; for IPv4 nothing is read."""
        node_ports = {}
        for node in self.mininet.hosts if self.plan.ip_version == 6 else []:
            with network_namespace(node.pid):
                node_ports[node.name] = run_json("ip", "-j", "address", "show")
        return {"addresses": node_ports} if node_ports else {}

    def _further_links(self) -> dict[str, Any]:
        """Return rules and routes of hosts with several links; without any nothing is read."""
        found = {}
        for host in self.hosts:
            if self.layout.host_ports(host.name)[1:]:
                with network_namespace(host.pid):
                    found[host.name] = further_links.read_back(
                        self.layout, host.name, self.plan.ip_version
                    )
        return {"further_links": found} if found else {}

    def port_bytes(self, node: str, name: str, counted: str) -> int:
        """Return the bytes of frames that a node's port has sent (tx) or received (rx)."""
        with network_namespace(self.pid(node)):
            (port,) = run_json("ip", "-s", "-j", "link", "show", "dev", name)
        count: int = port["stats64"][counted]["bytes"]
        return count

    def _qdiscs(self, node: Any) -> list[dict[str, Any]]:
        if not self._planned_qdiscs(node):
            return []
        with network_namespace(node.pid):
            return qdiscs.show(self._planned_qdiscs(node))

    def _links(self, node: Any) -> list[dict[str, Any]]:
        offloads = self._offloads(node.name)
        with network_namespace(node.pid):
            links = [
                link
                for link in run_json("ip", "-d", "-j", "link", "show")
                if link["ifname"] in self.layout.mtus_bytes
            ]
            features = {port["ifname"]: port for port in run_json("ethtool", "--json", "-k", "*")}
        return [
            {
                "port": link["ifname"],
                "mtu_bytes": link["mtu"],
                "gso_max_segs": link["gso_max_segs"],
                "offloads": {
                    name: features[link["ifname"]][name]["active"]
                    for feature in wanted_features(offloads)
                    for name in feature.printed
                },
            }
            for link in links
        ]

    def differences(self, readback: dict[str, Any]) -> list[str]:
        """Describe how a read-back differs from the plan, one sentence each."""
        sentences = []
        if readback["dropped_between_ports"]:
            sentences.append(f"{readback['dropped_between_ports']} packets were lost between ports")
        roots = {qdisc["dev"]: qdisc for qdisc in readback["qdiscs"] if qdisc.get("root")}
        children = {qdisc["dev"]: qdisc for qdisc in readback["qdiscs"] if "parent" in qdisc}
        for node in self._namespaces():
            for port, qdisc in self._planned_qdiscs(node).items():
                differences = qdisc.differences(roots.get(port, {}))
                if isinstance(qdisc, Bottleneck):
                    differences += qdisc.child_differences(children.get(port, {}))
                sentences += [f"queue of {port}: {difference}" for difference in differences]
        for link in readback["links"]:
            sentences += self._link_differences(link)
        for node_name, ports in readback.get("addresses", {}).items():
            sentences += addresses.differences(node_name, ports, self._wanted_addresses(node_name))
        for node_name, routes in readback["routes"].items():
            sentences += self._route_differences(node_name, routes)
        for host, found in readback.get("further_links", {}).items():
            version = self.plan.ip_version
            sentences += further_links.differences(self.layout, host, version, found)
        for node_name, settings in readback["settings"].items():
            sentences += self._setting_differences(node_name, settings)
        return sentences

    def _link_differences(self, link: dict[str, Any]) -> list[str]:
        sentences = []
        port = link["port"]
        if link["mtu_bytes"] != self.layout.mtus_bytes[port]:
            sentences.append(f"MTU of {port} is {link['mtu_bytes']} bytes")
        offloads = self._offloads(link["host"])
        segments = segments_at_once(offloads)
        if link["gso_max_segs"] != segments:
            sentences.append(
                f"{port} takes {link['gso_max_segs']} segments at once, not {segments}"
            )
        return sentences + [
            f"{name} of {port} is {'off' if feature.on else 'on'}"
            for feature in wanted_features(offloads)
            for name in feature.printed
            if link["offloads"][name] != feature.on
        ]

    def _wanted_addresses(self, name: str) -> list[str]:
        if name in self.layout.routers:
            return self._router(name).addresses
        ports = self.layout.host_ports(name)
        version = self.plan.ip_version
        return [addresses.port_address(self.layout, port, version) for port in ports]

    def _route_differences(self, name: str, routes: list[dict[str, Any]]) -> list[str]:
        if name in self.layout.routers:
            return self._router(name).route_differences(routes)
        router = addresses.gateway(self.layout, name)
        via = router and addresses.router_address(self.layout, router, self.plan.ip_version)
        used = [route for route in routes if route.get("gateway") == via]
        metrics = {
            key: value for route in used for entry in route.get("metrics", [])
            for key, value in entry.items()
        }  # fmt: skip
        wanted = self._route_features()
        if len(used) == 1 and len(routes) == (2 if router else 1) and metrics == wanted:
            return []
        return [f"routes of {name} have {metrics}, not {wanted}"]

    def _setting_differences(self, name: str, settings: dict[str, str]) -> list[str]:
        owner = name or "the kernel"
        wanted = self._node_settings(name) if name else self._kernel_settings()
        required = self._needed_settings() if name in self.layout.hosts else wanted
        different = [
            f"{setting} of {owner} is '{value}', not '{wanted[setting]}'"
            for setting, value in settings.items()
            if value.split() != wanted[setting].split()
        ]
        missing = sorted(set(required) - set(settings))
        return different + [f"{owner} has no setting {setting}" for setting in missing]

    def pid(self, host: str) -> int:
        """Return the id of a process in the network namespace of a host."""
        pid: int = self.mininet.get(host).pid
        return pid

    def address(self, host: str) -> str:
        """Return the IP address of a host."""
        return addresses.address(self.layout, host, self.plan.ip_version)

    def _mac(self, host: str) -> str:
        return addresses.mac_address(self.layout, host)

    def has(self, node: str) -> bool:
        """Whether a host or a switch is at this site."""
        return self.layout.site_of(node) == self.site

    def host_pid(self, port: str) -> int | None:
        """Return the id of a process at the host of a port, by its name; None for a switch's."""
        node = next(one.node for one in self.layout.ports if one.name == port)
        return self.pid(node) if node in self.layout.hosts else None

    def has_port(self, port: str) -> bool:
        """Whether a port, by its name, is at this site."""
        return port in {one.name for one in self.layout.ports if self.has(one.node)}

    @property
    def sink_address(self) -> str:
        """The destination address of background traffic."""
        return addresses.sink_address(self.layout, self.plan.ip_version)
