"""Service links: tells switches the ways between hosts, and carries out the faults of links."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

from farpath.guest import addresses, qdiscs
from farpath.guest.dropped_packets import DroppedPackets
from farpath.guest.network import Network
from farpath.guest.traffic import TrafficError
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import LinkBottleneck, NetemDelay, Qdisc
from farpath.spec.services import AND, DELAY, LINK_DOWN, LOSS, PARTITION, RATE, Fault, Services
from farpath.spec.user_network import Step
from farpath.tools.commands import run
from farpath.tools.packet_filters import ARRIVING, LEAVING, PacketFilter
from topologies.sites import (
    both_steps,
    leaving,
    network_of,
    shaping_ports,
    site_links,
    site_switches,
)

#: Bit of an Ethernet address that says that it is a group's.
GROUPS = "01:00:00:00:00:00/01:00:00:00:00:00"
#: Priority of flows of Open vSwitch.
WAYS = 10


class SiteLinks:
    """The links between sites and the switches at their ends, as far as they are in this guest."""

    def __init__(self, plan: Plan, services: Services, network: Network) -> None:
        self.services = services
        self.network = network
        self.own = network_of(plan)
        self.links = site_links(plan, self.own)
        layout = network.layout
        #: Of each host the cables as steps that leave it, with the MAC addresses of its ports.
        self.accesses = {
            name: [
                (step, addresses.port_mac_address(layout, leaving(self.links, step)[0]))
                for step in self.own.steps[name]
            ]
            for name in layout.hosts
        }
        self.switches = site_switches(self.own, services.probes)
        self.peers = {port.name: peer.name for port, peer in self._ends()}
        self.planned = {port.name: port.queue for port in layout.ports if port.queue}
        self.active: dict[int, Fault] = {}
        self.dropped = DroppedPackets()
        #: Those of each partition and link that is down now, and the packets of past ones.
        self.filters: defaultdict[int, list[int]] = defaultdict(list)
        self.dropped_packets: Counter[int] = Counter()

    def _ends(self) -> Sequence[tuple[Any, Any]]:
        links = self.network.layout.links
        return [ends for link in links for ends in ((link.one, link.other), (link.other, link.one))]

    # Ways

    def set_ways(self) -> None:
        """Tell each switch where packets between any two hosts leave it.

        Those to groups stay at their site. A packet that enters at a host's port is passed on as a
        copy, as behind a card (``farpath.guest.program_network.copy_at_first_switch``).
        """
        for switch in filter(self.network.has, self.own.switches):
            end = f"{switch}-end"
            run(
                "ovs-vsctl", "add-port", switch, end, "--", "set", "Interface", end, "type=internal"
            )
        for switch, lines in self._lines().items():
            if not self.network.has(switch):
                continue
            run("ovs-ofctl", "del-flows", switch)
            run("ovs-ofctl", "add-flows", switch, "-", text="\n".join(lines))

    def _lines(self) -> dict[str, list[str]]:
        """Return the flows of each switch, those within cables among them."""
        lines: dict[str, list[str]] = {name: [] for name in self.own.switches}
        for source in self.own.hosts:
            for target in self.own.hosts:
                if source != target:
                    self._add_way(lines, source, target)
            self._add_groups(lines, source)
        for chain in self.links.values():
            for before, behind in pairwise(chain):
                middle = before.other.node
                lines[middle] = [
                    f"in_port={before.other.name},actions=output:{behind.one.name}",
                    f"in_port={behind.one.name},actions=output:{before.other.name}",
                ]
        return lines

    def _add_way(self, lines: dict[str, list[str]], source: str, target: str) -> None:
        """Add the flows of packets from a host to another, by each two of their cables."""
        for (first, source_mac), (last, target_mac) in product(
            self.accesses[source], self.accesses[target]
        ):
            (_, *further) = self.own.way_by(first, last, source, target)
            for step in further:
                port = leaving(self.links, step)[0]
                copy = f",output:{step.start}-end" if step.start == first.end else ""
                match = f"dl_src={source_mac},dl_dst={target_mac}"
                actions = f"output:{port.name}{copy}"
                lines[step.start].append(f"priority={WAYS},{match},actions={actions}")

    def _add_groups(self, lines: dict[str, list[str]], source: str) -> None:
        for step, source_mac in self.accesses[source]:
            self._add_group(lines, source, step, source_mac)

    def _add_group(
        self, lines: dict[str, list[str]], source: str, step: Step, source_mac: str
    ) -> None:
        others = [
            leaving(self.links, other)[0].name
            for other in self.own.steps[step.end]
            if other.end in self.own.hosts and other.end != source
        ]
        outputs = ",".join(f"output:{port}" for port in [*others, f"{step.end}-end"])
        match = f"dl_src={source_mac},dl_dst={GROUPS}"
        lines[step.end].append(f"priority={WAYS},{match},actions={outputs}")

    # Faults

    def has(self, fault: Fault) -> bool:
        """Whether a fault of a link has something to do in this guest."""
        return any(self._has_direction(fault, *ends) for ends in self._directions(fault))

    def tells(self, fault: Fault) -> bool:
        """Whether this guest is the one to tell of a fault of a link: where its packets come from.

        Of services it is the site of the first.
        """
        (start, _), *_ = self._directions(fault)
        if not fault.is_of_services:
            return self.network.has(self.switches[start])
        return self.network.has(self.services.service(start.split(AND)[0]).host)

    def _has_direction(self, fault: Fault, start: str, end: str) -> bool:
        if fault.kind in (PARTITION, LINK_DOWN):
            return bool(self._filters(fault, start, end))
        return self.network.has(self.switches[start])

    def begin(self, number: int, fault: Fault) -> dict[str, Any]:
        """Carry out a fault of a link; return what was read back, by direction."""
        self.active[number] = fault
        return self._apply(number, fault, begins=True)

    def end(self, number: int, fault: Fault) -> dict[str, Any]:
        """End a fault of a link; return what was read back, by direction."""
        del self.active[number]
        return self._apply(number, fault, begins=False)

    def _directions(self, fault: Fault) -> list[tuple[str, str]]:
        """Return the sites, or the sides of services, of each direction that a fault is in."""
        one, other = fault.of
        return [(one, other)] if fault.one_way else [(one, other), (other, one)]

    def _step(self, start: str, end: str) -> Step:
        ends = (self.switches[start], self.switches[end])
        steps = [step for cable in self.own.cables for step in both_steps(cable)]
        return next(step for step in steps if (step.start, step.end) == ends)

    def _apply(self, number: int, fault: Fault, *, begins: bool) -> dict[str, Any]:
        own = [ends for ends in self._directions(fault) if self._has_direction(fault, *ends)]
        if fault.kind not in (PARTITION, LINK_DOWN):
            return {
                f"{start}>{end}": self._change(fault, self._step(start, end)) for start, end in own
            }
        for start, end in own if begins else ():
            self.filters[number] += map(self.dropped.add, self._filters(fault, start, end))
        if not begins:
            filters = self.filters.pop(number)
            self.dropped_packets[number] = sum(map(self.dropped.remove, filters))
        return {f"{start}>{end}": {"is_cut": begins} for start, end in own}

    def _filters(self, fault: Fault, start: str, end: str) -> list[PacketFilter]:
        """Return the packets of a direction that are lost in this guest."""
        meant = self._between if fault.is_of_services else partial(self._of_link, fault)
        return [one for one in meant(start, end) if self.network.has_port(one.port)]

    def _of_link(self, fault: Fault, start: str, end: str) -> list[PacketFilter]:
        """Return the packets that are lost where they would enter a link.

        Of a link that is down what is under way is lost too: what arrives while it is down, since
        it has entered before.
        """
        ports = leaving(self.links, self._step(start, end))
        lost = [PacketFilter(ports[0].name, LEAVING)]
        if fault.kind == LINK_DOWN:
            lost.append(PacketFilter(self.peers[ports[-1].name], ARRIVING))
        return lost

    def _between(self, start: str, end: str) -> list[PacketFilter]:
        """Return the packets from some services to others, where they enter the sources' sites.

        Those to groups, which stay at their site, are lost on the last link to their targets.
        """
        lost = []
        for one, other in product(start.split(AND), end.split(AND)):
            source, target = (self.services.service(name).host for name in (one, other))
            for (entering, source_mac), (last, target_mac) in product(
                self.accesses[source], self.accesses[target]
            ):
                arrival = self.peers[leaving(self.links, entering)[-1].name]
                lost.append(PacketFilter(arrival, ARRIVING, target=target_mac))
                if last.end == entering.end:
                    to_target = dataclasses.replace(last, is_there=not last.is_there)
                    (port, *_) = leaving(self.links, to_target)
                    lost.append(PacketFilter(port.name, LEAVING, source_mac, is_to_groups=True))
        return lost

    def dropped_by(self, number: int) -> int:
        """Return how many packets a partition or a link that is down has dropped."""
        now = sum(map(self.dropped.packets, self.filters[number]))
        return self.dropped_packets[number] + now

    def _change(self, fault: Fault, step: Step) -> dict[str, Any]:
        """Set the qdisc of a direction as all faults of now have it, and return its values."""
        delay_port, rate_port = shaping_ports(self.links, step)
        port = rate_port if fault.kind == RATE else delay_port
        wanted = self._wanted(port, step)
        if isinstance(wanted, LinkBottleneck):
            link = qdiscs.link_of(port)
            link.change({"rate_bps": wanted.rate_bps})
            shown = link.show()
            values = {"rate_bps": shown["options"]["rate_bps"]}
        else:
            assert isinstance(wanted, NetemDelay)
            run("tc", "-batch", "-", text="\n".join(wanted.tc_lines(port, "change")))
            (shown, *_) = json.loads(run("tc", "-r", "-s", "-j", "qdisc", "show", "dev", port))
            options = shown["options"]
            far_ms = self.own.far_ms(step)
            values = {
                "delay_ms": options.get("delay", {}).get("delay", 0.0) * 1e3 + far_ms,
                "loss": options.get("loss-random", {}).get("loss", 0.0),
            }
        if differences := wanted.differences(shown):
            raise TrafficError(f"fault {fault.kind} of {port}: {'; '.join(differences)}")
        self.network.set_planned(port, wanted)
        return values

    def _wanted(self, port: str, step: Step) -> Qdisc:
        """Return the qdisc of a port with all faults of now; of one kind the last counts."""
        wanted = self.planned[port]
        for fault in self.active.values():
            if fault.kind in (PARTITION, LINK_DOWN) or step not in [
                self._step(*direction) for direction in self._directions(fault)
            ]:
                continue
            if fault.kind == RATE and isinstance(wanted, LinkBottleneck):
                wanted = dataclasses.replace(wanted, rate_bps=round(fault.value))
            elif isinstance(wanted, NetemDelay) and fault.kind == DELAY:
                rest_ms = round(fault.value - self.own.far_ms(step), 9)
                wanted = dataclasses.replace(wanted, delay_s=rest_ms / 1e3)
            elif isinstance(wanted, NetemDelay) and fault.kind == LOSS:
                wanted = dataclasses.replace(wanted, loss=fault.value)
        return wanted
