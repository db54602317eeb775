"""Request: a run in the words of the command line, and the plan that they mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Protocol

from farpath.base.errors import BadInputError
from farpath.planning import era_catalog, path_files, path_options, quantities, stack_texts
from farpath.planning.droppers import parse_droppers
from farpath.planning.end_host_sysctls import check_setting
from farpath.planning.network import resolve_network
from farpath.planning.options import Option, between, option
from farpath.planning.planner import make_plan
from farpath.planning.senders import MOST_SENDERS
from farpath.spec.background import PART_RANGE
from farpath.spec.dropper import KINDS as DROPPER_KINDS
from farpath.spec.hosts import BOTTLENECKS_RANGE, DUMBBELL, PARKING_LOT
from farpath.spec.path import (
    BUFFER_BYTES_RANGE,
    DUPLICATE_RANGE,
    JITTER_MS_RANGE,
    LOSS_RANGE,
    MTU_BYTES_RANGE,
    RATE_BPS_RANGE,
    REORDER_RANGE,
    RTT_MS_RANGE,
    WINDOW_BYTES_RANGE,
    Path,
)
from farpath.spec.plan import Plan
from farpath.spec.schedule import MOST_FLOWS, SCHEDULES, SEVEN_REGIONS
from farpath.spec.settings import CLOCKS, VIRTUAL
from farpath.spec.trace import INTERVAL_S_RANGE

if TYPE_CHECKING:
    from farpath.spec.host_image import HostImage
    from farpath.spec.stack import Stack

DEFAULT_STACK = "htcp"
DEFAULT_REGION = "120s"
SEED_RANGE = (1, 2**31 - 1)
#: What a receiver acknowledges: every second packet at once, or each.
ACKS = {"delayed": True, "each": False}
#: Words that say of a path, by the names of :func:`farpath.planning.path_options.resolve_path`.
_OF_PATH = ("rtt", "background", "sysctl", *path_options.FIELDS)


class UserParts(Protocol):
    """Makes what a request names of the user's own: stacks and images of end hosts."""

    def stack(self, text: str) -> Stack | None:
        """The user's stack that a text means, built; None if it names another."""

    def images(self, text: str, plan: Plan) -> Mapping[str, HostImage]:
        """The images, built, that a text means for the end hosts of a plan."""


@dataclass(frozen=True)
class RunRequest:
    """The options of one run, word for word; None where an option was left out.

    Each field is the option of that name (``sender_image`` is ``--sender-image``).
    """

    path: str | None = option(
        Option("A named path of topologies/paths.", "cern", "cern, or the path with that RTT")
    )
    rtt: str | None = option(
        Option(
            "Base round-trip time.", "164ms", "the path's",
            "a unit is needed", between(RTT_MS_RANGE, "ms"),
        )
    )  # fmt: skip
    rate: str | None = option(
        Option(
            "Bottleneck rate.", "450Mbit", "the path's, else 450 Mbit/s",
            "bit/s", between(RATE_BPS_RANGE, "bit/s"),
        )
    )  # fmt: skip
    buffer: str | None = option(
        Option(
            "Bottleneck buffer.", "10MB", "the path's, else one bandwidth-delay product",
            "bytes", between(BUFFER_BYTES_RANGE, "bytes"),
        )
    )  # fmt: skip
    loss: str | None = option(
        Option(
            "Random loss towards the receiver.", "2e-6", "the path's, else none",
            "a fraction, or %", between(LOSS_RANGE, ""),
        )
    )  # fmt: skip
    drop: str | None = option(
        Option(
            "Packets to lose on purpose, before the bottleneck; several droppers are separated by "
            "blanks.",
            "every:1000", "none", allowed=", ".join(f"{kind}:..." for kind in DROPPER_KINDS),
        )
    )  # fmt: skip
    background: str | None = option(
        Option(
            "Other traffic: its mean fraction of the rate, none, or a constant bit rate.",
            "25%", "the path's, else none", "a fraction, or %",
            f"{between(PART_RANGE, '')}, cbr:RATE",
        )
    )  # fmt: skip
    jitter: str | None = option(
        Option(
            "Largest deviation of a packet's delay, towards the receiver.", "1ms",
            "the path's, else none", "a unit is needed", between(JITTER_MS_RANGE, "ms"),
        )
    )  # fmt: skip
    reorder: str | None = option(
        Option(
            "Packets that overtake all others, towards the receiver.", "0.1%",
            "the path's, else none", "a fraction, or %", between(REORDER_RANGE, ""),
        )
    )  # fmt: skip
    duplicate: str | None = option(
        Option(
            "Packets that arrive twice, towards the receiver.", "0.1%",
            "the path's, else none", "a fraction, or %", between(DUPLICATE_RANGE, ""),
        )
    )  # fmt: skip
    mtu: str | None = option(
        Option(
            "IP packet size.", "1500", "the path's, else 1500",
            "bytes", between(MTU_BYTES_RANGE, "bytes"),
        )
    )  # fmt: skip
    window: str | None = option(
        Option(
            "Largest window that receivers advertise (net.ipv4.tcp_rmem follows it).", "16MiB",
            "the path's, else twice the bandwidth-delay product and the buffer",
            "bytes", between(WINDOW_BYTES_RANGE, "bytes"),
        )
    )  # fmt: skip
    sysctl: str | None = option(
        Option(
            "Sysctls of the end hosts' network namespaces, separated by commas.",
            "net.ipv4.tcp_sack=0", "the path's and the era's",
            allowed="net.* of end hosts that take effect there",
        )
    )  # fmt: skip
    acks: str | None = option(
        Option(
            "When receivers acknowledge: delayed (every second packet at once) or each packet.",
            "delayed", "delayed", allowed=", ".join(ACKS),
        )
    )  # fmt: skip
    topology: str | None = option(
        Option(
            "Hosts and links: a file of topologies/; a number of bottlenecks follows parking-lot.",
            "dumbbell", "dumbbell",
            allowed=f"{DUMBBELL}, {PARKING_LOT}:{BOTTLENECKS_RANGE[0]} to "
            f"{PARKING_LOT}:{BOTTLENECKS_RANGE[1]}",
        )
    )  # fmt: skip
    senders: str | None = option(
        Option(
            "Further senders, one word each, with an RTT and an MTU of their own.",
            "rtt=172ms mtu=1500", "none", allowed=f"at most {MOST_SENDERS}",
        )
    )  # fmt: skip
    reverse: str | None = option(
        Option("Stacks of flows in the other direction.", "reno", "none", allowed="as STACK")
    )
    ip: str | None = option(Option("Version of IP.", "4", "4", allowed="4, 6"))
    stack: str = option(
        Option(
            "What the flows run: names of 'farpath stacks', each with parameters, joined by +; a "
            "module's source, or an OCI image.",
            "htcp", DEFAULT_STACK, allowed=f"at most {MOST_FLOWS} flows",
        ),
        DEFAULT_STACK,
    )  # fmt: skip
    schedule: str = option(
        Option(
            "When flows start and stop: staggered start and stop in seven regions, together, or "
            "joining one by one.",
            SEVEN_REGIONS, SEVEN_REGIONS, allowed=", ".join(SCHEDULES),
        ),
        SEVEN_REGIONS,
    )  # fmt: skip
    era: str | None = option(
        Option(
            "Hosts and stacks of that time.", "2004", "the stack's own",
            allowed=", ".join(era_catalog.era_names()),
        )
    )  # fmt: skip
    region: str = option(
        Option(
            "Length of a region.", DEFAULT_REGION, DEFAULT_REGION,
            "whole seconds, a unit is needed", between(quantities.REGION_S_RANGE, "s"),
        ),
        DEFAULT_REGION,
    )  # fmt: skip
    seed: str = option(
        Option("Decides every random choice.", "1", "1", allowed=between(SEED_RANGE, "")), "1"
    )
    lab: str = option(
        Option(
            "Where it runs: in virtual time, or on this machine's own kernel (root).", VIRTUAL,
            VIRTUAL, allowed=", ".join(CLOCKS),
        ),
        VIRTUAL,
    )  # fmt: skip
    clock: str | None = option(
        Option(
            "Whether CPU takes time: virtual (none), cpu (it does, idle time is skipped) or wall.",
            "virtual", "virtual; of the host lab wall", allowed=", ".join(CLOCKS[VIRTUAL]),
        )
    )  # fmt: skip
    sender_image: str | None = option(
        Option(
            "An OCI image for all end hosts, or for one of them, as receiver=./mine.tar.",
            "./mine.tar", "the lab's own",
        )
    )  # fmt: skip
    trace: str | None = option(
        Option(
            "Interval at which the kernel's state of each TCP connection is noted.", "10ms", "none",
            "whole milliseconds, a unit is needed", between(INTERVAL_S_RANGE, "s"),
        )
    )  # fmt: skip

    def plan(
        self,
        own_paths: Mapping[str, FilePath] | None = None,
        user_parts: UserParts | None = None,
    ) -> Plan:
        """The plan that the words mean; its path's ``sources`` say where each value is from.

        ``own_paths``: files that names of paths mean first. ``user_parts``: makes what the
        words name of the user's own; without it no word may. Raises BadInputError for a word
        that means nothing, or what another contradicts.
        """
        clock = _clock(self.lab, self.clock)
        region_s = quantities.parse_duration_s(self.region)
        path = self._path(own_paths or {})
        era = None if self.era is None else era_catalog.era_by_text(self.era)
        seed = _seed(self.seed)
        path, network = resolve_network(
            *(path, self.topology, self.senders, self.reverse, self.ip),
            keep_window=self.window is not None,
        )
        for name in path_options.parse_sysctl(self.sysctl) if self.sysctl is not None else ():
            check_setting(name, network.ip_version)
        make = SCHEDULES[_choice("SCHEDULE", self.schedule, SCHEDULES)]
        texts = network.stacks(stack_texts.parse_stacks(self.stack), self.schedule)
        own: dict[str, Stack] = {}
        if user_parts is not None:
            named = dict.fromkeys([*texts, *network.reverse])
            own = {text: stack for text in named if (stack := user_parts.stack(text))}
        labels, reverse = (
            [own[text].label if text in own else text for text in some]
            for some in (texts, network.reverse)
        )
        plan = make_plan(
            path,
            network.schedule(make(labels, region_s), reverse),
            seed,
            clock,
            era,
            own=tuple(own.values()),
            lab=self.lab,
            network=network,
            droppers=() if self.drop is None else parse_droppers(self.drop),
            delayed_ack=self.acks is None or ACKS[_choice("ACKS", self.acks, ACKS)],
            trace_interval_s=0.0 if self.trace is None else quantities.parse_trace_s(self.trace),
        )
        if self.sender_image is None:
            return plan
        if user_parts is None:
            raise BadInputError(
                f"SENDER_IMAGE is '{self.sender_image}': an image of yours is for a single run"
            )
        return dataclasses.replace(plan, images=user_parts.images(self.sender_image, plan))

    def _path(self, own_paths: Mapping[str, FilePath]) -> Path:
        words = {word: getattr(self, word) for word in _OF_PATH}
        own = own_paths.get(self.path or "")
        if own is None:
            return path_options.resolve_path(self.path, **words)
        if given := [word for word, text in words.items() if text is not None]:
            raise BadInputError(
                f"path {self.path} is an experiment's own: {given[0]} cannot be changed with it"
            )
        return path_files.load_path(own)

    @classmethod
    def of_options(cls, options: Sequence[str]) -> RunRequest:
        """The inverse of :meth:`options`; BadInputError for what is no option of a run."""
        names = {f"--{field.name.replace('_', '-')}": field.name for field in fields(cls)}
        found: dict[str, str] = {}
        for given in options:
            name, equals, value = given.partition("=")
            if name not in names or not equals:
                raise BadInputError(
                    f"'{given}' is no option of a run: give --rtt=164ms and the like; there are "
                    f"{', '.join(names)}"
                )
            found[names[name]] = value
        return cls(**found)

    def options(self) -> tuple[str, ...]:
        """The options that say this, defaults left out."""
        return tuple(
            f"--{field.name.replace('_', '-')}={value}"
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        )


def _choice(name: str, value: str, allowed: Iterable[str]) -> str:
    if value not in allowed:
        raise BadInputError(f"{name} is '{value}': it must be one of {', '.join(allowed)}")
    return value


def check_lab(lab: str) -> str:
    """A lab's name as it was given; BadInputError if there is none of that name."""
    return _choice("LAB", lab, CLOCKS)


def _clock(lab: str, clock: str | None) -> str:
    allowed = CLOCKS[check_lab(lab)]
    if clock is None:
        return allowed[0]
    return _choice("CLOCK" if lab == VIRTUAL else f"CLOCK of LAB={lab}", clock, allowed)


def _seed(text: str) -> int:
    low, high = SEED_RANGE
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and low <= int(text) <= high):
        raise BadInputError(f"SEED is '{text}': it must be a whole number from {low} to {high}")
    return int(text)
