"""Plan: everything that decides a run, as the host hands it to the guest: plain data in JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from farpath.spec.dropper import Dropper
from farpath.spec.era import MODERN, Era
from farpath.spec.host_image import HostImage
from farpath.spec.hosts import DUMBBELL, PINGER, Sender
from farpath.spec.path import Path
from farpath.spec.schedule import Flow, Schedule
from farpath.spec.settings import Settings
from farpath.spec.stack import Stack

#: How long flows may overrun the schedule's end: iperf3 closes a test and exchanges results in
#: some round trips, and what it lost at the end takes some more.
GRACE_S, GRACE_ROUND_TRIPS = 60.0, 4


@dataclass(frozen=True)
class Plan:
    """One run: path, schedule, settings and seed; its stacks and its hosts' era.

    ``stacks``: one for each label that flows name. ``images``: users' own, by the end
    hosts that start from them. ``droppers``: packets lost on purpose. ``senders``: those of
    a dumbbell beside the first. ``ip_version``: 4 or 6. ``bottlenecks``: of a parking lot.

    Data alone: :func:`farpath.planning.rules.check_plan` says whether its parts go together.
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

    @property
    def hosts(self) -> tuple[str, ...]:
        """The end hosts: those of the flows, senders first, and the pinger."""
        flows = self.schedule.flows
        senders, receivers = [flow.sender for flow in flows], [flow.receiver for flow in flows]
        return tuple(dict.fromkeys([*senders, *receivers, PINGER]))

    @property
    def receivers(self) -> tuple[str, ...]:
        """The hosts that some flow sends to."""
        return tuple(dict.fromkeys(flow.receiver for flow in self.schedule.all_flows))

    @property
    def pinged_bottlenecks(self) -> int:
        """How many bottlenecks a ping passes on its way there and back."""
        return self.bottlenecks + bool(self.schedule.reverse)

    @property
    def drain_s(self) -> float:
        """How long what is on its way can take: the longest round trip, and all full buffers."""
        longest_ms = max([self.path.rtt_ms, *(sender.rtt_ms for sender in self.senders)])
        buffer_s = 8 * self.path.buffer_bytes / self.path.rate_bps
        return longest_ms / 1e3 + self.pinged_bottlenecks * buffer_s

    @property
    def grace_s(self) -> float:
        """How long flows may overrun the schedule's end: to close a test takes round trips."""
        return GRACE_S + GRACE_ROUND_TRIPS * self.drain_s

    def host_rtt_ms(self, host: str) -> float:
        """Base RTT between a sending host and its receiver."""
        return next((one.rtt_ms for one in self.senders if one.name == host), self.path.rtt_ms)

    def host_mtu_bytes(self, host: str) -> int:
        """The largest IP packet of a host's port."""
        own = (one.mtu_bytes for one in self.senders if one.name == host)
        return next(own, self.path.mtu_bytes)

    def flow_mtu_bytes(self, flow: Flow) -> int:
        """The largest IP packet that both hosts of a flow take."""
        return min(self.host_mtu_bytes(flow.sender), self.host_mtu_bytes(flow.receiver))

    def stack_of(self, flow: Flow) -> Stack:
        """What a flow runs."""
        return next(stack for stack in self.stacks if stack.label == flow.stack)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain dicts, lists and numbers."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """The canonical text of this plan: equal plans give equal text."""
        return json.dumps(self.as_dict(), sort_keys=True, indent=1)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        """The inverse of :meth:`as_dict`."""
        schedule = dict(data["schedule"])
        for flows in ("flows", "reverse"):
            schedule[flows] = tuple(Flow(**flow) for flow in schedule.get(flows, ()))
        return cls(
            path=Path.from_dict(data["path"]),
            schedule=Schedule(**schedule),
            settings=Settings(**data["settings"]),
            seed=data["seed"],
            topology=data.get("topology", DUMBBELL),
            stacks=tuple(
                Stack(
                    **{
                        **stack,
                        "command": tuple(stack.get("command", ())),
                        "environment": tuple(stack.get("environment", ())),
                    }
                )
                for stack in data.get("stacks", ())
            ),
            era=Era(**data.get("era", {"name": MODERN.name})),
            images={
                host: HostImage.from_dict(image) for host, image in data.get("images", {}).items()
            },
            droppers=tuple(
                Dropper(**{**dropper, "numbers": tuple(dropper["numbers"])})
                for dropper in data.get("droppers", ())
            ),
            senders=tuple(Sender(**sender) for sender in data.get("senders", ())),
            ip_version=data.get("ip_version", 4),
            bottlenecks=data.get("bottlenecks", 1),
        )
