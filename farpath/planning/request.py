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
from farpath.planning.network import resolve_network, topology_texts
from farpath.planning.options import Option, between, option, options_of
from farpath.planning.planner import make_plan
from farpath.planning.senders import MOST_SENDERS
from farpath.spec.background import PART_RANGE
from farpath.spec.dropper import KINDS as DROPPER_KINDS
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
        Option("A path of topologies/paths.", "cern", "cern, or the path with that RTT")
    )
    rtt: str | None = option(
        Option(
            "Base round-trip time; that of a named path takes the path's other values.",
            "164ms",
            "the path's",
            "a unit is needed",
            between(RTT_MS_RANGE, "ms"),
        )
    )
    rate: str | None = option(
        Option(
            "Bottleneck rate, whole Ethernet frames counted.",
            "450Mbit",
            "the path's, else 450 Mbit/s",
            "bit/s",
            between(RATE_BPS_RANGE, "bit/s"),
        )
    )
    buffer: str | None = option(
        Option(
            "Bottleneck buffer.",
            "10MB",
            "the path's, else one bandwidth-delay product",
            "bytes",
            between(BUFFER_BYTES_RANGE, "bytes"),
        )
    )
    loss: str | None = option(
        Option(
            "Random loss towards the receiver.",
            "2e-6",
            "the path's, else none",
            "a fraction, or %",
            between(LOSS_RANGE, ""),
        )
    )
    drop: str | None = option(
        Option(
            "Packets to lose on purpose before the bottleneck: every Nth, listed ones, at a time, "
            "by chance or in bursts, of one flow or one direction; several droppers are separated "
            "by blanks.",
            "every:1000",
            "none",
            allowed=", ".join(f"{kind}:..." for kind in DROPPER_KINDS),
            see="how-to.md#losing-packets-on-purpose",
        )
    )
    background: str | None = option(
        Option(
            "Other traffic: the fraction of the rate that it takes on average, none, or its "
            "constant bit rate.",
            "25%",
            "the path's, else none",
            "a fraction, or %",
            f"{between(PART_RANGE, '')}, cbr:RATE",
        )
    )
    jitter: str | None = option(
        Option(
            "Largest deviation of a packet's delay towards the receiver; packets overtake each "
            "other.",
            "1ms",
            "the path's, else none",
            "a unit is needed",
            between(JITTER_MS_RANGE, "ms"),
        )
    )
    reorder: str | None = option(
        Option(
            "Packets towards the receiver that overtake all that are on their way.",
            "0.1%",
            "the path's, else none",
            "a fraction, or %",
            between(REORDER_RANGE, ""),
        )
    )
    duplicate: str | None = option(
        Option(
            "Packets that arrive twice at the receiver.",
            "0.1%",
            "the path's, else none",
            "a fraction, or %",
            between(DUPLICATE_RANGE, ""),
        )
    )
    mtu: str | None = option(
        Option(
            "IP packet size.",
            "1500",
            "the path's, else 1500",
            "bytes",
            between(MTU_BYTES_RANGE, "bytes"),
        )
    )
    window: str | None = option(
        Option(
            "Largest window that receivers advertise.",
            "16MiB",
            "the path's, else twice the bandwidth-delay product plus the buffer, at least 16 MiB",
            "bytes",
            between(WINDOW_BYTES_RANGE, "bytes"),
        )
    )
    sysctl: str | None = option(
        Option(
            "Sysctls of the end hosts, separated by commas, in addition to the path's.",
            "net.ipv4.tcp_sack=0",
            "the path's and the era's",
            allowed="those that take effect in a network namespace",
        )
    )
    acks: str | None = option(
        Option(
            "When receivers acknowledge: delayed (every second packet at once) or each packet.",
            "delayed",
            "delayed",
            allowed=", ".join(ACKS),
        )
    )
    topology: str | None = option(
        Option(
            "Hosts and links: two sites, or a row of so many bottlenecks (3 without a number).",
            "dumbbell",
            "dumbbell",
            allowed=topology_texts(),
        )
    )
    senders: str | None = option(
        Option(
            "Further sending hosts, one word each, with an RTT or an MTU of their own; they share "
            "the bottleneck.",
            "rtt=172ms mtu=1500",
            "none",
            allowed=f"at most {MOST_SENDERS}",
            see="how-to.md#several-senders-other-topologies-ipv6",
        )
    )
    reverse: str | None = option(
        Option(
            "Stacks of flows in the other direction, through a bottleneck like the first.",
            "reno",
            "none",
            allowed="as STACK",
        )
    )
    ip: str | None = option(Option("Version of IP.", "4", "4", allowed="4, 6"))
    stack: str = option(
        Option(
            "What the flows run: names of 'farpath stacks' with parameters, joined by +; "
            "./tcp_mine.c or oci:./mine.tar is your own, one that you trust.",
            "fast:alpha=100",
            DEFAULT_STACK,
            allowed=f"at most {MOST_FLOWS} flows",
            see="own-stacks.md",
        ),
        DEFAULT_STACK,
    )
    schedule: str = option(
        Option(
            "When flows start and stop: one by one and last in, first out, in seven regions; "
            "together for one region; or joining, each a region after the one before.",
            SEVEN_REGIONS,
            SEVEN_REGIONS,
            allowed=", ".join(SCHEDULES),
        ),
        SEVEN_REGIONS,
    )
    era: str | None = option(
        Option(
            "Hosts of that time and the forms that stacks had then.",
            "2004",
            "the stack's own",
            allowed=", ".join(era_catalog.era_names()),
        )
    )
    region: str = option(
        Option(
            "Length of a region; the seven-region test lasts eight of them.",
            DEFAULT_REGION,
            DEFAULT_REGION,
            "whole seconds, a unit is needed",
            between(quantities.REGION_S_RANGE, "s"),
        ),
        DEFAULT_REGION,
    )
    seed: str = option(
        Option(
            "Decides every random choice; another seed is an honest repeat.",
            "1",
            "1",
            allowed=between(SEED_RANGE, ""),
        ),
        "1",
    )
    lab: str = option(
        Option(
            "Where it runs: in virtual time, or in real time on this machine's own kernel.",
            VIRTUAL,
            VIRTUAL,
            allowed=", ".join(CLOCKS),
            see="host-lab.md",
        ),
        VIRTUAL,
    )
    clock: str | None = option(
        Option(
            "Whether CPU takes time: virtual (it is free), cpu (it is charged) or wall (real "
            "time).",
            "virtual",
            "virtual; of the host lab wall",
            allowed=", ".join(CLOCKS[VIRTUAL]),
        )
    )
    sender_image: str | None = option(
        Option(
            "Your own image for sender and receiver, or for one of them (receiver=./mine.tar); one "
            "that you trust.",
            "./mine.tar",
            "the lab's own",
            see="own-images.md",
        )
    )
    trace: str | None = option(
        Option(
            "How often the state of each TCP connection is noted.",
            "10ms",
            "none",
            "whole milliseconds, a unit is needed",
            between(INTERVAL_S_RANGE, "s"),
            see="how-to.md#a-trace-of-each-connection",
        )
    )

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
        """Parse options such as ``--rtt=164ms``; raise BadInputError for what is none of a run."""
        names = {each.flag: each.name for each in options_of(cls)}
        values: dict[str, str] = {}
        for given in options:
            flag, equals, value = given.partition("=")
            if flag not in names or not equals:
                raise BadInputError(
                    f"'{given}' is no option of a run: give --rtt=164ms and the like; there are "
                    f"{', '.join(names)}"
                )
            values[names[flag]] = value
        return cls(**values)

    def options(self) -> tuple[str, ...]:
        """Return the options that say this request, defaults left out."""
        return tuple(f"{each.flag}={value}" for each, value in self.given())

    def given(self) -> tuple[tuple[Option, str], ...]:
        """Return the options that are not at their defaults, with their values."""
        return tuple(
            (each, value)
            for each, field in zip(options_of(type(self)), fields(self), strict=True)
            if (value := getattr(self, each.name)) != field.default
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
