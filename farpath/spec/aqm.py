"""AQM: the queue behind a bottleneck's rate that does more than drop at its tail, as plain data.

The kinds are qdiscs of Linux. Their parameters have the names, the meanings and, when they are left
out, the defaults of the man pages tc-red(8), tc-codel(8), tc-fq_codel(8), tc-pie(8), tc-fq_pie(8),
tc-cake(8) and tc-dualpi2(8). docs/queues.md says where each kind comes from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from farpath.base.errors import BadInputError

#: The queue of a bottleneck without an AQM, as QUEUE names it.
DROP_TAIL = "droptail"
#: The kind that the lab's tc does not know (``farpath.guest.qdiscs``).
DUALPI2 = "dualpi2"
#: Times that the kernel keeps in us in 32 bits: the least that is not zero, and 10 s.
TIME_S_RANGE = (1e-6, 10.0)
#: Sizes of a queue in bytes, as those of a buffer.
SIZE_BYTES_RANGE = (64, 1 << 30)
#: Memory that fq_codel and fq_pie may take unless more packets fit into the limit
#: (fq_codel_init in net/sched/sch_fq_codel.c, fq_pie_init in net/sched/sch_fq_pie.c).
LEAST_MEMORY_BYTES = 32 << 20
#: More memory than a full frame takes in the kernel (skb->truesize), in frames.
MEMORY_PER_FRAME = 4
#: The largest memory limit, of 32 bits.
MOST_MEMORY_BYTES = (1 << 32) - 1


@dataclass(frozen=True)
class Parameter:
    """A parameter of a qdisc: what it counts (``unit``), and its range, both ends included.

    ``unit``: ``s``, ``bytes``, ``packets``, ``fraction``, ``gain``, ``number`` or ``flag``; a flag
    is a word without a value, and its value in an ``Aqm`` is 1. ``excludes``: the flag of the
    opposite.
    """

    unit: str
    least: float = 0.0
    most: float = 1.0
    excludes: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of qdisc: its parameters by name, what its limit counts and how that is called.

    ``marks``: whether it marks packets of ECN without being told so.
    """

    parameters: Mapping[str, Parameter]
    limit_unit: str = "packets"
    limit_name: str = "limit"
    marks: bool = False


def _flags(one: str, other: str) -> dict[str, Parameter]:
    return {one: Parameter("flag", excludes=other), other: Parameter("flag", excludes=one)}


_TIME = Parameter("s", *TIME_S_RANGE)
_SIZE = Parameter("bytes", *SIZE_BYTES_RANGE)
_FLAG = Parameter("flag")
_ECN = _flags("ecn", "noecn")
#: fq_codel and fq_pie hash packets into so many queues at most (fq_codel_change, fq_pie_change).
_FLOWS = Parameter("number", 1, 65_536)
#: Of pie and fq_pie (tc-pie(8)).
_PIE_GAIN = Parameter("number", 0, 32)
#: Of dualpi2, in 1/256 Hz (ALPHA_BETA_MAX in net/sched/sch_dualpi2.c).
_PI2_GAIN = Parameter("gain", 1, (1 << 23) - 1)
_PIE = {
    "target": _TIME,
    "tupdate": Parameter("s", 1e-3, 10.0),
    "alpha": _PIE_GAIN,
    "beta": _PIE_GAIN,
    **_flags("bytemode", "nobytemode"),
    **_ECN,
}
_CODEL = {"target": _TIME, "interval": _TIME, "ce_threshold": _TIME, **_ECN}

#: The words of cake of which one may be given: classes, isolation of flows, filter of ACKs.
_CAKE_CHOICES = {
    "diffserv": ("besteffort", "diffserv3", "diffserv4", "diffserv8"),
    "flowmode": ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost",
                 "dual-dsthost", "triple-isolate"),
    "ack-filter": ("ack-filter", "ack-filter-aggressive", "no-ack-filter"),
}  # fmt: skip

KINDS: Mapping[str, Kind] = {
    "red": Kind(
        {
            "min": _SIZE,
            "max": _SIZE,
            "burst": Parameter("packets", 1, 1_000_000),
            # tc counts it in 32 bits, in which 1 is 0 (red_parse_opt in iproute2's q_red.c)
            "probability": Parameter("fraction", 1e-6, 0.999999),
            "adaptive": _FLAG,
            "harddrop": _FLAG,
            "nodrop": _FLAG,
            "ecn": _FLAG,
        },
        limit_unit="bytes",
    ),
    "codel": Kind(_CODEL),
    "fq_codel": Kind(
        {
            **_CODEL,
            "flows": _FLOWS,
            "quantum": Parameter("bytes", 256, 1 << 20),
            "drop_batch": Parameter("packets", 1, 65_536),
        },
        marks=True,
    ),
    "pie": Kind(_PIE),
    "fq_pie": Kind(
        {
            **_PIE,
            "flows": _FLOWS,
            "quantum": Parameter("bytes", 256, 1 << 20),
            "ecn_prob": Parameter("number", 0, 100),
        }
    ),
    "cake": Kind(
        {
            "rtt": _TIME,
            **dict.fromkeys(chain.from_iterable(_CAKE_CHOICES.values()), _FLAG),
            **_flags("wash", "nowash"),
        },
        limit_unit="bytes",
        limit_name="memlimit",
        marks=True,
    ),
    DUALPI2: Kind(
        {
            "target": _TIME,
            "tupdate": Parameter("s", 1e-3, 4.0),
            "alpha": _PI2_GAIN,
            "beta": _PI2_GAIN,
            "step_thresh": Parameter("s", 0.0, 4.0),
            "min_qlen_step": Parameter("packets", 0, 100_000),
            "coupling_factor": Parameter("number", 1, 255),
            "classic_protection": Parameter("number", 0, 100),
            **_flags("drop_on_overload", "overflow"),
            **_flags("drop_enqueue", "drop_dequeue"),
            **_flags("l4s_ect", "any_ect"),
        },
        marks=True,
    ),
}  # fmt: skip
#: How tc prints the filters of ACKs (cake_print_opt in iproute2's q_cake.c).
_ACK_FILTERS = {
    "ack-filter": "enabled",
    "ack-filter-aggressive": "aggressive",
    "no-ack-filter": "disabled",
}
#: Flags that tc prints as the negation of another one's name.
_NEGATIONS = {
    "noecn": "ecn",
    "nobytemode": "bytemode",
    "nowash": "wash",
    "overflow": "drop_on_overload",
    "drop_dequeue": "drop_enqueue",
    "l4s_ect": "any_ect",
}
#: What the kernel may round, absolute and relative: times, of which codel keeps multiples of
#: 1024 ns (include/net/codel.h) and tc prints whole us; probabilities, of which red keeps 32 bits
#: and tc prints six digits; gains of dualpi2, which it keeps in other units.
_TOLERANCES = {"s": (2.1, 0.0), "fraction": (1e-6, 1e-4), "gain": (1.0, 0.0)}


@dataclass(frozen=True)
class Aqm:
    """An active queue: the kind of a qdisc, and the parameters that differ from its defaults.

    ``parameters``: in s, bytes, packets and fractions; 1 for a flag. The limit is not among them:
    it is the path's buffer. Raises BadInputError for what the qdisc does not take.
    """

    kind: str
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInputError(
                option="queue", given=self.kind, remedy=f"it must be one of {', '.join(KINDS)}"
            )
        known = KINDS[self.kind].parameters
        for name, value in self.parameters.items():
            if name not in known:
                raise BadInputError(
                    option="queue",
                    problem=f"{self.kind} has no parameter '{name}'",
                    remedy=f"it takes {', '.join(known)}",
                )
            parameter = known[name]
            if not parameter.least <= value <= parameter.most:
                raise BadInputError(
                    option="queue",
                    problem=f"{self.kind}'s {name} is {value:g}",
                    remedy=f"it must lie between {parameter.least:g} and {parameter.most:g}",
                )
            if parameter.excludes in self.parameters:
                raise _too_many(self.kind, name, parameter.excludes)
        for words in _CAKE_CHOICES.values() if self.kind == "cake" else ():
            if len(given := [word for word in words if word in self.parameters]) > 1:
                raise _too_many(self.kind, *given)
        if self.kind == "red" and self.parameters.get("min", 0) >= self.parameters.get(
            "max", SIZE_BYTES_RANGE[1] + 1
        ):
            raise BadInputError(
                option="queue", problem="red's min is not below its max", remedy="lower it"
            )

    @cached_property
    def marks(self) -> bool:
        """Whether packets that bear ECN are marked, by a threshold or in place of a drop."""
        return "ecn" in self.parameters or "ce_threshold" in self.parameters or (
            KINDS[self.kind].marks and "noecn" not in self.parameters
        )  # fmt: skip

    @property
    def counts_packets(self) -> bool:
        """Whether its limit is a number of packets; else it is one of bytes."""
        return KINDS[self.kind].limit_unit == "packets"

    def __str__(self) -> str:
        """The text by which QUEUE names it.

        >>> str(Aqm("codel", {"target": 0.005, "ecn": 1}))
        'codel:target=5ms,ecn'
        """
        words = [self._word(name, "=") for name in self.parameters]
        return f"{self.kind}:{','.join(words)}" if words else self.kind

    def _word(self, name: str, between: str = " ") -> str:
        """Write a parameter as tc takes it."""
        value, unit = self.parameters[name], KINDS[self.kind].parameters[name].unit
        if unit == "flag":
            return name
        if unit == "s":
            # tc reads decimals of a unit; the kernel keeps whole us
            return f"{name}{between}{value * 1e3:.12g}ms"
        if unit == "bytes":
            return f"{name}{between}{value:.0f}" + ("" if between == " " else "B")
        return f"{name}{between}{value:.12g}"

    def limit(self, buffer_bytes: int, buffer_packets: int, frame_bytes: int) -> int:
        """Return its limit for a buffer, in what it counts: packets, or bytes.

        A buffer of bytes has room for as many packets as full frames of ``frame_bytes`` fit.
        """
        if not self.counts_packets:
            return buffer_bytes
        return buffer_packets or buffer_bytes // frame_bytes

    def tc_words(self, limit: int, frame_bytes: int, rate_bps: int) -> str:
        """Return its part of a tc line. ``limit``: in what it counts."""
        own = [self._word(name) for name in self.parameters]
        if self.kind == "red":
            # tc derives from these how fast the average decays while the queue is empty
            own = [f"avpkt {frame_bytes}", f"bandwidth {rate_bps}bit", *own]
        if self.kind == "cake":
            own = ["unlimited", *own]
        if self.kind in ("fq_codel", "fq_pie"):
            own.append(f"memory_limit {memory_bytes(limit, frame_bytes)}")
        return " ".join([self.kind, f"{KINDS[self.kind].limit_name} {limit}", *own])

    def netlink_options(self, limit: int) -> dict[str, float]:
        """Return the options of dualpi2 with the kernel's numbers: times in us, switches 0 or 1."""
        options: dict[str, float] = {"limit": limit}
        for name in self.parameters:
            options |= {key: round(value) for key, value in self._printed(name).items()}
        return options

    def differences(self, qdisc: Mapping[str, Any], limit: int) -> list[str]:
        """Describe how a qdisc, as ``tc -d -j qdisc show`` prints it, differs from this one."""
        if qdisc.get("kind") != self.kind:
            return [f"its queue is {qdisc.get('kind', 'none')}, not {self.kind}"]
        options = qdisc.get("options", {})
        wanted: dict[str, Any] = {KINDS[self.kind].limit_name: limit}
        for name in self.parameters:
            wanted |= self._printed(name)
        # tc leaves out a switch that is off
        found = {name: options.get(name, False) for name in wanted}
        return [
            f"{self.kind}'s {name} is {found[name]}, not {value}"
            for name, value in wanted.items()
            if not self._is_kept(name, found[name], value)
        ]

    def _printed(self, name: str) -> dict[str, Any]:
        """Return what tc prints of a parameter, by its name; nothing where it prints nothing."""
        unit, value = KINDS[self.kind].parameters[name].unit, self.parameters[name]
        if self.kind == "red" and name == "burst":
            # tc turns it into the constant of the average
            return {}
        for choice, words in _CAKE_CHOICES.items() if self.kind == "cake" else ():
            if name in words:
                return {choice: _ACK_FILTERS.get(name, name)}
        if unit == "flag":
            return {_NEGATIONS.get(name, name): name not in _NEGATIONS}
        return {name: value * 1e6 if unit == "s" else value}

    def _is_kept(self, name: str, actual: object, wanted: Any) -> bool:
        """Whether a printed value is the wanted one, to the digits that the kernel keeps."""
        parameter = KINDS[self.kind].parameters.get(name)
        if parameter and parameter.unit in _TOLERANCES and isinstance(actual, (int, float)):
            absolute, relative = _TOLERANCES[parameter.unit]
            return math.isclose(actual, wanted, abs_tol=absolute, rel_tol=relative)
        return bool(actual == wanted)


def _too_many(kind: str, *words: str) -> BadInputError:
    """The error of words of which a queue takes one."""
    return BadInputError(
        option="queue", problem=f"{kind} has {' and '.join(words)}", remedy="leave one out"
    )


def memory_bytes(limit: int, frame_bytes: int) -> int:
    """Return a limit of memory that never binds before a limit of packets does.

    >>> memory_bytes(1000, 1514), memory_bytes(20_000, 1514)
    (33554432, 121120000)
    """
    wanted = max(LEAST_MEMORY_BYTES, limit * MEMORY_PER_FRAME * frame_bytes)
    return min(wanted, MOST_MEMORY_BYTES)
