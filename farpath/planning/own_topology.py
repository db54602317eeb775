"""Own topology: a Mininet topology of a user's file, mapped to cables with exact queues.

What Mininet would do and the lab does not is refused by its name. ``docs/own-topologies.md`` has
the mapping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning import quantities
from farpath.spec.own_network import BUFFER_PACKETS_RANGE, Cable, OwnNetwork, Shaping
from farpath.spec.path import LOSS_RANGE, RATE_BPS_RANGE

#: A file, and in it a topology with its arguments, as Mininet's --topo takes them.
_OWN = re.compile(r"(?P<file>.*\.py)(?::(?P<selection>.*))?", re.DOTALL)
#: Packets that may wait for a rate unless max_queue_size says otherwise: netem's own limit, and the
#: transmit queue of the veth below HTB without netem (TCIntf in mininet/link.py, netem(8)).
DEFAULT_QUEUE_PACKETS = 1000
#: Classes that a link, a host and a switch may name.
_LINK_CLASSES = ("Link", "TCLink", "TCULink")
_HOST_CLASSES = ("Host", "Node")
_SWITCH_CLASSES = ("OVSSwitch", "OVSKernelSwitch", "OVSBridge", "Switch")
#: Options of a link that are mapped.
_MAPPED = ("bw", "delay", "jitter", "loss", "max_queue_size")
#: Options of a link that say how Mininet sets the same things, and so change nothing here, with the
#: values for which that is so; None for any value.
_WITHOUT_EFFECT: Mapping[str, tuple[Any, ...] | None] = {
    "use_htb": None,
    "txo": None,
    "rxo": None,
    "fast": None,
    "disable_gro": (True,),
    "gro": (False,),
    **dict.fromkeys(("use_hfsc", "use_tbf", "enable_ecn", "enable_red"), (False, None)),
    "speedup": (0, None),
    "latency_ms": (None,),
}
_ENDS = ("node1", "node2", "port1", "port2")
#: What is the matter with options that are refused, if there is more to say.
_REASONS = {
    **dict.fromkeys(
        ("cpu", "cores", "sched", "period_us"),
        "CPULimitedHost is not mapped: computation takes no time on the virtual clock",
    ),
    **dict.fromkeys(("enable_ecn", "enable_red"), "RED and ECN are not mapped: buffers drop tails"),
    **dict.fromkeys(("use_tbf", "use_hfsc"), "a rate is exact here, whichever queue Mininet takes"),
    "latency_ms": "give a buffer as max_queue_size, in packets",
    "stp": "STP is not mapped: leave one link of each loop out",
    "defaultRoute": "routers are not mapped: all hosts are in one subnet",
    "ip": "hosts have 10.0.0.1, 10.0.0.2 and so on, as Mininet numbers them",
}


def is_own(text: str | None) -> bool:
    """Whether a text names a topology of the user's: a file, with a name in it or without."""
    return text is not None and ("/" in text or bool(_OWN.fullmatch(text)))


def split_text(text: str) -> tuple[str, str]:
    """Split a text into the file and the topology in it; raises BadInputError for any other text.

    >>> split_text("./mine.py"), split_text("mine.py:Tree,2,bw=10")
    (('./mine.py', ''), ('mine.py', 'Tree,2,bw=10'))
    """
    match = _OWN.fullmatch(text)
    if match is None or "\0" in text:
        raise BadInputError(
            f"TOPOLOGY is '{text}': a topology of your own is a Python file, ./mine.py, or a class "
            "of it with arguments, ./mine.py:Tree,2"
        )
    return match["file"], match["selection"] or ""


def name_of(text: str) -> str:
    """Return what the path of a topology is called: like its class, else like its file.

    >>> name_of("./my lab.py"), name_of("./mine.py:Tree,2")
    ('own-my-lab', 'own-tree')
    """
    file, selection = split_text(text)
    name = selection.partition(",")[0] or file.rpartition("/")[2].removesuffix(".py")
    return f"own-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'topology'}"


def network_of(description: Mapping[str, Any]) -> OwnNetwork:
    """Map what ``farpath.lab.artifacts.topo_reader`` prints of a topology.

    Raises BadInputError that names what cannot be mapped.
    """
    try:
        # What a node is says more than its options
        for name, options in description["hosts"].items():
            _check_class(f"host {name}", options.get("cls"), _HOST_CLASSES)
        for number, (name, options) in enumerate(description["hosts"].items(), start=1):
            _check_host(name, options, number)
        for name, options in description["switches"].items():
            _check_switch(name, options)
        cables = tuple(_cable(options) for options in description["links"])
        hosts, switches = tuple(description["hosts"]), tuple(description["switches"])
        return OwnNetwork(hosts, switches, cables)
    except BadInputError as error:
        raise BadInputError(f"TOPOLOGY: {error.message}") from error


def _refused(owner: str, option: str, value: Any) -> BadInputError:
    """Return the error of an option that cannot be mapped."""
    text = next(iter(value.values()), "") if isinstance(value, dict) else value
    reason = _REASONS.get(option, "that is not mapped")
    return BadInputError(f"{owner} has {on_one_line(f'{option}={text!r}')}: {reason}; leave it out")


def _check_class(owner: str, value: Any, allowed: tuple[str, ...]) -> None:
    name = value.get("class", value.get("object")) if isinstance(value, dict) else value
    if value is not None and name not in allowed:
        raise BadInputError(
            f"{owner} is a {on_one_line(str(name))}, which is not mapped: it can be "
            f"{', '.join(allowed)}; leave cls out"
        )


def _check_host(name: str, options: Mapping[str, Any], number: int) -> None:
    owner = f"host {name}"
    address = f"10.0.{number >> 8}.{number & 0xFF}"
    for option, value in options.items():
        is_its_address = option == "ip" and str(value).partition("/")[0] == address
        is_usual = is_its_address or (option, value) == ("inNamespace", True)
        if option != "cls" and not is_usual and value is not None:
            raise _refused(owner, option, value)


def _check_switch(name: str, options: Mapping[str, Any]) -> None:
    owner = f"switch {name}"
    for option, value in options.items():
        if option == "cls":
            _check_class(owner, value, _SWITCH_CLASSES)
        elif option in ("isSwitch", "dpid") or (option, value) == ("failMode", "standalone"):
            continue
        elif value:
            raise _refused(owner, option, value)


def _cable(info: Mapping[str, Any]) -> Cable:
    """Map a link: each end has the options of the link before its own, as in Mininet's Link."""
    one, other = info["node1"], info["node2"]
    owner = f"link {one}-{other}"
    common = {key: value for key, value in info.items() if key not in (*_ENDS, "cls", "params1",
              "params2")}  # fmt: skip
    _check_class(owner, info.get("cls"), _LINK_CLASSES)
    ends = []
    for name in ("params1", "params2"):
        own = info.get(name) or {}
        if not isinstance(own, Mapping):
            raise _refused(owner, name, own)
        ends.append({**own, **common})
    there, back = (_shaping(owner, options) for options in ends)
    return Cable(one, info["port1"], other, info["port2"], there, back)


def _shaping(owner: str, options: Mapping[str, Any]) -> Shaping:
    """Map what TCLink would do to the packets that leave one end."""
    for option, value in options.items():
        if option in _MAPPED:
            continue
        if option not in _WITHOUT_EFFECT:
            raise _refused(owner, option, value)
        allowed = _WITHOUT_EFFECT[option]
        if allowed is not None and value not in allowed:
            raise _refused(owner, option, value)
    delay_ms = _time_ms(owner, "delay", options.get("delay"))
    jitter_ms = _time_ms(owner, "jitter", options.get("jitter"))
    if jitter_ms > delay_ms:
        raise BadInputError(
            f"{owner} has jitter={options['jitter']!r} and delay={options.get('delay')!r}: a delay "
            "may deviate by at most itself"
        )
    low_mbit, high_mbit = (rate_bps / 1e6 for rate_bps in RATE_BPS_RANGE)
    rate_mbit = _number(owner, "bw", options, (low_mbit, high_mbit), " Mbit/s")
    low, high = LOSS_RANGE
    loss_percent = _number(owner, "loss", options, (100 * low, 100 * high), " %")
    packets = _number(owner, "max_queue_size", options, BUFFER_PACKETS_RANGE, " packets")
    if packets is not None and rate_mbit is None:
        raise BadInputError(
            f"{owner} has max_queue_size={packets:g} and no bw: packets wait for a rate only; give "
            "bw, or leave it out"
        )
    rate_bps = round(1e6 * (rate_mbit or 0))
    waiting = round(packets or DEFAULT_QUEUE_PACKETS) if rate_bps else 0
    return Shaping(rate_bps, waiting, delay_ms, jitter_ms, (loss_percent or 0) / 100)


def _time_ms(owner: str, option: str, value: Any) -> float:
    """Return a delay or jitter in ms; Mininet hands it to tc, which takes a number for us."""
    if value in (None, 0, ""):
        return 0.0
    if not isinstance(value, str):
        raise BadInputError(
            f"{owner} has {option}={on_one_line(repr(value))}: give it with its unit, as in "
            f"{option}='5ms'"
        )
    return quantities.parse_delay_ms(value, f"{owner}: {option}")


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
            f"{owner} has {option}={on_one_line(repr(value))}: it must be a number from "
            f"{low:,.12g} to {high:,.12g}{unit}"
        )
    return float(value)
