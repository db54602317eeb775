"""Qdiscs: the queueing disciplines of ports, as tc arguments, and checks of their read-back.

Nothing in this module runs a command.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from farpath.spec.aqm import DUALPI2, Aqm
from farpath.spec.datagrams import MOST_PACING_BPS
from farpath.spec.hosts import SENDER
from farpath.spec.path import ETHERNET_HEADER_BYTES
from farpath.spec.plan import Plan
from farpath.spec.processor import ProcessorQueue
from farpath.spec.protocol import DELIVERIES_MODULE
from farpath.spec.settings import HOST
from farpath.spec.stack import UDP, UDTPERF

#: Packet limit of a delay line: more than any set of windows puts on a path (100
#: flows of 16 MiB are 1.2 million), and far above netem's default of 1000, which
#: limits a path of 164 ms to 73 Mbit/s.
DELAY_LIMIT_PACKETS = 2_000_000
#: Packet limit of fq, for packets that a program sends ahead of their time: far above any window.
PACED_PACKETS = 100_000
#: Rate of the card of a host that has jitter and would be infinitely fast: a frame of 1500 bytes
#: takes 0.12 us.
JITTER_RATE_BPS = 100_000_000_000
#: Resolution of netem's probabilities: 32 bits (net/sched/sch_netem.c, prandom compare).
PROBABILITY_STEP = 2.0**-32
#: Relative error of fractions that tc prints with six digits (print_color_float in iproute2's
#: json_print.c).
SIX_DIGITS = 5e-6
#: How late a tbf's timer may be, by clock, in s. tbf loses the tokens that overflow its bucket
#: when a timer is late. With room for a second frame, packet pairs would pass without
#: dispersion, from which UDT estimates the rate. So the bucket holds one frame and the tokens
#: of this time: on the virtual clock some readings of the clock, 256 ns each; on the others,
#: the delays of a busy machine.
LATENESS_S = {"virtual": 2e-6, "cpu": 50e-6, "wall": 200e-6}
#: On this clock a bucket has room for a second frame at least: on a slow path, where a frame
#: takes longer than LATENESS_S, timers are not more exact.
REAL_TIME = "wall"
#: Least size of a bucket above one frame. tc stores a bucket as time in ticks of 64 ns: one of
#: exactly one frame could be rounded below it, and no frame would pass.
LEAST_SLACK_BYTES = 64
#: The module of a link, and the kind of its qdisc.
BOTTLENECK = "bottleneck"
#: Major numbers of the handles of a port's first qdisc, and of the one below a bottleneck; and the
#: bottleneck's only class (1:1), as the kernel numbers them.
ROOT_HANDLE, CHILD_HANDLE, CHILD_PARENT = 0x1, 0x10, 0x10001


def bucket_bytes(rate_bps: int, frame_bytes: int, lateness_s: float) -> int:
    """Return the size of a tbf's bucket: one frame and the tokens of ``lateness_s``.

    >>> bucket_bytes(450_000_000, 1514, 2e-6)
    1627
    """
    return frame_bytes + max(math.ceil(rate_bps / 8 * lateness_s), LEAST_SLACK_BYTES)


def lateness_s(clock: str, rate_bps: int, frame_bytes: int) -> float:
    """Return how late a bottleneck's timer may be without a loss of rate, in s.

    >>> lateness_s("virtual", 10_000_000, 1250), lateness_s("wall", 10_000_000, 1250)
    (2e-06, 0.001)
    """
    least_s = 8 * frame_bytes / rate_bps if clock == REAL_TIME else 0.0
    return max(LATENESS_S[clock], least_s)


def kind_differences(qdisc: dict[str, Any], kind: str) -> list[str]:
    """Compare a qdisc's kind, as ``tc -j qdisc show`` prints it, with the planned one."""
    actual = qdisc.get("kind")
    return [] if actual == kind else [f"kind is {actual}, not {kind}"]


def rate_differences(actual_bytes_per_s: int, rate_bps: int) -> list[str]:
    """Compare a rate that tc printed, in whole bytes per second, with the planned one."""
    if actual_bytes_per_s * 8 == rate_bps // 8 * 8:
        return []
    return [f"rate is {actual_bytes_per_s * 8} bit/s, not {rate_bps}"]


def seed_differences(options: Mapping[str, Any], seed: int) -> list[str]:
    """Compare the seed in the options of a netem that tc printed with the planned one."""
    actual = options.get("seed")
    return [] if actual == seed else [f"seed is {actual}, not {seed}"]


@dataclass(frozen=True)
class Bottleneck:
    """A bottleneck with a rate, over a queue: a drop-tail buffer or ``aqm``.

    ``buffer_bytes``: in bytes of frames. ``frame_bytes``: size of a full frame.
    ``buffer_packets``: length of a buffer that counts packets, which pfifo is in the place of
    bfifo; 0 for one of bytes. ``rate_changes``: when the rate changes after the schedule's start,
    in s, and to what.
    """

    rate_bps: int
    buffer_bytes: int
    frame_bytes: int
    buffer_packets: int = 0
    aqm: Aqm | None = None
    rate_changes: tuple[tuple[float, int], ...] = ()

    @property
    def changes(self) -> tuple[tuple[float, Self], ...]:
        """What it becomes when: a time in s, and the same bottleneck with its new rate."""
        return tuple(
            (at_s, replace(self, rate_bps=rate_bps)) for at_s, rate_bps in self.rate_changes
        )

    @property
    def burst_bytes(self) -> int:
        """What it may send at one instant."""
        raise NotImplementedError

    @property
    def aqm_kind(self) -> str:
        """The kind of the active queue; empty for a drop-tail buffer."""
        return self.aqm.kind if self.aqm else ""

    @property
    def aqm_limit(self) -> int:
        """The limit of the active queue, in what it counts."""
        assert self.aqm
        return self.aqm.limit(self.buffer_bytes, self.buffer_packets, self.frame_bytes)

    def tc_lines(self, port: str, verb: str = "add") -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port, or ``change`` it."""
        raise NotImplementedError

    def child_lines(self, port: str, verb: str) -> list[str]:
        """Return the lines of the queue below it; a change of the rate leaves an active one."""
        child = f"qdisc {verb} dev {port} parent 1:1 handle {CHILD_HANDLE:x}: "
        if self.aqm and verb == "add" and self.aqm.kind != DUALPI2:
            return [child + self.aqm.tc_words(self.aqm_limit, self.frame_bytes, self.rate_bps)]
        if self.buffer_packets and not self.aqm:
            return [f"{child}pfifo limit {self.buffer_packets}"]
        return []

    @staticmethod
    def rate_of(qdisc: Mapping[str, Any]) -> int:
        """Return the rate of a qdisc of this kind that was shown, in bit/s."""
        raise NotImplementedError

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc that was shown differs from this one."""
        raise NotImplementedError

    def child_differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how the qdisc below it, empty for none, differs from the planned one."""
        if self.aqm:
            return self.aqm.differences(qdisc, self.aqm_limit)
        if not self.buffer_packets:
            return [f"its buffer is a {qdisc['kind']}"] if qdisc else []
        differences = kind_differences(qdisc, "pfifo")
        packets = qdisc.get("options", {}).get("limit")
        if packets != self.buffer_packets:
            differences.append(f"buffer is {packets} packets, not {self.buffer_packets}")
        return differences


@dataclass(frozen=True)
class LinkBottleneck(Bottleneck):
    """A bottleneck that is a link: images/kernel/devices/bottleneck.c in the lab's kernel.

    One packet is in transmission, for its size over the rate, and those that wait are in the queue.
    A new rate holds from the next packet on. It is set and shown by rtnetlink
    (``farpath.tools.bottleneck``).
    """

    @property
    def burst_bytes(self) -> int:
        """The one packet whose transmission ends."""
        return self.frame_bytes

    def tc_lines(self, port: str, verb: str = "add") -> list[str]:
        """Return the lines of the queue below it, to which a change of the rate does nothing."""
        return self.child_lines(port, verb) if verb == "add" else []

    @property
    def options(self) -> dict[str, int]:
        """Its options for rtnetlink: ``rate_bps`` and ``limit_bytes``."""
        return {"rate_bps": self.rate_bps, "limit_bytes": self.buffer_bytes}

    @staticmethod
    def rate_of(qdisc: Mapping[str, Any]) -> int:
        """Return the rate of a link that was shown, in bit/s."""
        rate_bps: int = qdisc["options"]["rate_bps"]
        return rate_bps

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a link that was shown differs from this one."""
        shown = qdisc.get("options", {})
        return kind_differences(qdisc, BOTTLENECK) + [
            f"{name} is {shown.get(name)}, not {wanted}"
            for name, wanted in self.options.items()
            if shown.get(name) != wanted
        ]


@dataclass(frozen=True)
class TbfBottleneck(Bottleneck):
    """A bottleneck of the host lab, whose kernel has no module of farpath's: tbf (sch_tbf.c).

    It takes one packet from its queue ahead of its time (peek), and packets that are smaller than
    its bucket pass an idle one at once. ``lateness_s``: how late its timer may be without a loss
    of rate.
    """

    lateness_s: float = field(kw_only=True)

    @property
    def bucket_bytes(self) -> int:
        """The size of its bucket."""
        return bucket_bytes(self.rate_bps, self.frame_bytes, self.lateness_s)

    @property
    def burst_bytes(self) -> int:
        """A full bucket, which each change fills anew.

        tbf keeps its queue (tbf_change in net/sched/sch_tbf.c). The frame that waits for tokens
        leaves when it would have left before, and the next one has the new rate.
        """
        return self.bucket_bytes

    def tc_lines(self, port: str, verb: str = "add") -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port, or ``change`` it."""
        tbf = (
            f"qdisc {verb} dev {port} root handle 1: tbf rate {self.rate_bps}bit "
            f"burst {self.bucket_bytes} limit {self.buffer_bytes}"
        )
        return [tbf, *self.child_lines(port, verb)]

    @staticmethod
    def rate_of(qdisc: Mapping[str, Any]) -> int:
        """Return the rate of a tbf that tc printed, in bit/s."""
        rate_bytes_per_s: int = qdisc["options"]["rate"]
        return 8 * rate_bytes_per_s

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc, as ``tc -j qdisc show`` prints it, differs from this one."""
        options = qdisc.get("options", {})
        differences = kind_differences(qdisc, "tbf")
        differences += rate_differences(options.get("rate", 0), self.rate_bps)
        if options.get("limit") != self.buffer_bytes:
            differences.append(f"buffer is {options.get('limit')} bytes, not {self.buffer_bytes}")
        return differences


@dataclass(frozen=True)
class DeliveryBottleneck(Bottleneck):
    """A bottleneck that sends at the times of a trace: images/kernel/devices/deliveries.c.

    ``rate_bps``: the mean rate of the trace. The module has its parameters
    (``farpath.mechanisms.changes.device``): the trace, and the limits of its own buffer, which an
    active queue replaces.
    """

    @property
    def burst_bytes(self) -> int:
        """The packet whose last byte an opportunity delivers."""
        return self.frame_bytes

    def tc_lines(self, port: str, verb: str = "add") -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port."""
        active = self.child_lines(port, verb) if self.aqm else []
        return [f"qdisc {verb} dev {port} root handle 1: {DELIVERIES_MODULE}", *active]

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc, as ``tc -j qdisc show`` prints it, differs from this one."""
        return kind_differences(qdisc, DELIVERIES_MODULE)

    def child_differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how the queue below it, empty for none, differs from the planned one."""
        if self.aqm:
            return super().child_differences(qdisc)
        return [f"its buffer is a {qdisc['kind']}"] if qdisc else []


def bottleneck_of(
    plan: Plan,
    rate_bps: int,
    buffer_bytes: int,
    buffer_packets: int = 0,
    aqm: Aqm | None = None,
    rate_changes: tuple[tuple[float, int], ...] = (),
) -> Bottleneck:
    """Return a bottleneck as the lab of a plan has it: a link, or tbf on a kernel of others."""
    frame_bytes = plan.path.frame_bytes
    fields = (rate_bps, buffer_bytes, frame_bytes, buffer_packets, aqm, rate_changes)
    if plan.settings.lab == HOST:
        late_s = lateness_s(plan.settings.clock, rate_bps, frame_bytes)
        return TbfBottleneck(*fields, lateness_s=late_s)
    return LinkBottleneck(*fields)


@dataclass(frozen=True)
class NetemDelay:
    """A delay line with independent loss: netem (net/sched/sch_netem.c).

    ``loss``, ``jitter_s``, ``reorder`` and ``duplicate`` have the meaning of the path's fields.
    ``delay_changes``: when the delay changes after the schedule's start, in s, and to what. A
    packet keeps the delay that it met. ``seed``: of netem's random numbers, which a layout gives
    (``farpath.spec.layout.Layout.seeded``).
    """

    delay_s: float
    loss: float
    jitter_s: float = 0.0
    reorder: float = 0.0
    duplicate: float = 0.0
    delay_changes: tuple[tuple[float, float], ...] = ()
    seed: int = 0

    @property
    def delay_ns(self) -> int:
        """The delay in whole nanoseconds."""
        return round(self.delay_s * 1e9)

    @property
    def changes(self) -> tuple[tuple[float, NetemDelay], ...]:
        """What it becomes when: a time in s, and the same delay line with its new delay."""
        return tuple((at_s, replace(self, delay_s=delay_s)) for at_s, delay_s in self.delay_changes)

    def tc_lines(self, port: str, verb: str = "add") -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port, or ``change`` it.

        A change names no seed, with which netem's random numbers would begin again.
        """
        seed = f"seed {self.seed}" if verb == "add" else ""
        jitter = f"{round(self.jitter_s * 1e9)}ns " if self.jitter_s else ""
        loss = f"loss random {self.loss:.12%} " if self.loss else ""
        duplicate = f"duplicate {self.duplicate:.12%} " if self.duplicate else ""
        reorder = f"reorder {self.reorder:.12%} " if self.reorder else ""
        return [
            f"qdisc {verb} dev {port} root handle 1: netem limit {DELAY_LIMIT_PACKETS} "
            f"delay {self.delay_ns}ns {jitter}{loss}{duplicate}{reorder}{seed}".rstrip()
        ]

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc, as ``tc -j qdisc show`` prints it, differs from this one."""
        options = qdisc.get("options", {})
        differences = kind_differences(qdisc, "netem")
        if options.get("limit") != DELAY_LIMIT_PACKETS:
            differences.append(
                f"limit is {options.get('limit')} packets, not {DELAY_LIMIT_PACKETS}"
            )
        delay_s = options.get("delay", {}).get("delay", 0.0)
        if not math.isclose(delay_s, self.delay_s, rel_tol=SIX_DIGITS, abs_tol=1e-9):
            differences.append(f"delay is {delay_s} s, not {self.delay_s}")
        jitter_s = options.get("delay", {}).get("jitter", 0.0)
        if not math.isclose(jitter_s, self.jitter_s, rel_tol=SIX_DIGITS, abs_tol=1e-9):
            differences.append(f"jitter is {jitter_s} s, not {self.jitter_s}")
        for option, name, wanted in (
            ("loss-random", "loss", self.loss),
            ("duplicate", "duplicate", self.duplicate),
            ("reorder", "reorder", self.reorder),
        ):
            part = options.get(option, {}).get(name, 0.0)
            if not math.isclose(part, wanted, rel_tol=SIX_DIGITS, abs_tol=PROBABILITY_STEP):
                differences.append(f"{name} is {part:g}, not {wanted:g}")
        return differences + seed_differences(options, self.seed)


@dataclass(frozen=True)
class NicQueue:
    """A sender's NIC with its queue, and the host's jitter: netem with a rate.

    netem orphans a packet from its socket when it is queued, so TCP small queues do not keep the
    queue short; they did not exist in 2004. A packet that arrives at a full queue is refused,
    which TCP treats as congestion (NET_XMIT_DROP in net/sched/sch_netem.c, tcp_enter_cwr in
    net/ipv4/tcp_output.c).

    ``jitter_s``: the most by which a packet is delayed at random, uniformly from 0. A netem with a
    rate delays no packet less than the one before it, so none overtakes (netem_enqueue).
    ``seed``: of its random numbers, as of ``NetemDelay``.
    """

    rate_bps: int
    queue_packets: int
    jitter_s: float = 0.0
    seed: int = 0

    @property
    def half_jitter_ns(self) -> int:
        """The mean of the random delay, which is also the most that netem adds to it or takes."""
        return round(self.jitter_s * 1e9 / 2)

    def tc_lines(self, port: str) -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port."""
        half = f"{self.half_jitter_ns}ns"
        delay = f"delay {half} {half} " if self.jitter_s else ""
        return [
            f"qdisc add dev {port} root handle 1: netem limit {self.queue_packets} "
            f"{delay}rate {self.rate_bps}bit seed {self.seed}"
        ]

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc, as ``tc -j qdisc show`` prints it, differs from this one."""
        options = qdisc.get("options", {})
        differences = kind_differences(qdisc, "netem")
        if options.get("limit") != self.queue_packets:
            differences.append(f"limit is {options.get('limit')} packets, not {self.queue_packets}")
        for name in ("delay", "jitter"):
            actual_s = options.get("delay", {}).get(name, 0.0)
            wanted_s = self.half_jitter_ns / 1e9
            if not math.isclose(actual_s, wanted_s, rel_tol=SIX_DIGITS, abs_tol=1e-9):
                differences.append(f"{name} is {actual_s} s, not {wanted_s}")
        differences += rate_differences(options.get("rate", {}).get("rate", 0), self.rate_bps)
        return differences + seed_differences(options, self.seed)


@dataclass(frozen=True)
class FqPacing:
    """A sender's port that sends each packet at the time its program set: fq (sch_fq.c).

    On the virtual clock udtperf leaves the spacing of its packets to fq, and on every clock
    iperf3 that of its datagrams (``farpath.spec.datagrams``): below ``low_rate_threshold`` fq
    spaces every packet, above it a quantum of them. It does neither with packets that carry a
    time (fq_dequeue), as those of TCP and of udtperf do. With a rate, fq is the child of a tbf,
    since netem takes no child here. netem's orphaning is not needed either: TCP small queues do
    not hold back a program over UDP.
    """

    rate_bps: int | None
    frame_bytes: int

    def tc_lines(self, port: str) -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port."""
        fq = f"fq limit {PACED_PACKETS} flow_limit {PACED_PACKETS} timer_slack 1"
        fq += f" low_rate_threshold {MOST_PACING_BPS}bit"
        if self.rate_bps is None:
            return [f"qdisc add dev {port} root handle 1: {fq}"]
        burst = bucket_bytes(self.rate_bps, self.frame_bytes, LATENESS_S["virtual"])
        limit = PACED_PACKETS * self.frame_bytes
        return [
            f"qdisc add dev {port} root handle 1: tbf rate {self.rate_bps}bit burst {burst} "
            f"limit {limit}",
            f"qdisc add dev {port} parent 1:1 handle 10: {fq}",
        ]

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc, as ``tc -j qdisc show`` prints it, differs from this one."""
        wanted = "fq" if self.rate_bps is None else "tbf"
        differences = kind_differences(qdisc, wanted)
        if self.rate_bps is not None:
            differences += rate_differences(qdisc.get("options", {}).get("rate", 0), self.rate_bps)
        return differences


@dataclass(frozen=True)
class FqMaxrate:
    """The port of background traffic: fq (net/sched/sch_fq.c) paces each source's socket.

    ``rate_bps``: the rate of one source.
    """

    rate_bps: int

    def tc_lines(self, port: str) -> list[str]:
        """Return the lines for ``tc -batch`` that set this qdisc on a port."""
        return [
            f"qdisc add dev {port} root handle 1: fq limit {PACED_PACKETS} "
            f"flow_limit {PACED_PACKETS} maxrate {self.rate_bps}bit timer_slack 1"
        ]

    def differences(self, qdisc: dict[str, Any]) -> list[str]:
        """Describe how a qdisc, as ``tc -j qdisc show`` prints it, differs from this one."""
        if differences := kind_differences(qdisc, "fq"):
            return differences
        return rate_differences(qdisc.get("options", {}).get("maxrate", 0), self.rate_bps)


Qdisc = Bottleneck | NetemDelay | NicQueue | FqPacing | FqMaxrate | ProcessorQueue
#: Those that may change during a run.
ChangingQdisc = Bottleneck | NetemDelay


def changes_of(qdisc: Qdisc | None) -> tuple[tuple[float, ChangingQdisc], ...]:
    """Return what a port's qdisc becomes when, in s from the schedule's start; empty for most."""
    return qdisc.changes if isinstance(qdisc, ChangingQdisc) else ()


def nic_qdisc(plan: Plan, host: str = SENDER) -> NicQueue | FqPacing | None:
    """Return the qdisc of a sending host's port; None for a host that is infinitely fast."""
    era = plan.era
    sent = [flow for flow in plan.schedule.all_flows if flow.sender == host]
    mtu_bytes = max((plan.flow_mtu_bytes(flow) for flow in sent), default=plan.path.mtu_bytes)
    rate_bps = era.sender_rate_bps(mtu_bytes + ETHERNET_HEADER_BYTES)
    programs = {plan.stack_of(flow).program for flow in sent}
    if UDP in programs or (UDTPERF in programs and plan.settings.clock == "virtual"):
        return FqPacing(rate_bps, plan.path.frame_bytes)
    if rate_bps is not None and era.txqueuelen_packets is not None:
        # What is in the card's ring has left the queue, and has not left the card. A card with a
        # TCP of its own takes from it what the bus carries, and drops nothing.
        packets = era.txqueuelen_packets + era.ring_packets
        if era.bus is not None and era.bus.toe:
            packets = DELAY_LIMIT_PACKETS
        return NicQueue(rate_bps, packets, era.jitter_ms / 1e3)
    if era.jitter_ms:
        return NicQueue(JITTER_RATE_BPS, DELAY_LIMIT_PACKETS, era.jitter_ms / 1e3)
    return None


def processor_qdisc(plan: Plan) -> ProcessorQueue | None:
    """Return the qdisc of a port that leads to a sending host; None where its processor is free."""
    return ProcessorQueue() if plan.era.processor else None
