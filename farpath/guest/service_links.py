"""Service links: tells switches the ways between hosts, and carries out the faults of links."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from farpath.guest import addresses, qdiscs
from farpath.guest.network import Network
from farpath.guest.traffic import TrafficError
from farpath.spec.plan import Plan
from farpath.spec.qdiscs import LinkBottleneck, NetemDelay, Qdisc
from farpath.spec.services import DELAY, LINK_DOWN, LOSS, PARTITION, RATE, Fault, Services
from farpath.spec.user_network import Step
from farpath.tools.commands import run
from topologies.own import cable_links
from topologies.sites import both_steps, leaving, network_of, shaping_ports, site_switches

#: Bit of an Ethernet address that says that it is a group's.
GROUPS = "01:00:00:00:00:00/01:00:00:00:00:00"
#: Priorities of flows of Open vSwitch: what a partition drops comes before all ways.
WAYS, DROPS = 10, 100
_PACKETS = re.compile(r"packet_count=(\d+)")


class SiteLinks:
    """The links between sites and the switches at their ends."""

    def __init__(self, plan: Plan, services: Services, network: Network) -> None:
        self.network = network
        self.own = network_of(plan)
        self.links = cable_links(plan, self.own)
        layout = network.layout
        self.macs = {name: addresses.mac_address(layout, name) for name in layout.hosts}
        self.switches = site_switches(self.own, services.probes)
        self.peers = {port.name: peer.name for port, peer in self._ends()}
        self.planned = {port.name: port.queue for port in layout.ports if port.queue}
        self.active: dict[int, Fault] = {}
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
        for switch in self.own.switches:
            end = f"{switch}-end"
            run(
                "ovs-vsctl", "add-port", switch, end, "--", "set", "Interface", end, "type=internal"
            )
        for switch, lines in self._lines().items():
            run("ovs-ofctl", "del-flows", switch)
            run("ovs-ofctl", "add-flows", switch, "-", text="\n".join(lines))

    def _lines(self) -> dict[str, list[str]]:
        """Return the flows of each switch, those within cables among them."""
        lines: dict[str, list[str]] = {name: [] for name in self.own.switches}
        for source in self.own.hosts:
            for target in self.own.hosts:
                if source != target:
                    self._add_way(lines, source, target)
            self._add_group(lines, source)
        for chain in self.links.values():
            for before, behind in pairwise(chain):
                middle = before.other.node
                lines[middle] = [
                    f"in_port={before.other.name},actions=output:{behind.one.name}",
                    f"in_port={behind.one.name},actions=output:{before.other.name}",
                ]
        return lines

    def _add_way(self, lines: dict[str, list[str]], source: str, target: str) -> None:
        (_, *further) = way = self.own.way(source, target)
        for step in further:
            port = leaving(self.links, step)[0]
            copy = f",output:{step.start}-end" if step.start == way[0].end else ""
            match = f"dl_src={self.macs[source]},dl_dst={self.macs[target]}"
            lines[step.start].append(f"priority={WAYS},{match},actions=output:{port.name}{copy}")

    def _add_group(self, lines: dict[str, list[str]], source: str) -> None:
        (step, *_) = self.own.steps[source]
        others = [
            leaving(self.links, other)[0].name
            for other in self.own.steps[step.end]
            if other.end in self.own.hosts and other.end != source
        ]
        outputs = ",".join(f"output:{port}" for port in [*others, f"{step.end}-end"])
        match = f"dl_src={self.macs[source]},dl_dst={GROUPS}"
        lines[step.end].append(f"priority={WAYS},{match},actions={outputs}")

    # Faults

    def begin(self, number: int, fault: Fault) -> dict[str, Any]:
        """Carry out a fault of a link; return what was read back, by direction."""
        self.active[number] = fault
        return self._apply(number, fault, begins=True)

    def end(self, number: int, fault: Fault) -> dict[str, Any]:
        """End a fault of a link; return what was read back, by direction."""
        del self.active[number]
        return self._apply(number, fault, begins=False)

    def _directions(self, fault: Fault) -> list[tuple[str, Step]]:
        one, other = fault.of
        pairs = [(one, other)] if fault.one_way else [(one, other), (other, one)]
        return [(f"{start}>{end}", self._step(start, end)) for start, end in pairs]

    def _step(self, start: str, end: str) -> Step:
        ends = (self.switches[start], self.switches[end])
        steps = [step for cable in self.own.cables for step in both_steps(cable)]
        return next(step for step in steps if (step.start, step.end) == ends)

    def _apply(self, number: int, fault: Fault, *, begins: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, step in self._directions(fault):
            if fault.kind in (PARTITION, LINK_DOWN):
                self._cut(number, fault, step, begins)
                found[name] = {"is_cut": begins}
            else:
                found[name] = self._change(fault, step)
        return found

    def _cut(self, number: int, fault: Fault, step: Step, begins: bool) -> None:
        """Drop the packets of one direction, or end that.

        A partition drops what would enter a link. Of a link that is down what is under way is lost
        too: what arrives while it is down, since it has entered before.
        """
        if not begins:
            for switch in (step.start, step.end):
                self._count(number, switch)
                run("ovs-ofctl", "del-flows", switch, f"cookie={number:#x}/-1")
            return
        head = f"cookie={number:#x},priority={DROPS}"
        pairs = [
            (source, target)
            for source in self.own.hosts
            for target in self.own.hosts
            if source != target and step in self.own.way(source, target)
        ]
        lines = [
            f"{head},dl_src={self.macs[source]},dl_dst={self.macs[target]},actions=drop"
            for source, target in pairs
        ]
        run("ovs-ofctl", "add-flows", step.start, "-", text="\n".join(lines))
        if fault.kind == LINK_DOWN:
            arrival = self.peers[leaving(self.links, step)[-1].name]
            line = f"{head},in_port={arrival},actions=drop"
            run("ovs-ofctl", "add-flows", step.end, "-", text=line)

    def _count(self, number: int, switch: str) -> None:
        """Add the packets that a fault's flows at a switch have dropped."""
        answer = run("ovs-ofctl", "dump-aggregate", switch, f"cookie={number:#x}/-1")
        found = _PACKETS.search(answer)
        self.dropped_packets[number] += int(found[1]) if found else 0

    def dropped(self, number: int) -> int:
        """Return how many packets the flows of a partition or a link that is down have dropped."""
        if fault := self.active.get(number):
            for switch in {
                one for _, step in self._directions(fault) for one in (step.start, step.end)
            }:
                self._count(number, switch)
        return self.dropped_packets[number]

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
            values = {
                "delay_ms": options.get("delay", {}).get("delay", 0.0) * 1e3,
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
            if step not in [one for _, one in self._directions(fault)]:
                continue
            if fault.kind == RATE and isinstance(wanted, LinkBottleneck):
                wanted = dataclasses.replace(wanted, rate_bps=round(fault.value))
            elif isinstance(wanted, NetemDelay) and fault.kind == DELAY:
                wanted = dataclasses.replace(wanted, delay_s=fault.value / 1e3)
            elif isinstance(wanted, NetemDelay) and fault.kind == LOSS:
                wanted = dataclasses.replace(wanted, loss=fault.value)
        return wanted
