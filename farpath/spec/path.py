"""Path: one network path as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from farpath.base.errors import BadInputError
from farpath.spec import deliveries
from farpath.spec.aqm import Aqm
from farpath.spec.background import RATE_BPS_RANGE as RATE_BPS_RANGE
from farpath.spec.background import Background
from farpath.spec.changes import RateChanges, RttChanges, Timeline, timeline
from farpath.spec.ethernet import ETHERNET_HEADER_BYTES as ETHERNET_HEADER_BYTES
from farpath.spec.short_flows import ShortFlows
from farpath.spec.wire import wire_fields

#: Range of the RTT as an option: up to ten seconds TCP's retransmission timer and the 16-minute
#: schedule are meaningful.
RTT_MS_RANGE = (0.01, 10_000.0)
BUFFER_BYTES_RANGE = (3_000, 1 << 30)
LOSS_RANGE = (0.0, 0.5)
#: What the links of a whole way, as of a user's own network, may have together: no delay, and more
#: loss than one link.
WAY_RTT_MS_RANGE = (0.0, RTT_MS_RANGE[1])
WAY_LOSS_RANGE = (0.0, 1.0)
REORDER_RANGE = (0.0, 0.5)
DUPLICATE_RANGE = (0.0, 0.5)
JITTER_MS_RANGE = (0.0, 1_000.0)
#: Least probability and least jitter above zero. netem keeps probabilities in 32 bits and times
#: in ns (net/sched/sch_netem.c): from here on a probability is within 2 % of the given one, and
#: a jitter is not rounded to zero.
LEAST_NETEM_CHANCE = 1e-8
LEAST_JITTER_MS = 1e-6
MTU_BYTES_RANGE = (576, 9_000)
#: Range of the window: up to half of RFC 7323's largest, since a receive buffer takes up to 2.6
#: windows and must be below 2 GiB.
WINDOW_BYTES_RANGE = (65_536, 1 << 29)
#: Least MTU of a link that carries IPv6 (RFC 8200, section 5).
LEAST_IPV6_MTU_BYTES = 1_280

#: Most routers of a path: traceroute shows 30 hops, and the last one is the receiver.
MOST_HOPS = 29
#: The name of a hop, like a host's (RFC 1123, section 2.1), but without capital letters.
_HOP = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_MOST_HOP_LETTERS = 63
#: Names that a hop cannot have: those of hops without a name, and of end hosts.
_TAKEN_HOP = re.compile(r"(hop|sender|receiver)[0-9]*|pinger|background|localhost")

#: Sysctls that hold whole numbers, with the number of these.
NUMBERS_OF_SETTINGS = {
    "net.core.rmem_max": 1,
    "net.core.wmem_max": 1,
    "net.ipv4.tcp_rmem": 3,
    "net.ipv4.tcp_wmem": 3,
    "net.ipv4.tcp_mem": 3,
}


#: The option of each field whose name has a unit; of others it is the field's name.
OPTION_OF_FIELD = {
    "rtt_ms": "rtt",
    "rate_bps": "rate",
    "buffer_bytes": "buffer",
    "mtu_bytes": "mtu",
    "window_bytes": "window",
    "jitter_ms": "jitter",
    "up_rate_bps": "up_rate",
    "up_buffer_bytes": "up_buffer",
}


def _require(option: str, value: float, allowed: tuple[float, float], unit: str = "") -> None:
    low, high = allowed
    if not low <= value <= high:
        raise BadInputError(
            option=option,
            given=f"{value:g}{unit}",
            remedy=f"it must lie between {low:g} and {high:g}{unit}",
        )


def _require_some(option: str, value: float, least: float, unit: str = "") -> None:
    """Raise BadInputError for a value above zero that netem would round to zero or change."""
    if 0 < value < least:
        raise BadInputError(
            option=option,
            given=f"{value:g}{unit}",
            remedy=f"it must be 0 or at least {least:g}{unit}, the least that netem keeps",
        )


def _require_frames(option: str, buffer_bytes: int, path: Path) -> None:
    """Raise BadInputError for a buffer without room for two full frames."""
    if buffer_bytes < 2 * path.frame_bytes:
        raise BadInputError(
            option=option,
            given=f"{buffer_bytes} bytes",
            problem=f"less than two frames of an MTU of {path.mtu_bytes} bytes",
            remedy=f"it must be at least {2 * path.frame_bytes} bytes",
        )


def _require_numbers(sysctl: Mapping[str, str]) -> None:
    for name, count in NUMBERS_OF_SETTINGS.items():
        words = sysctl.get(name, " 0" * count).split()
        if len(words) != count or not all(word.isascii() and word.isdigit() for word in words):
            wanted = "a whole number" if count == 1 else f"{count} whole numbers"
            raise BadInputError(
                option="sysctl", given=f"{name}={sysctl[name]}", remedy=f"it must be {wanted}"
            )


def _require_hops(hops: Sequence[str]) -> None:
    if len(hops) > MOST_HOPS:
        raise BadInputError(
            problem=f"hops are {len(hops)}",
            remedy=f"there may be at most {MOST_HOPS} routers before the receiver",
        )
    for number, hop in enumerate(hops, start=1):
        is_name = _HOP.fullmatch(hop) and len(hop) <= _MOST_HOP_LETTERS
        if hop and (not is_name or _TAKEN_HOP.fullmatch(hop)):
            raise BadInputError(
                problem=f"hop {number} is '{hop}'",
                remedy="it must be empty or a name of small letters, digits, hyphens and dots, as "
                "in chicago.esnet, and none of the lab's own names",
            )
        if hop and hops.index(hop) != number - 1:
            raise BadInputError(
                problem=f"hops {hops.index(hop) + 1} and {number} are '{hop}'",
                remedy="each router has a name of its own",
            )


@dataclass(frozen=True)
class Path:
    """One network path between a sending and a receiving site.

    ``rtt_ms``: round-trip time of the idle path, half of it in each direction.
    ``rate_bps``: bottleneck rate, counted over Ethernet frames without their
    check sum. ``buffer_bytes``: the bottleneck's buffer, in bytes of
    frames. ``loss``: probability that a packet towards the receiver is lost,
    independent of all others. ``mtu_bytes``: largest IP packet. ``window_bytes``:
    largest window that a receiver advertises. ``sysctl``: kernel settings of sender and
    receiver. ``background``: competing traffic towards the receiver; None for none.
    ``jitter_ms``: largest deviation of a packet's delay towards the receiver in either
    direction, uniformly distributed; packets overtake each other. ``reorder``: probability
    that a packet towards the receiver has no delay and so overtakes all packets in flight.
    ``duplicate``: probability that a packet towards the receiver arrives twice.
    ``short_flows``: short TCP transfers beside the flows; None for none.
    ``queue``: the active queue that the buffer is; None for one that drops at its tail.
    ``buffer_packets``: the buffer's length where it counts packets, whatever their size, and 0
    where it counts bytes; ``buffer_bytes`` is then that of as many full frames.
    ``hops``: names of the IP routers that packets towards the receiver cross, in their order;
    empty for one that no document names. Only topologies with routers have them.
    ``rate_changes``, ``rtt_changes``: when rate and RTT change during a run, and to what;
    ``rate_bps`` and ``rtt_ms`` are then the first. None for a path that does not change.
    ``rate_trace``: times in ms at which the bottleneck may send 1500 bytes, which begin again
    behind the last (``farpath.spec.deliveries``); ``rate_bps`` is then their mean. Empty for none.
    ``up_rate_bps``, ``up_buffer_bytes``: rate and drop-tail buffer towards the senders, where
    acknowledgements go; 0 where that direction never holds a packet back.
    ``sources``: for each of these fields, a sentence that says where its value comes from.

    Raises BadInputError for a value out of range and for fields that contradict each other.
    """

    name: str
    title: str
    rtt_ms: float
    rate_bps: int
    buffer_bytes: int
    loss: float
    mtu_bytes: int
    window_bytes: int
    sysctl: Mapping[str, str] = field(default_factory=dict)
    background: Background | None = None
    jitter_ms: float = 0.0
    reorder: float = 0.0
    duplicate: float = 0.0
    buffer_packets: int = 0
    hops: tuple[str, ...] = ()
    short_flows: ShortFlows | None = None
    queue: Aqm | None = None
    rate_changes: RateChanges | None = None
    rtt_changes: RttChanges | None = None
    rate_trace: tuple[int, ...] = ()
    up_rate_bps: int = 0
    up_buffer_bytes: int = 0
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require("rtt", self.rtt_ms, WAY_RTT_MS_RANGE, " ms")
        _require("rate", self.rate_bps, RATE_BPS_RANGE, " bit/s")
        _require("buffer", self.buffer_bytes, BUFFER_BYTES_RANGE, " bytes")
        _require("loss", self.loss, WAY_LOSS_RANGE)
        _require("jitter", self.jitter_ms, JITTER_MS_RANGE, " ms")
        _require("reorder", self.reorder, REORDER_RANGE)
        _require("duplicate", self.duplicate, DUPLICATE_RANGE)
        for name in ("loss", "reorder", "duplicate"):
            _require_some(name, getattr(self, name), LEAST_NETEM_CHANCE)
        _require_some("jitter", self.jitter_ms, LEAST_JITTER_MS, " ms")
        self._check_changes()
        lowest_ms = min(self.rtts_ms)
        if self.jitter_ms > lowest_ms / 2:
            raise BadInputError(
                option="jitter",
                given=f"{self.jitter_ms:g} ms",
                remedy=f"it must be at most half the RTT of {lowest_ms:g} ms, the delay towards "
                "the receiver",
            )
        _require("mtu", self.mtu_bytes, MTU_BYTES_RANGE, " bytes")
        _require("window", self.window_bytes, WINDOW_BYTES_RANGE, " bytes")
        _require_frames("buffer", self.buffer_bytes, self)
        if self.buffer_packets and self.buffer_bytes != self.buffer_packets * self.frame_bytes:
            raise BadInputError(
                option="buffer",
                given=f"{self.buffer_bytes} bytes",
                problem=f"that is not buffer_packets, {self.buffer_packets} full frames",
                remedy="give one of them",
            )
        _require_numbers(self.sysctl)
        _require_hops(self.hops)
        if unknown := sorted(set(self.sources) - set(wire_fields(Path))):
            raise BadInputError(problem=f"sources.{unknown[0]}: a path has no {unknown[0]}")
        rmem_max = int(self.sysctl.get("net.core.rmem_max", 1 << 31))
        if self.window_bytes > rmem_max:
            raise BadInputError(
                option="window",
                given=f"{self.window_bytes} bytes",
                problem=f"more than path {self.name}'s own sysctl net.core.rmem_max, {rmem_max}",
                remedy="lower the window or raise the sysctl",
            )

    def _check_changes(self) -> None:
        """Check the changes of rate and RTT, and the way back."""
        if self.rate_changes:
            self.rate_changes.check(RATE_BPS_RANGE)
        if self.rtt_changes:
            self.rtt_changes.check(RTT_MS_RANGE)
        if self.rate_trace:
            self._check_trace()
        if bool(self.up_rate_bps) != bool(self.up_buffer_bytes):
            raise BadInputError(
                option="up_rate",
                given=f"{self.up_rate_bps} bit/s",
                problem=f"`up_buffer` is {self.up_buffer_bytes} bytes",
                remedy="give both, or none of them",
            )
        if self.up_rate_bps:
            _require("up_rate", self.up_rate_bps, RATE_BPS_RANGE, " bit/s")
            _require("up_buffer", self.up_buffer_bytes, BUFFER_BYTES_RANGE, " bytes")
            _require_frames("up_buffer", self.up_buffer_bytes, self)

    def _check_trace(self) -> None:
        if problem := deliveries.trace_problem(self.rate_trace):
            raise BadInputError(option="rate", problem=f"its trace: {problem}")
        if self.rate_changes:
            raise BadInputError(
                option="rate",
                problem="it has changes (rate_changes) and a trace (rate_trace)",
                remedy="give one of them",
            )
        mean_bps = deliveries.mean_rate_bps(self.rate_trace)
        if self.rate_bps != mean_bps:
            raise BadInputError(
                option="rate",
                given=f"{self.rate_bps} bit/s",
                remedy=f"it must be {mean_bps} bit/s, the mean of its trace",
            )

    @property
    def is_changing(self) -> bool:
        """Whether its rate or its RTT changes during a run."""
        return bool(self.rate_changes or self.rtt_changes or self.rate_trace)

    @property
    def rates_bps(self) -> tuple[int, ...]:
        """All its rates, the first one first; of a trace its mean and its highest in a second."""
        if self.rate_trace:
            seconds = deliveries.rate_timeline(self.rate_trace, self.rate_trace[-1] / 1e3)
            return (self.rate_bps, round(max(self.rate_bps, *seconds.values)))
        return (self.rate_bps, *(self.rate_changes.rate_bps if self.rate_changes else ()))

    @property
    def rtts_ms(self) -> tuple[float, ...]:
        """All its base RTTs, the first one first."""
        return (self.rtt_ms, *(self.rtt_changes.rtt_ms if self.rtt_changes else ()))

    def rate_timeline(self, duration_s: float) -> Timeline:
        """Return the rate in bit/s over a run; of a trace its mean in each second."""
        if self.rate_trace:
            return deliveries.rate_timeline(self.rate_trace, duration_s)
        values = self.rate_changes.rate_bps if self.rate_changes else ()
        return timeline(self.rate_bps, self.rate_changes, values, duration_s)

    def rtt_timeline(self, duration_s: float) -> Timeline:
        """Return the base RTT in ms over a run."""
        values = self.rtt_changes.rtt_ms if self.rtt_changes else ()
        return timeline(self.rtt_ms, self.rtt_changes, values, duration_s)

    @property
    def frame_bytes(self) -> int:
        """Size of a full Ethernet frame as tc counts it, without its check sum."""
        return self.mtu_bytes + ETHERNET_HEADER_BYTES

    @property
    def hop_names(self) -> tuple[str, ...]:
        """The names of the path's routers; one that no document names is called by its number."""
        return tuple(name or f"hop{number}" for number, name in enumerate(self.hops, start=1))

    @property
    def least_rtt_ms(self) -> float:
        """The shortest RTT that the path allows, by jitter or reordering."""
        lowest_ms = min(self.rtts_ms)
        return lowest_ms / 2 if self.reorder else lowest_ms - self.jitter_ms

    @property
    def one_way_delay_s(self) -> float:
        """Propagation delay of each direction in s: half the base RTT, the first if it changes."""
        return self.rtt_ms / 2e3

    @property
    def least_one_way_delay_s(self) -> float:
        """The least propagation delay of each direction in s."""
        return min(self.rtts_ms) / 2e3

    @property
    def bdp_bytes(self) -> float:
        """Bandwidth-delay product of the idle path in bytes, by its first rate and RTT."""
        return self.rate_bps * self.rtt_ms / 8e3
