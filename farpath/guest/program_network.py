"""Program network: the network of a user's programs, with what a run of flows does not need."""

from __future__ import annotations

from pathlib import Path as FilePath

from farpath.guest import addresses, further_links, qdiscs, system, user_time
from farpath.guest.network import Network, network_namespace
from farpath.guest.platforms import Platform
from farpath.spec.link_local import link_local
from farpath.spec.plan import Plan
from farpath.spec.protocol import site_modules
from farpath.tools import commands, sysctl
from topologies import lay_out

#: Sysctls of hosts on which a user's programs run: as root or not, they may take any port.
ANY_PORT = {"net.ipv4.ip_unprivileged_port_start": "0"}


def start_network(plan: Plan, share: FilePath, platform: Platform, site: int = 0) -> Network:
    """Build the network of a site, whose hosts use the plan's congestion control."""
    system.start_open_vswitch()
    platform.load_stacks(plan.stacks, share / site_modules(site))
    layout = lay_out(plan)
    qdiscs.load(layout, site, share / site_modules(site))
    network = Network(plan, platform, layout, site)
    network.start()
    congestion = plan.stack_of(plan.schedule.flows[0]).congestion
    for host in network.hosts:
        with network_namespace(host.pid):
            sysctl.write_setting("net.ipv4.tcp_congestion_control", congestion)
            for name, value in ANY_PORT.items():
                sysctl.write_setting(name, value)
    user_time.load(share, site)
    return network


def add_ipv6(network: Network) -> None:
    """Give the hosts of a network what of IPv6 its plan does not: addresses of loopback and link.

    In a network of IPv4 they get one of the network too.
    """
    layout = network.layout
    macs = {name: addresses.mac_address(layout, name) for name in layout.hosts}
    ipv6 = {name: [link_local(mac)] for name, mac in macs.items()}
    if network.plan.ip_version == 4:
        for name in layout.hosts:
            ipv6[name].append(addresses.address(layout, name, 6))
    for host in network.hosts:
        port = str(host.defaultIntf())
        lines = [f"address add {address}/64 dev {port} nodad" for address in ipv6[host.name]]
        others = [
            addresses.Neighbour(address, macs[name])
            for name in layout.hosts
            if name != host.name
            for address in ipv6[name]
        ]
        with network_namespace(host.pid):
            for name, value in addresses.quiet_settings(port).items():
                sysctl.write_setting(name, value)
            sysctl.write_setting("net.ipv6.conf.lo.disable_ipv6", "0")
            text = "\n".join([*lines, *addresses.neighbour_lines(port, others)])
            commands.run("ip", "-batch", "-", text=text)
            if network.plan.ip_version == 4:
                _add_ipv6_of_further_links(network, host.name, port)


def _add_ipv6_of_further_links(network: Network, host: str, port: str) -> None:
    """Give the further ports of a host IPv6, in its namespace; ``port``: its first one."""
    layout = network.layout
    for name, value in further_links.settings(layout, host).items():
        sysctl.write_setting(name, value)
    lines = [
        *further_links.address_lines(layout, host, 6),
        *addresses.neighbour_lines(port, addresses.further_neighbours(layout, host, 6)),
        *further_links.route_lines(layout, host, 6),
    ]
    if layout.further_ports:
        commands.run("ip", "-6", "-batch", "-", text="\n".join(lines))


def add_default_routes(network: Network, both_families: bool) -> None:
    """Give the hosts a route to everywhere, through the path, where no other host answers.

    Programs find their own address by it, and send to groups and to all hosts without a choice of
    the port.
    """
    versions = (4, 6) if both_families else (network.plan.ip_version,)
    for host in network.hosts:
        with network_namespace(host.pid):
            for version in versions:
                port = str(host.defaultIntf())
                commands.run("ip", f"-{version}", "route", "add", "default", "dev", port)


def copy_at_first_switch(network: Network) -> None:
    """Have the first switch behind each host pass on a copy of a packet, and end the packet itself.

    A packet keeps its socket through all veth pairs of one kernel, and each reports another
    transmit time stamp to it (veth_xmit in drivers/net/veth.c, skb_tx_timestamp), the later ones
    after the path's delay. A copy has no socket, as behind a real host's card. Open vSwitch copies
    for every output but the last (do_execute_actions in net/openvswitch/actions.c), which here is
    a port where nothing is.
    """
    entries = {host.name: network.layout.peer(host.name) for host in network.hosts}
    for switch in sorted({port.node for port in entries.values()}):
        end = f"{switch}-end"
        interface = ("--", "set", "Interface", end, "type=internal")
        commands.run("ovs-vsctl", "add-port", switch, end, *interface)
        flows = [
            f"in_port={port.name},actions=NORMAL,output:{end}"
            for port in entries.values()
            if port.node == switch
        ]
        commands.run("ovs-ofctl", "add-flows", switch, "-", text="\n".join(flows))
