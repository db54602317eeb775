"""Plan: everything that decides a run, as the host hands it to the guest.

Plain data in JSON. The guest answers with events: lines on its console that
begin with :data:`EVENT_MARK` and hold one JSON object each.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from farpath.dropper import Dropper, check_dropper
from farpath.era import MODERN, Era
from farpath.errors import BadInputError
from farpath.image import HostImage
from farpath.pairs import BOTTLENECKS_RANGE, DUMBBELL, TOPOLOGIES
from farpath.path import LEAST_IPV6_MTU_BYTES, Path
from farpath.schedule import Flow, Schedule
from farpath.sender import Sender, check_senders
from farpath.stack import UDTPERF, Stack
from farpath.trace import check_trace

EVENT_MARK = "@farpath "

#: The labs: a User Mode Linux guest, and the machine's own kernel.
VIRTUAL = "virtual"
HOST = "host"

#: The clock on which CPU takes no time.
VIRTUAL_CLOCK = "virtual"

#: The shared directory as hostfs finds it: the one the guest's kernel runs in.
SHARE = "/proc/self/cwd"
#: Names inside the directory that host and guest share during a run.
PLAN_FILE = "plan.json"
READBACK_FILE = "readback.json"
RAW_DIR = "raw"
CODE_DIR = "code"
MODULES_DIR = "modules"
IMAGES_DIR = "images"
PACKETDRILL_DIR = "packetdrill"
#: The host that every topology has beside those that flows name.
PINGER = "pinger"
#: The one that sends a path's background traffic; it runs no container.
BACKGROUND = "background"

#: How long flows may overrun the schedule's end: iperf3 closes a test and exchanges results in
#: some round trips, and what it lost at the end takes some more.
GRACE_S, GRACE_ROUND_TRIPS = 60.0, 4
#: A lab of one flow starts in this much. In 8 MiB less it runs out of memory, and in half
#: of it its kernel may look for free pages for ever.
LEAST_MEMORY_BYTES = 64 << 20


@dataclass(frozen=True)
class Settings:
    """How the lab treats a run, apart from path and schedule.

    ``lab``: ``virtual`` (a User Mode Linux guest) or ``host`` (the machine's own kernel).
    ``receiver_discards``: the receiving kernel drops a flow's payload instead of
    copying it to iperf3, which wakes once per ``wake_bytes`` (virtual clock only:
    it saves real time and no virtual time). ``delayed_ack``: receivers acknowledge
    every second packet at once, else each (the route's quickack). ``ping_interval_s``
    and ``sample_interval_s``: between two pings, two samples of flows and queue.
    ``memory_bytes``: of the guest. ``trace_interval_s``: between two looks at the senders'
    TCP connections, 0 for none (:mod:`farpath.trace`).

    Raises :class:`~farpath.errors.BadInputError` for less memory than any lab needs.
    """

    clock: str = "virtual"
    receiver_discards: bool = True
    wake_bytes: int = 131_072
    delayed_ack: bool = True
    ping_interval_s: float = 1.0
    sample_interval_s: float = 1.0
    memory_bytes: int = 805_306_368
    lab: str = VIRTUAL
    trace_interval_s: float = 0.0

    def __post_init__(self) -> None:
        if self.memory_bytes < LEAST_MEMORY_BYTES:
            raise BadInputError(
                f"memory_bytes is {self.memory_bytes}: a lab needs at least {LEAST_MEMORY_BYTES}"
            )

    @property
    def cpu_is_free(self) -> bool:
        """Whether computing takes no time: then how much there was of it is not known."""
        return self.clock == VIRTUAL_CLOCK


@dataclass(frozen=True)
class Plan:
    """One run: path, schedule, settings and seed; its stacks and its hosts' era.

    ``stacks``: one for each label that flows name. ``images``: users' own, by the end
    hosts that start from them. ``droppers``: packets lost on purpose. ``senders``: those of
    a dumbbell beside the first. ``ip_version``: 4 or 6. ``bottlenecks``: of a parking lot.

    Raises :class:`~farpath.errors.BadInputError` for a dropper that can have nothing to drop,
    for a trace of nothing, and for hosts, topology and IP version that do not go together.
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

    def __post_init__(self) -> None:
        self._check_stacks()
        self._check_topology()
        self._check_ip()
        for dropper in self.droppers:
            check_dropper(dropper, self)
        check_trace(self)

    def _check_stacks(self) -> None:
        """Every flow's stack is there; a record of the first format has none at all."""
        labels = {stack.label for stack in self.stacks}
        if not labels and not self.settings.trace_interval_s:
            return
        for flow in self.schedule.all_flows:
            if flow.stack not in labels:
                raise BadInputError(
                    f"{flow.name} runs '{flow.stack}', which is none of the plan's stacks"
                )

    def _check_topology(self) -> None:
        if self.topology not in TOPOLOGIES:
            raise BadInputError(
                f"TOPOLOGY is '{self.topology}': it must be one of {', '.join(TOPOLOGIES)}"
            )
        low, high = BOTTLENECKS_RANGE
        if self.topology == DUMBBELL:
            check_senders(self.senders, self.path)
            if self.bottlenecks != 1:
                raise BadInputError(f"a dumbbell has one bottleneck, not {self.bottlenecks}")
        elif not low <= self.bottlenecks <= high:
            raise BadInputError(
                f"TOPOLOGY={self.topology} has {self.bottlenecks} bottlenecks: it must have "
                f"{low} to {high}, as in {self.topology}:{low}"
            )
        elif self.senders or self.schedule.reverse:
            raise BadInputError(
                f"TOPOLOGY={self.topology} has senders of its own, one direction, and one RTT: "
                f"take SENDERS and REVERSE with TOPOLOGY={DUMBBELL}"
            )
        for flow in self.schedule.all_flows:
            mtu_bytes = self.flow_mtu_bytes(flow)
            stack = next((stack for stack in self.stacks if stack.label == flow.stack), None)
            if (
                stack
                and stack.program == UDTPERF
                and int(stack.parameters.get("mss", 0)) > mtu_bytes
            ):
                raise BadInputError(
                    f"STACK: {stack.label} sends packets of {stack.parameters['mss']} bytes, "
                    f"{flow.sender} takes {mtu_bytes}: give {stack.name}:mss={mtu_bytes}"
                )

    def _check_ip(self) -> None:
        if self.ip_version not in (4, 6):
            raise BadInputError(f"IP is {self.ip_version}: it must be 4 or 6")
        if self.ip_version == 4:
            return
        for mtu_bytes in (self.path.mtu_bytes, *(sender.mtu_bytes for sender in self.senders)):
            if mtu_bytes < LEAST_IPV6_MTU_BYTES:
                raise BadInputError(
                    f"MTU is {mtu_bytes} bytes: IP=6 needs at least {LEAST_IPV6_MTU_BYTES} "
                    "(RFC 8200, section 5)"
                )
        for stack in self.stacks:
            if stack.program == UDTPERF:
                raise BadInputError(
                    f"STACK: {stack.name} runs over IPv4 only: leave IP=6 out, or take a stack of "
                    "TCP's"
                )

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


def event_line(kind: str, **values: Any) -> str:
    """One event as the guest prints it."""
    return EVENT_MARK + json.dumps({"event": kind, **values})


def parse_event(line: str) -> dict[str, Any] | None:
    """The event in a console line, or None if it holds none.

    A line cut short by a dying guest is no event.
    """
    _, mark, text = line.partition(EVENT_MARK)
    if not mark:
        return None
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "event" in event else None
