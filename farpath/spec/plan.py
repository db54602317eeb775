"""Plan: everything that decides a run, as plain data that the host passes to the guest in JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from farpath.spec.capture import Capture
from farpath.spec.changes import Timeline
from farpath.spec.disk import Disk
from farpath.spec.dropper import Dropper
from farpath.spec.era import MODERN, Era
from farpath.spec.host_image import HostImage
from farpath.spec.hosts import PINGER, Pair, Sender
from farpath.spec.path import Path
from farpath.spec.schedule import Flow, Schedule
from farpath.spec.settings import Settings
from farpath.spec.stack import Stack
from farpath.spec.user_network import UserNetwork
from farpath.spec.wire import as_wire, from_wire, on_wire

#: The topology of a run that names none.
DUMBBELL = "dumbbell"
#: The topology of a run with a network of the user's own.
OWN = "own"
#: How long flows may run after the schedule's end: a constant in s and a number of round trips.
#: iperf3 closes a test and exchanges results in some round trips, and recovery of packets that
#: were lost at the end takes some more.
GRACE_S, GRACE_ROUND_TRIPS = 60.0, 4
#: Pings over the idle path, and the most where many are lost.
IDLE_PINGS, MOST_IDLE_PINGS = 5, 200
#: The chance that fewer than two of them come back. The first one alone says less: it waits for
#: switches to learn the way.
TOO_FEW_PINGS = 1e-6


@dataclass(frozen=True)
class Plan:
    """Everything that decides one run.

    ``topology``: a name of ``topologies.topology_modules``. ``stacks``: one for each label that
    flows name. ``era``: settings of the end hosts. ``images``: users' images, by end host.
    ``droppers``: packets that are dropped on purpose. ``senders``: further senders of a
    dumbbell. ``ip_version``: 4 or 6. ``bottlenecks``: their number. ``source``, ``sink``: the
    disk that each sending host's programs read, and the one that each receiving host's write;
    without one they send from memory and discard what they receive. ``programs``: the hosts run
    a user's own programs (``farpath.spec.programs``) in place of the flows, which then only name
    the hosts and the congestion control. Between these hosts both directions of the path are
    alike, and the kernel tunes receive buffers itself. ``user_network``: hosts, switches and cables
    of the topology ``own``; None for every other. ``offloads``: what end hosts leave to
    their cards, of ``farpath.spec.offloads.OFFLOADS``; with None packets are neither split nor
    joined, and checksums cost nothing. ``captures``: places whose packets are
    captured. ``transfer_bytes``: payload after which each flow ends, unless its time is over
    before; 0 for none. ``ecn``: a mode of ``farpath.spec.ecn.MODES``; empty for what the kernel,
    the era, the path and the stacks set. ``extra``: plain data of JSON that further mechanisms hand
    to their devices, by their names.

    A plan does not check itself; ``farpath.planning.rules.check_plan`` does.
    """

    path: Path
    schedule: Schedule
    settings: Settings
    seed: int
    topology: str = DUMBBELL
    stacks: tuple[Stack, ...] = ()
    era: Era = MODERN
    images: Mapping[str, HostImage] = field(default_factory=dict)
    droppers: tuple[Dropper, ...] = ()
    senders: tuple[Sender, ...] = ()
    ip_version: int = 4
    bottlenecks: int = 1
    source: Disk | None = None
    sink: Disk | None = None
    programs: bool = False
    user_network: UserNetwork | None = field(default=None, metadata=on_wire("network"))
    offloads: tuple[str, ...] | None = None
    captures: tuple[Capture, ...] = ()
    transfer_bytes: int = 0
    ecn: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The end hosts: senders, receivers, and the pinger."""
        flows = self.schedule.flows
        senders, receivers = [flow.sender for flow in flows], [flow.receiver for flow in flows]
        return tuple(dict.fromkeys([*senders, *receivers, self.pinger]))

    @property
    def pinger(self) -> str:
        """The host that pings the first flow's receiver; in a network of one's own its sender."""
        return self.schedule.flows[0].sender if self.user_network else PINGER

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of sender and receiver, each once, in the order of flows."""
        return tuple(dict.fromkeys((flow.sender, flow.receiver) for flow in self.schedule.flows))

    @property
    def idle_pings(self) -> dict[str, Pair]:
        """Which hosts ping which before any traffic, in their order, by the name of the pings.

        The pinger is the first; if the plan has several senders, each then pings its receiver. In
        a network of one's own each pair does, and gives the pings its name.
        """
        if self.user_network:
            return {f"{one}-{other}": (one, other) for one, other in self.pairs}
        pairs = {sender: (sender, receiver) for sender, receiver in self.pairs}
        first = {PINGER: (PINGER, self.schedule.flows[0].receiver)}
        return first | (pairs if len(pairs) > 1 else {})

    @property
    def idle_ping_count(self) -> int:
        """How many pings each pair sends over the idle path: so many that two come back."""
        lost = max(self.ping_loss(*pair) for pair in self.idle_pings.values())
        return next(
            (
                count
                for count in range(IDLE_PINGS, MOST_IDLE_PINGS)
                if lost**count + count * lost ** (count - 1) * (1 - lost) <= TOO_FEW_PINGS
            ),
            MOST_IDLE_PINGS,
        )

    def ping_loss(self, one: str, other: str) -> float:
        """Return the probability that a ping between two hosts, or its answer, is lost."""
        there, back = self.losses(one, other)
        return 1 - (1 - there) * (1 - back)

    def losses(self, one: str, other: str) -> tuple[float, float]:
        """Return the probabilities that a packet to another end host, and one back, is lost."""
        if self.user_network:
            return self.user_network.loss(one, other), self.user_network.loss(other, one)
        there, back = self.path.loss, self.path.loss if self.programs else 0.0
        is_reverse = one in {flow.receiver for flow in self.schedule.flows}
        return (back, there) if is_reverse else (there, back)

    @property
    def receivers(self) -> tuple[str, ...]:
        """The hosts that some flow sends to."""
        return tuple(dict.fromkeys(flow.receiver for flow in self.schedule.all_flows))

    @property
    def tcp_flows(self) -> tuple[Flow, ...]:
        """The flows that are connections of the kernel's TCP."""
        return tuple(flow for flow in self.schedule.all_flows if self.stack_of(flow).congestion)

    @property
    def has_active_queues(self) -> bool:
        """Whether the bottleneck, or any link of a user's network, has an active queue."""
        return bool(self.path.queue or (self.user_network and self.user_network.queues))

    @property
    def reads_ecn(self) -> bool:
        """Whether receivers are asked for the ECN of their connections."""
        return bool(self.ecn or self.has_active_queues)

    @property
    def disks(self) -> dict[str, Disk]:
        """The disks of the end hosts, by host."""
        of_senders = dict.fromkeys((flow.sender for flow in self.schedule.flows), self.source)
        of_receivers = dict.fromkeys(self.receivers, self.sink)
        both = {**of_senders, **of_receivers}
        return {host: disk for host, disk in both.items() if disk is not None}

    @property
    def is_limited_both_ways(self) -> bool:
        """Whether the path has a bottleneck towards the senders too."""
        return self.sends_both_ways or self.path.up_rate_bps > 0

    @property
    def sends_both_ways(self) -> bool:
        """Whether hosts at the receivers' site send data too."""
        return bool(self.schedule.reverse) or self.programs

    @property
    def pinged_bottlenecks(self) -> int:
        """How many bottlenecks a ping passes in both directions."""
        return self.bottlenecks + self.is_limited_both_ways

    @property
    def rates(self) -> Timeline:
        """The path's rate over the schedule in bit/s."""
        return self.path.rate_timeline(self.schedule.duration_s)

    @property
    def rtts(self) -> Timeline:
        """The path's base RTT over the schedule in ms."""
        return self.path.rtt_timeline(self.schedule.duration_s)

    @property
    def drain_s(self) -> float:
        """Time in s until the path is empty: the longest RTT, and all buffers full."""
        if self.user_network:
            frame_bytes = self.path.frame_bytes
            return max(self.user_network.drain_s(*pair, frame_bytes) for pair in self.pairs)
        path, queues = self.path, self.pinged_bottlenecks
        buffer_s, up_buffer_s = 8 * path.buffer_bytes / min(path.rates_bps), 0.0
        if path.up_rate_bps:
            queues, up_buffer_s = self.bottlenecks, 8 * path.up_buffer_bytes / path.up_rate_bps
        if path.rate_trace:
            # A buffer is empty behind as many bytes of the trace, whenever these come
            buffer_s += path.rate_trace[-1] / 1e3
        return self.longest_rtt_ms / 1e3 + queues * buffer_s + up_buffer_s

    @property
    def longest_rtt_ms(self) -> float:
        """The longest base RTT of all senders in ms, when the path's is longest."""
        longest_ms = max([self.path.rtt_ms, *(sender.rtt_ms for sender in self.senders)])
        return longest_ms + (max(self.path.rtts_ms) - self.path.rtt_ms)

    @property
    def grace_s(self) -> float:
        """How long flows may run after the schedule's end, in s."""
        return GRACE_S + GRACE_ROUND_TRIPS * self.drain_s

    def host_rtt_ms(self, host: str) -> float:
        """Return the base RTT between a sending host and its receiver in ms."""
        rtts_ms = (sender.rtt_ms for sender in self.senders if sender.name == host)
        return next(rtts_ms, self.path.rtt_ms)

    def pair_rtt_ms(self, one: str, other: str) -> float:
        """Return the base RTT between two end hosts of a flow in ms."""
        if self.user_network:
            return self.user_network.rtt_ms(one, other)
        return max(self.host_rtt_ms(one), self.host_rtt_ms(other))

    def host_mtu_bytes(self, host: str) -> int:
        """Return the MTU of a host's port in bytes."""
        mtus_bytes = (sender.mtu_bytes for sender in self.senders if sender.name == host)
        return next(mtus_bytes, self.path.mtu_bytes)

    def flow_mtu_bytes(self, flow: Flow) -> int:
        """Return the smaller MTU of a flow's two hosts in bytes."""
        return min(self.host_mtu_bytes(flow.sender), self.host_mtu_bytes(flow.receiver))

    def stack_of(self, flow: Flow) -> Stack:
        """Return the stack of a flow."""
        return next(stack for stack in self.stacks if stack.label == flow.stack)

    def in_one_guest(self) -> Plan:
        """Return this plan with one guest for all sites."""
        settings = dataclasses.replace(self.settings, one_guest=True)
        return dataclasses.replace(self, settings=settings)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain dicts, tuples, texts and numbers, by names on the wire."""
        data = cast(dict[str, Any], as_wire(self))
        return data if self.extra else {name: data[name] for name in data if name != "extra"}

    def to_json(self) -> str:
        """Return the canonical text of this plan: equal plans give equal text."""
        return json.dumps(self.as_dict(), sort_keys=True, indent=1)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """Build a plan from the output of ``as_dict``, or from its JSON."""
        return from_wire(cls, data)
