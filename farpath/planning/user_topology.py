"""User topology: a Mininet topology of a user's file, mapped to cables with exact queues.

Options of Mininet that the lab does not have are refused by name. The mapping is in
``docs/how-to/own-topologies.md``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import BadInputError, on_one_line
from farpath.mechanisms import quantities
from farpath.mechanisms.queue.mechanism import parse_queue
from farpath.planning.user_links import DEFAULT_BUFFER_PACKETS
from farpath.spec.aqm import Aqm
from farpath.spec.path import LOSS_RANGE, RATE_BPS_RANGE
from farpath.spec.user_network import BUFFER_PACKETS_RANGE, Cable, Shaping, UserNetwork

#: A file, in it a topology with its arguments, as Mininet's --topo takes them, and behind -- the
#: arguments of the file itself.
_OWN = re.compile(
    r"(?P<file>.*?\.py)(?::(?P<selection>.*?))?(?:\s+--(?:\s+(?P<arguments>.*))?)?", re.DOTALL
)
#: Classes that a link, a host and a switch may name.
_LINK_CLASSES = ("Link", "TCLink", "TCULink")
_HOST_CLASSES = ("Host", "Node", "CPULimitedHost")
_SWITCH_CLASSES = ("OVSSwitch", "OVSKernelSwitch", "OVSBridge", "LinuxBridge", "Switch")
#: Options of a link that are mapped.
_MAPPED = (
    *("bw", "delay", "jitter", "loss", "max_queue_size", "speedup", "enable_red", "enable_ecn"),
    *("use_tbf", "latency_ms", "queue"),
)
#: Options of a link that say how Mininet sets the same things, and so change nothing here, with the
#: values for which that is so; None for any value.
_WITHOUT_EFFECT: Mapping[str, tuple[Any, ...] | None] = {
    "use_htb": None,
    "use_hfsc": None,
    "txo": None,
    "rxo": None,
    "fast": None,
    "disable_gro": (True,),
    "gro": (False,),
}
#: Options of a link that name the classes of its interfaces, and the classes that are mapped.
_INTERFACES, _INTERFACE_CLASSES = ("intf", "cls1", "cls2"), ("Intf", "TCIntf")
#: Options that mean nothing here, for links, hosts and switches, and why; each is said once.
_NAMES = "flows name their hosts, so names and addresses of interfaces mean nothing here"
_ONE_SUBNET = "all hosts are in one subnet, 10.0.0.1 onwards, and flows name them"
_LEARNING = "switches here learn where hosts are, without a controller"
_PROCESSOR = "computation takes no time on the virtual clock"
_IGNORED: Mapping[str, Mapping[str, str]] = {
    "link": {
        **dict.fromkeys(("addr1", "addr2", "intfName1", "intfName2", "mac"), _NAMES),
        **dict.fromkeys(("ifconfig", "up", "moveIntfFn"), _NAMES),
        "ip": _ONE_SUBNET,
        "linkopts": "Mininet ignores it too; give what is in it to addLink()",
        **dict.fromkeys(("r2q", "burst", "cburst", "quantum"), "a rate is exact here"),
    },
    "host": {
        **dict.fromkeys(("ip", "mac", "defaultRoute", "defaultroute"), _ONE_SUBNET),
        **dict.fromkeys(("sched", "period_us"), _PROCESSOR),
        "privateDirs": "flows are iperf3's and need no folders",
    },
    "switch": {
        "inNamespace": "a switch needs no namespace of its own",
        **dict.fromkeys(("mac", "ip", "listenPort", "datapath", "dpopts"), _LEARNING),
        **dict.fromkeys(("protocols", "failMode", "opts", "inband", "batch"), _LEARNING),
        **dict.fromkeys(("reconnectms", "verbose", "prio"), _LEARNING),
        "stp": "a network here has no loops",
    },
}
_ENDS = ("node1", "node2", "port1", "port2")
#: Reasons for refused options, where there are special ones.
_REASONS = {
    **dict.fromkeys(
        _INTERFACES,
        "what a class of interfaces of your own does is not mapped; say it by queue='pie' in "
        "addLink(), or by LINK",
    ),
    **dict.fromkeys(
        ("cpu", "cores"),
        f"CPULimitedHost is not mapped: {_PROCESSOR}",
    ),
}
#: RED as Mininet's enable_red and enable_ecn set it, and its limit (TCIntf.bwCmds in
#: mininet/link.py), which is in bytes there. Its probability is 1 there, which tc hands over as 0;
#: the kernel then takes (2^32 - 1 >> 13) * (max - min) / 2^32 (red_set_parms in include/net/red.h).
_RED = {"min": 30_000, "max": 35_000, "burst": 20, "probability": 0.61035}
_RED_LIMIT_BYTES = 1_000_000
#: Settings of use_tbf there: the bucket, and the wait in s times bit/s that there is without
#: latency_ms, both in bytes.
_TBF_BURST_BYTES = _TBF_WAIT_BYTES = 15_000
#: The frame in which buffers of bytes are counted, of Ethernet's usual MTU of 1500.
_FRAME_BYTES = 1514
Warn = Callable[[str], None]


def is_user_topology(text: str | None) -> bool:
    """Whether a text names a topology of the user's: a file, with a name in it or without."""
    return text is not None and ("/" in text or bool(_OWN.fullmatch(text)))


@dataclass(frozen=True)
class UserText:
    """Parts of a topology's text: a file, a topology in it, and the file's arguments.

    ``arguments``: None without ``--``, which is not the same as none.
    """

    file: str
    selection: str = ""
    arguments: tuple[str, ...] | None = None


def split_text(text: str) -> UserText:
    """Split a text into its parts; raises BadInputError for any other text.

    Arguments are split as a shell does, and nothing in them is replaced.

    >>> split_text("mine.py:Tree,2,bw=10")
    UserText(file='mine.py', selection='Tree,2,bw=10', arguments=None)
    >>> split_text("./cli.py -- --bw-net 10").arguments
    ('--bw-net', '10')
    """
    match = _OWN.fullmatch(text)
    if match is None or "\0" in text:
        raise BadInputError(
            option="topology",
            given=text,
            remedy=(
                "a topology of your own is a Python file, ./mine.py, or a class of it "
                "with arguments, ./mine.py:Tree,2"
            ),
        )
    has_arguments = match.end() > max(match.end("file"), match.end("selection"))
    try:
        arguments = shlex.split(match["arguments"] or "")
    except ValueError as error:
        raise BadInputError(
            option="topology",
            given=text,
            problem=f"behind -- a quotation mark is open ({error})",
            remedy="close it",
        ) from error
    return UserText(
        match["file"], match["selection"] or "", tuple(arguments) if has_arguments else None
    )


def name_of(text: str) -> str:
    """Return the name of a topology's path: its class, else its file.

    >>> name_of("./my lab.py"), name_of("./mine.py:Tree,2")
    ('own-my-lab', 'own-tree')
    """
    named = split_text(text)
    file = named.file
    name = named.selection.partition(",")[0] or file.rpartition("/")[2].removesuffix(".py")
    return f"own-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'topology'}"


def network_of(description: Mapping[str, Any], warn: Warn = lambda _words: None) -> UserNetwork:
    """Map the output of ``farpath.lab.artifacts.topo_reader``.

    ``warn``: called with a sentence on ignored options. Raises BadInputError that names an option
    that cannot be mapped.
    """
    ignored: dict[str, str] = {}
    try:
        # The kind of a node says more than its options
        for name, options in description["hosts"].items():
            _check_class(f"host {name}", options.get("cls"), _HOST_CLASSES)
        for number, (name, options) in enumerate(description["hosts"].items(), start=1):
            _check_host(name, options, number, ignored)
        for name, options in description["switches"].items():
            _check_switch(name, options, ignored)
        cables = tuple(
            _cable(options, description["switches"], ignored) for options in description["links"]
        )
        hosts, switches = tuple(description["hosts"]), tuple(description["switches"])
        network = UserNetwork(hosts, switches, cables)
    except BadInputError as error:
        raise BadInputError(
            option="topology", problem=error.problem or error.text, remedy=error.remedy
        ) from error
    for option, words in ignored.items():
        warn(f"{option} is ignored: {words}")
    return network


def _refused(owner: str, option: str, value: Any) -> BadInputError:
    """Return the error of an option that cannot be mapped."""
    text = next(iter(value.values()), "") if isinstance(value, dict) else value
    reason = _REASONS.get(option, "that is not mapped")
    return BadInputError(
        problem=f"{owner} has {on_one_line(f'{option}={text!r}')}: {reason}", remedy="leave it out"
    )


def _check_class(owner: str, value: Any, allowed: tuple[str, ...]) -> None:
    name = value.get("class", value.get("object")) if isinstance(value, dict) else value
    if value is not None and name not in allowed:
        raise BadInputError(
            problem=f"{owner} is a {on_one_line(str(name))}, which is not mapped",
            remedy=f"it can be {', '.join(allowed)}; leave cls out",
        )


def _check_host(
    name: str, options: Mapping[str, Any], number: int, ignored: dict[str, str]
) -> None:
    address = f"10.0.{number >> 8}.{number & 0xFF}"
    for option, value in options.items():
        is_its_address = option == "ip" and str(value).partition("/")[0] == address
        is_usual = is_its_address or (option, value) in (("inNamespace", True), ("cpu", -1))
        if option != "cls" and not is_usual and value is not None:
            _ignore("host", name, option, value, ignored)


def _check_switch(name: str, options: Mapping[str, Any], ignored: dict[str, str]) -> None:
    for option, value in options.items():
        if option == "cls":
            _check_class(f"switch {name}", value, _SWITCH_CLASSES)
        elif option in ("isSwitch", "dpid") or (option, value) == ("failMode", "standalone"):
            continue
        elif value:
            _ignore("switch", name, option, value, ignored)


def _ignore(kind: str, name: str, option: str, value: Any, ignored: dict[str, str]) -> None:
    """Note an option that means nothing here; raise BadInputError for any other."""
    reasons = _IGNORED[kind]
    if option not in reasons:
        raise _refused(f"{kind} {name}", option, value)
    ignored.setdefault(f"{option} of {kind}{'es' if kind == 'switch' else 's'}", reasons[option])


def _cable(info: Mapping[str, Any], switches: Mapping[str, Any], ignored: dict[str, str]) -> Cable:
    """Map a link: each end has the options of the link before its own, as in Mininet's Link."""
    one, other = info["node1"], info["node2"]
    name = f"{one}-{other}"
    owner = f"link {name}"
    common = {key: value for key, value in info.items() if key not in (*_ENDS, "cls", "params1",
              "params2")}  # fmt: skip
    _check_class(owner, info.get("cls"), _LINK_CLASSES)
    ends = []
    for key, node in (("params1", one), ("params2", other)):
        own = info.get(key) or {}
        if not isinstance(own, Mapping):
            raise _refused(owner, key, own)
        options = {**own, **common}
        for option, value in options.items():
            if option not in _MAPPED:
                _check_without_effect(name, option, value, ignored)
        if options.get("speedup") and options.get("bw") and node in switches:
            # Packets that leave a switch have another rate there (TCIntf.bwCmds in mininet/link.py)
            options["bw"] = options["speedup"]
        ends.append(options)
    there, back = (_shaping(owner, options) for options in ends)
    return Cable(one, info["port1"], other, info["port2"], there, back)


def _check_without_effect(name: str, option: str, value: Any, ignored: dict[str, str]) -> None:
    if option in _INTERFACES:
        named = value.get("class") if isinstance(value, dict) else value
        if named is not None and named not in _INTERFACE_CLASSES:
            raise _refused(f"link {name}", option, value)
        return
    if option not in _WITHOUT_EFFECT:
        if value is not None:
            _ignore("link", name, option, value, ignored)
        return
    allowed = _WITHOUT_EFFECT[option]
    if allowed is not None and value not in allowed:
        raise _refused(f"link {name}", option, value)


def _shaping(owner: str, options: Mapping[str, Any]) -> Shaping:
    """Map TCLink's effects on packets that leave one end."""
    delay_ms = _time_ms(owner, "delay", options.get("delay"))
    jitter_ms = _time_ms(owner, "jitter", options.get("jitter"))
    if jitter_ms > delay_ms:
        raise BadInputError(
            problem=(
                f"{owner} has jitter={options['jitter']!r} and delay={options.get('delay')!r}"
            ),
            remedy="a delay may deviate by at most itself",
        )
    low_mbit, high_mbit = (rate_bps / 1e6 for rate_bps in RATE_BPS_RANGE)
    rate_mbit = _number(owner, "bw", options, (low_mbit, high_mbit), " Mbit/s")
    low, high = LOSS_RANGE
    loss_percent = _number(owner, "loss", options, (100 * low, 100 * high), " %")
    packets = _number(owner, "max_queue_size", options, BUFFER_PACKETS_RANGE, " packets")
    for option in ("max_queue_size", "queue", "enable_red", "enable_ecn"):
        if options.get(option) and rate_mbit is None:
            raise BadInputError(
                problem=(
                    f"{owner} has {option}={on_one_line(str(options[option]))} and no bw: "
                    "packets wait for a rate only"
                ),
                remedy="give bw, or leave it out",
            )
    rate_bps = round(1e6 * (rate_mbit or 0))
    aqm, waiting = None, 0
    if rate_bps:
        aqm, usual_packets = _queue(owner, options, rate_bps)
        waiting = round(packets or usual_packets)
    return Shaping(rate_bps, waiting, delay_ms, jitter_ms, (loss_percent or 0) / 100, aqm)


def _queue(owner: str, options: Mapping[str, Any], rate_bps: int) -> tuple[Aqm | None, int]:
    """Return a rate's queue, None for drop-tail, and its packets without max_queue_size."""
    is_red = options.get("enable_ecn") or options.get("enable_red")
    if options.get("queue"):
        if is_red:
            raise BadInputError(
                problem=f"{owner} has queue and enable_red or enable_ecn, which say the same",
                remedy="leave one out",
            )
        return _user_queue(owner, options["queue"])
    if is_red:
        marks = {"ecn": 1} if options.get("enable_ecn") else {}
        return Aqm("red", {**_RED, **marks}), _RED_LIMIT_BYTES // _FRAME_BYTES
    if options.get("use_tbf"):
        wait_ms = _number(owner, "latency_ms", options, (0.001, 60_000), " ms")
        wait_bytes = _TBF_WAIT_BYTES if wait_ms is None else rate_bps * wait_ms / 8e3
        packets = round((wait_bytes + _TBF_BURST_BYTES) // _FRAME_BYTES)
        return None, min(max(packets, BUFFER_PACKETS_RANGE[0]), BUFFER_PACKETS_RANGE[1])
    return None, DEFAULT_BUFFER_PACKETS


def _user_queue(owner: str, text: Any) -> tuple[Aqm | None, int]:
    """Map a queue as QUEUE names it, and its limit if that counts packets."""
    if not isinstance(text, str):
        raise BadInputError(
            problem=f"{owner} has queue={on_one_line(repr(text))}",
            remedy="give a text as `queue` takes it, as in queue='fq_codel:target=5ms'",
        )
    try:
        request = parse_queue(text)
    except BadInputError as error:
        raise BadInputError(problem=f"{owner}: {error.text}") from error
    limit = request.limit
    if limit is None:
        return request.aqm, DEFAULT_BUFFER_PACKETS
    if not limit.endswith("packets"):
        raise BadInputError(
            problem=(
                f"{owner} has queue={on_one_line(text)}: its limit counts bytes, and a "
                "link's buffer counts packets"
            ),
            remedy="give max_queue_size instead",
        )
    return request.aqm, quantities.whole(BUFFER_PACKETS_RANGE).parse(
        limit.removesuffix("packets"), f"topology: {owner}: limit of queue"
    )


def _time_ms(owner: str, option: str, value: Any) -> float:
    """Return a delay or jitter in ms; Mininet hands it to tc, which takes a number for us."""
    if value in (None, 0, ""):
        return 0.0
    if not isinstance(value, str):
        raise BadInputError(
            problem=f"{owner} has {option}={on_one_line(repr(value))}",
            remedy=f"give it with its unit, as in {option}='5ms'",
        )
    return quantities.DELAY_MS.parse(value, f"topology: {owner}: {option}")


def _number(
    owner: str,
    option: str,
    options: Mapping[str, Any],
    allowed: tuple[float, float],
    unit: str,
) -> float | None:
    """Return an option's number; None without it."""
    value = options.get(option)
    if value is None:
        return None
    low, high = allowed
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadInputError(
            problem=f"{owner} has {option}={on_one_line(repr(value))}",
            remedy=f"it must be a number from {low:,.12g} to {high:,.12g}{unit}",
        )
    return float(value)
