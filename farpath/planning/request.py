"""Request: the options of one run as they were typed, and the plan that they make."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Protocol, Self

from farpath.base.errors import BadInputError
from farpath.base.options import (
    HOSTS,
    PATH,
    TRAFFIC,
    Option,
    option,
    options_of,
    range_text,
)
from farpath.base.units import Number, Quantity
from farpath.mechanisms import quantities
from farpath.mechanisms.registry import mechanism_options, mechanisms
from farpath.mechanisms.registry import path_options as path_of_mechanisms
from farpath.planning import (
    path_files,
    path_options,
    stack_texts,
)
from farpath.planning.end_host_sysctls import check_setting
from farpath.planning.network_options import (
    NetworkOptions,
    resolve_network,
    topology_texts,
    user_network_options,
)
from farpath.planning.planner import make_plan
from farpath.planning.schedules import ScheduleMaker, parse_schedule
from farpath.planning.senders import MOST_SENDERS
from farpath.planning.user_flows import EXAMPLE as FLOWS_EXAMPLE
from farpath.planning.user_flows import parse_flows
from farpath.planning.user_links import EXAMPLE as LINK_EXAMPLE
from farpath.planning.user_links import OPTIONS as LINK_OPTIONS
from farpath.planning.user_links import with_links
from farpath.planning.user_path import user_path
from farpath.planning.user_topology import is_user_topology
from farpath.programs.catalog import catalogue
from farpath.spec.path import (
    BUFFER_BYTES_RANGE,
    LOSS_RANGE,
    MTU_BYTES_RANGE,
    RATE_BPS_RANGE,
    RTT_MS_RANGE,
    WINDOW_BYTES_RANGE,
    Path,
)
from farpath.spec.plan import Plan
from farpath.spec.schedule import MOST_FLOWS, SCHEDULES, SEVEN_REGIONS, TOGETHER
from farpath.spec.settings import CLOCKS, SAMPLE_S_RANGE, VIRTUAL
from topologies import topology_modules

if TYPE_CHECKING:
    from farpath.spec.host_image import HostImage
    from farpath.spec.stack import Stack
    from farpath.spec.user_network import UserNetwork

DEFAULT_STACK = "htcp"
DEFAULT_REGION = "120s"
#: Whether receivers delay ACKs, by the values of the option.
ACKS = {"delayed": True, "each": False}
#: Options of mechanisms on the path.
_ON_PATH = (
    *path_of_mechanisms(),
    *(name for name, one in mechanism_options().items() if one.group == PATH),
)
#: Options beside RTT that say something of the path. Where one is given, an RTT names no path.
_OF_PATH = ("path", "topology", "sysctl", *path_options.FIELDS, *_ON_PATH)
#: Options that a topology of the user's own takes the place of: its links say what these do.
_OF_LINKS = (
    *("path", "rtt", "rate", "buffer", "loss", "senders", "reverse", "stack", "parallel"),
    *_ON_PATH,
)


class UserParts(Protocol):
    """Builds a user's own parts that a request names: stacks, images of end hosts, a topology."""

    def stack(self, text: str) -> Stack | None:
        """Build the user's stack that a text names; None if the text names one of the catalogue."""

    def images(self, text: str, plan: Plan) -> Mapping[str, HostImage]:
        """Build the images that a text names; return them by the end hosts of the plan."""

    def network(self, text: str) -> UserNetwork | None:
        """Read the user's network that a text names; None if it names one of the topologies."""


@dataclass(frozen=True)
class PlainRequest:
    """The options of one run as they were typed, without those of mechanisms.

    Each field is the option of that name: ``sender_image`` is ``--sender-image``. None stands for
    an option that was left out.
    """

    path: str | None = option(
        Option(
            "A path of topologies/paths.",
            "cern",
            "cern; with an RTT a path of its own",
            group=PATH,
            words=path_files.named_paths,
            placeholder="NAME",
            common=True,
        )
    )
    rtt: str | None = option(
        Option(
            "Base round-trip time. If it is all that is said of the path, the RTT of a named path "
            "chooses that path. It may change at times of the run: 50ms,15s:80ms, and begin again: "
            "50ms,15s:80ms,repeat:30s.",
            "164ms",
            "the path's",
            "a unit is needed",
            f"0, or {range_text(RTT_MS_RANGE, 'ms')}",
            see="how-to/changing-links.md",
            group=PATH,
            placeholder="TIME",
            common=True,
        )
    )
    rate: str | None = option(
        Option(
            "Bottleneck rate; whole Ethernet frames count. It may change at times of the run: "
            "100Mbit,30s:20Mbit,60s:100Mbit, as `rtt` may, or be a trace of mahimahi's: "
            "trace:./lte.down.",
            "450Mbit",
            "the path's, else 450 Mbit/s",
            "bit/s",
            range_text(RATE_BPS_RANGE, "bit/s"),
            see="how-to/changing-links.md",
            group=PATH,
            placeholder="RATE",
            common=True,
        )
    )
    buffer: str | None = option(
        Option(
            "Bottleneck buffer: bytes, packets of any size (100packets), or what the bottleneck "
            "sends in a time (50ms, 2xBDP).",
            "10MB",
            "the path's, else one bandwidth-delay product",
            "bytes",
            range_text(BUFFER_BYTES_RANGE, "bytes"),
            group=PATH,
            placeholder="SIZE",
            common=True,
        )
    )
    loss: str | None = option(
        Option(
            "Random loss towards the receiver.",
            "2e-6",
            "the path's, else none",
            "a fraction, or %",
            range_text(LOSS_RANGE, ""),
            group=PATH,
            placeholder="FRACTION",
            common=True,
        )
    )
    mtu: str | None = option(
        Option(
            "IP packet size.",
            "1500",
            "the path's, else 1500",
            "bytes",
            range_text(MTU_BYTES_RANGE, "bytes"),
            group=PATH,
            placeholder="SIZE",
        )
    )
    window: str | None = option(
        Option(
            "Largest window of receivers: bytes, or what fits into a time (50ms, 2xBDP). Linux "
            "advertises a little less: up to 63,488 of 65,536 bytes, 16.71 of 16.78 MB.",
            "16MiB",
            "the path's, else twice the bandwidth-delay product plus the buffer, at least 16 MiB",
            "bytes",
            range_text(WINDOW_BYTES_RANGE, "bytes"),
            group=HOSTS,
            placeholder="SIZE",
        )
    )
    sysctl: str | None = option(
        Option(
            "Sysctls of the end hosts, separated by commas, in addition to the path's.",
            "net.ipv4.tcp_sack=0",
            "the path's and the era's",
            allowed="those that take effect in a network namespace",
            group=HOSTS,
            placeholder="SYSCTLS",
        )
    )
    acks: str | None = option(
        Option(
            "When receivers acknowledge: delayed (every second packet at once) or each packet.",
            "delayed",
            "delayed",
            allowed=", ".join(ACKS),
            group=HOSTS,
            words=lambda: ACKS,
            placeholder="MODE",
        )
    )
    topology: str | None = option(
        Option(
            "Hosts and links: two sites (dumbbell), a row of bottlenecks (parking-lot, 3 without a "
            "number), two sites joined by the IP routers in the path's file (routed), or a Mininet "
            "topology in a file of your own, which you must trust (a class of it with arguments: "
            "./mine.py:Tree,2).",
            "dumbbell",
            "dumbbell",
            allowed=topology_texts,
            see="how-to/own-topologies.md",
            group=PATH,
            words=topology_modules,
            placeholder="NAME",
        )
    )
    flows: str | None = option(
        Option(
            "Flows of a topology of your own, between hosts by their names, with the stacks of "
            "each pair as in `stack`, whose place they take.",
            FLOWS_EXAMPLE,
            "none",
            allowed=f"at most {MOST_FLOWS} flows",
            see="how-to/own-topologies.md",
            group=TRAFFIC,
            placeholder="FLOWS",
        )
    )
    link: str | None = option(
        Option(
            "Options of links of a topology of your own, in place of those in its file; * is for "
            f"all links that have none there. Options: {', '.join(LINK_OPTIONS)}.",
            LINK_EXAMPLE,
            "what its file says",
            see="how-to/own-topologies.md#links-from-outside",
            group=TRAFFIC,
            placeholder="LINKS",
        )
    )
    senders: str | None = option(
        Option(
            "Further sending hosts, one word for each, with its own RTT or MTU; they share the "
            "bottleneck.",
            "rtt=172ms mtu=1500",
            "none",
            allowed=f"at most {MOST_SENDERS}",
            see="how-to/flows.md#several-senders-other-topologies-ipv6",
            group=HOSTS,
            placeholder="SENDERS",
        )
    )
    reverse: str | None = option(
        Option(
            "Stacks of flows in the other direction, which share a bottleneck like the first.",
            "reno",
            "none",
            allowed="as STACK",
            group=TRAFFIC,
            words=catalogue,
            placeholder="STACK",
        )
    )
    ip: str | None = option(
        Option(
            "IP version.",
            "4",
            "4",
            allowed="4, 6",
            group=HOSTS,
            words=lambda: ("4", "6"),
            placeholder="VERSION",
        )
    )
    stack: str = option(
        Option(
            "Stacks of the flows: names from 'farpath stacks' with parameters, joined by +; "
            "./tcp_mine.c, ./mine.cpp (for UDT) or oci:./mine.tar is your own, which you must "
            "trust.",
            "fast:alpha=100",
            DEFAULT_STACK,
            allowed=f"at most {MOST_FLOWS} flows",
            see="how-to/own-stacks.md",
            group=TRAFFIC,
            words=catalogue,
            placeholder="STACK",
            common=True,
        ),
        DEFAULT_STACK,
    )
    parallel: str | None = option(
        Option(
            "Number of flows of the one stack in `stack`, each a TCP connection with a row of its "
            "own; they all start at once, as those of iperf3's -P.",
            "16",
            "none: STACK says it",
            "flows",
            range_text((1, MOST_FLOWS), ""),
            group=TRAFFIC,
            placeholder="N",
        )
    )
    schedule: str = option(
        Option(
            "When flows start and stop: in seven regions, one by one, and last in, first out; "
            "together for one region; or joining, each one region, or joining:3s, 3 s after the "
            "previous one.",
            SEVEN_REGIONS,
            SEVEN_REGIONS,
            allowed=", ".join(SCHEDULES),
            group=TRAFFIC,
            words=lambda: SCHEDULES,
            placeholder="NAME",
        ),
        SEVEN_REGIONS,
    )
    region: str = option(
        Option(
            "Length of a region; the seven-region test lasts eight of them.",
            DEFAULT_REGION,
            DEFAULT_REGION,
            "whole seconds, a unit is needed",
            range_text(quantities.REGION_S_RANGE, "s"),
            group=TRAFFIC,
            placeholder="TIME",
            common=True,
        ),
        DEFAULT_REGION,
    )
    time: str | None = option(
        Option(
            "Length of a run whose flows all start at once; in place of `region` and `schedule`.",
            "30s",
            "none: REGION and SCHEDULE say it",
            "whole seconds, a unit is needed",
            range_text(quantities.REGION_S_RANGE, "s"),
            group=TRAFFIC,
            placeholder="TIME",
            common=True,
        )
    )
    sample: str | None = option(
        Option(
            "Time between two samples of the queue, and of flows, which have at most ten a second.",
            "100ms",
            "1 s",
            "a whole number of them in a second, a unit is needed",
            range_text(SAMPLE_S_RANGE, "s"),
            placeholder="TIME",
        )
    )
    seed: str = option(
        Option(
            "Seed of all random choices; another seed makes an independent repeat.",
            "1",
            "1",
            allowed=range_text(quantities.SEED_RANGE, ""),
            placeholder="N",
            common=True,
        ),
        "1",
    )
    lab: str = option(
        Option(
            "Lab of the run: in virtual time, or in real time on this machine's own kernel.",
            VIRTUAL,
            VIRTUAL,
            allowed=", ".join(CLOCKS),
            see="how-to/host-lab.md",
            words=lambda: CLOCKS,
            placeholder="LAB",
        ),
        VIRTUAL,
    )
    clock: str | None = option(
        Option(
            "Whether CPU takes time: virtual (it is free), cpu (it is charged) or wall (real "
            "time).",
            "virtual",
            "virtual; wall for the host lab",
            allowed=", ".join(CLOCKS[VIRTUAL]),
            words=lambda: CLOCKS[VIRTUAL],
            placeholder="CLOCK",
        )
    )
    sender_image: str | None = option(
        Option(
            "Your own image for sender and receiver, or for one of them (receiver=./mine.tar); you "
            "must trust it.",
            "./mine.tar",
            "the lab's own",
            see="how-to/own-images.md",
            group=HOSTS,
            placeholder="IMAGE",
        )
    )

    def plan(
        self,
        own_paths: Mapping[str, FilePath] | None = None,
        user_parts: UserParts | None = None,
        path_by_rtt: bool = False,
        both_families: bool = False,
        program_s: float | None = None,
    ) -> Plan:
        """Make the plan; its path's ``sources`` state where each value is from.

        ``own_paths``: path files by name, which come before those of topologies/paths.
        ``user_parts``: builds the user's stacks and images; without it the request must name none.
        ``path_by_rtt``: whether an RTT that is all that is said of the path chooses the named path
        with that RTT, as at ``farpath run``. ``both_families``: whether hosts have addresses of
        IPv6 beside those of IPv4, and so sysctls of both. ``program_s``: time limit in s of a
        user's programs, which run in place of flows; they have a named path's other traffic only
        if it is asked for. Raises BadInputError for a value that is
        not allowed, and for options that contradict each other.
        """
        clock = _clock(self.lab, self.clock)
        schedule, make_schedule, region_s = (
            self._schedule() if program_s is None else (*parse_schedule(TOGETHER), program_s)
        )
        path, network = self._network(own_paths or {}, user_parts, path_by_rtt)
        if program_s is not None and "background" not in self.typed:
            path = dataclasses.replace(path, background=None, short_flows=None)
        seed = parse_seed(self.seed)
        for name in path_options.parse_sysctl(self.sysctl) if self.sysctl is not None else ():
            check_setting(name, None if both_families else network.ip_version)
        texts = network.stacks(self._stack_texts(), schedule)
        user_stacks: dict[str, Stack] = {}
        if user_parts is not None:
            all_texts = dict.fromkeys([*texts, *network.reverse])
            user_stacks = {text: stack for text in all_texts if (stack := user_parts.stack(text))}
        labels, reverse_labels = (
            [user_stacks[text].label if text in user_stacks else text for text in direction_texts]
            for direction_texts in (texts, network.reverse)
        )
        plan = make_plan(
            path,
            network.schedule(make_schedule(labels, region_s), reverse_labels),
            seed,
            clock,
            user_stacks=tuple(user_stacks.values()),
            lab=self.lab,
            network=network,
            delayed_ack=self.acks is None or ACKS[_choice("acks", self.acks, ACKS)],
            sample_interval_s=_parsed(quantities.SAMPLE_S, self.sample, "sample", 1.0),
            options={name: getattr(self, name) for name in mechanism_options()},
            programs=program_s is not None,
        )
        if self.sender_image is None:
            return plan
        if user_parts is None:
            raise BadInputError(
                option="sender_image",
                given=self.sender_image,
                problem="only 'farpath run' takes an image of your own",
                remedy="leave it out",
            )
        return dataclasses.replace(plan, images=user_parts.images(self.sender_image, plan))

    def _schedule(self) -> tuple[str, ScheduleMaker, float]:
        """Return the schedule's name, the function that makes it and the length of a region in s.

        That function takes the labels of the stacks and this length.
        """
        at_once = [name for name in ("time", "parallel") if getattr(self, name) is not None]
        if not at_once:
            schedule, make_schedule = parse_schedule(self.schedule)
            if schedule == SEVEN_REGIONS and (is_user_topology(self.topology) or self._flows_end):
                schedule, make_schedule = parse_schedule(TOGETHER)
            return schedule, make_schedule, quantities.DURATION_S.parse(self.region, "region")
        first = at_once[0]
        excluded = [("schedule", self.schedule, SEVEN_REGIONS)]
        if self.time is not None:
            excluded.insert(0, ("region", self.region, DEFAULT_REGION))
        for name, value, default in excluded:
            if value != default:
                raise BadInputError(
                    option=first,
                    given=getattr(self, first),
                    problem=(
                        f"`{name}` is '{value}', and `{first}` is for flows that all start at once"
                    ),
                    remedy="leave one of them out",
                )
        if self.time is None:
            return *parse_schedule(TOGETHER), quantities.DURATION_S.parse(self.region, "region")
        return *parse_schedule(TOGETHER), quantities.DURATION_S.parse(self.time, "time")

    @property
    def _flows_end(self) -> bool:
        """Whether a mechanism ends flows before their time."""
        return any(
            getattr(self, name) is not None
            for mechanism in mechanisms()
            if mechanism.ends_flows
            for name in mechanism.options
        )

    def _stack_texts(self) -> tuple[str, ...]:
        """Return the stack of each flow; with ``parallel`` that many flows of the only one."""
        texts = stack_texts.parse_stacks(self.stack)
        if self.parallel is None:
            return texts
        count = quantities.whole_number("parallel", self.parallel, (1, MOST_FLOWS))
        if len(texts) > 1:
            raise BadInputError(
                option="parallel",
                given=self.parallel,
                problem=f"`stack` is '{self.stack}', and `parallel` is for flows of one stack",
                remedy=(
                    "leave it out and say how many there are of each, as in "
                    f"{self.parallel}x{texts[0]}+{texts[-1]}"
                ),
            )
        return texts * count

    def _network(
        self,
        own_paths: Mapping[str, FilePath],
        user_parts: UserParts | None,
        path_by_rtt: bool,
    ) -> tuple[Path, NetworkOptions]:
        """Return the path of the run and its network: the user's own, or one of farpath's."""
        if self.topology is not None and is_user_topology(self.topology):
            return self._user_network(self.topology, user_parts)
        for name, value, what in (("flows", self.flows, "hosts"), ("link", self.link, "links")):
            if value is not None:
                raise BadInputError(
                    option=name,
                    given=value,
                    problem=f"it names {what} of your own topology, as in `topology=./mine.py`",
                    remedy="leave it out, or give that",
                )
        return resolve_network(
            *(
                self._path(own_paths, path_by_rtt),
                self.topology,
                self.senders,
                self.reverse,
                self.ip,
            ),
            keep_window=self.window is not None,
        )

    def _user_network(self, text: str, user_parts: UserParts | None) -> tuple[Path, NetworkOptions]:
        for given, value in self.values():
            if given.name in _OF_LINKS:
                instead = (
                    "`flows` has the stacks"
                    if given.name in ("stack", "parallel")
                    else "its links say that"
                )
                raise BadInputError(
                    option="topology",
                    given=text,
                    problem=f"`{given.name}` is '{value}', but {instead}",
                    remedy=f"leave `{given.name}` out{_link_hint(given.name)}",
                )
        own = user_parts.network(text) if user_parts else None
        if own is None:
            raise BadInputError(
                option="topology",
                given=text,
                problem="only 'farpath run' and 'farpath draw' take a topology of your own",
            )
        own = with_links(own, self.link)
        flows = parse_flows(self.flows, own.hosts)
        pairs = [flow.pair for flow in flows]
        named = text if self.link is None else f"{text} with LINK='{self.link}'"
        path = user_path(text, named, own, pairs, self.mtu, self.window, self.sysctl)
        return path, user_network_options(own, flows, self.ip)

    def _path(self, own_paths: Mapping[str, FilePath], by_rtt: bool) -> Path:
        names = ("rtt", "sysctl", *path_options.FIELDS, *path_of_mechanisms())
        texts = {name: getattr(self, name) for name in names}
        by_rtt = by_rtt and all(getattr(self, name) is None for name in _OF_PATH)
        file = own_paths.get(self.path or "")
        own = None if file is None else path_files.load_path(file)
        if own and not any(texts.values()):
            return own
        return path_options.resolve_path(own or self.path, by_rtt=by_rtt, **texts)

    def changed(self, **texts: Any) -> Self:
        """Return a request with other values of some options, texts or None."""
        return dataclasses.replace(self, **texts)

    def options(self) -> tuple[str, ...]:
        """Return the options of the command line that make this request, defaults left out."""
        return tuple(f"{option.flag}={value}" for option, value in self.values())

    @property
    def typed(self) -> dict[str, str]:
        """The options that are not at their defaults, as a record keeps them.

        >>> RunRequest(rtt="50ms", buffer="2xBDP").typed
        {'rtt': '50ms', 'buffer': '2xBDP'}
        """
        return {option.name: value for option, value in self.values()}

    def values(self) -> tuple[tuple[Option, str], ...]:
        """Return the options that are not at their defaults, with their values."""
        defaults = {field.name: field.default for field in fields(self)}
        return tuple(
            (option, value)
            for option in options_of(type(self))
            if (value := getattr(self, option.name)) != defaults[option.name]
        )


if TYPE_CHECKING:

    class RunRequest(PlainRequest):
        """The options of one run as they were typed; None for an option that was left out."""

        def __init__(self, **texts: str | None) -> None: ...

        def __getattr__(self, name: str) -> str | None: ...

else:
    #: The options of one run as they were typed, those of all mechanisms too.
    RunRequest = dataclasses.make_dataclass(
        "RunRequest",
        [(name, str | None, option(one)) for name, one in mechanism_options().items()],
        bases=(PlainRequest,),
        namespace={"__doc__": PlainRequest.__doc__, "__module__": __name__},
        frozen=True,
    )


def _link_hint(name: str) -> str:
    """Return how ``link`` says an option of a path; nothing for one that it cannot say."""
    option = {"rtt": "delay"}.get(name, name)
    return f", or give links a {option} by `link`" if option in LINK_OPTIONS else ""


def _choice(name: str, value: str, allowed: Iterable[str]) -> str:
    if value not in allowed:
        raise BadInputError(
            option=name, given=value, remedy=f"it must be one of {', '.join(allowed)}"
        )
    return value


def check_lab(lab: str) -> str:
    """Return the name of a lab; raises BadInputError if there is no such lab."""
    return _choice("lab", lab, CLOCKS)


def _clock(lab: str, clock: str | None) -> str:
    allowed = CLOCKS[check_lab(lab)]
    if clock is None:
        return allowed[0]
    if clock not in allowed:
        raise BadInputError(
            option="clock",
            given=clock,
            remedy=f"of `lab={lab}` it must be one of {', '.join(allowed)}",
        )
    return clock


def parse_seed(text: str) -> int:
    """Return a seed; raise BadInputError for a text that is none."""
    return quantities.whole_number("seed", text, quantities.SEED_RANGE)


def _parsed(quantity: Quantity[Number], text: str | None, name: str, default: Number) -> Number:
    return default if text is None else quantity.parse(text, name)
