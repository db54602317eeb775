"""Parser of LINK's text: options of links of a user's network, from outside of the file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from farpath.base.errors import BadInputError
from farpath.mechanisms import quantities
from farpath.mechanisms.queue.mechanism import parse_queue
from farpath.spec.user_network import BUFFER_PACKETS_RANGE, Cable, Shaping, UserNetwork

EXAMPLE = "s1-s2:rate=10Mbit,delay=5ms"
#: All links, in both directions.
ALL = "*"
#: Packets that may wait for a rate unless a text or max_queue_size says otherwise: netem's own
#: limit, and the transmit queue of the veth below HTB without netem (TCIntf in mininet/link.py,
#: netem(8)).
DEFAULT_BUFFER_PACKETS = 1000
OPTIONS = ("rate", "delay", "jitter", "loss", "buffer", "queue")
_LINK = re.compile(r"(\*|\w+[->]\w+):(.*)", re.DOTALL)


@dataclass(frozen=True)
class LinkRequest:
    """The request for one link: its name, and values by the fields of ``Shaping``."""

    name: str
    values: Mapping[str, Any]


def with_links(network: UserNetwork, text: str | None) -> UserNetwork:
    """Return a network with the options of LINK; without a text the same.

    A link's name overrides its file. ``*`` gives all links the options that they lack.
    Raises BadInputError for any other text, and for a link that is not there.
    """
    if text is None:
        return network
    requests = parse_links(text)
    for request in requests:
        if request.name != ALL and not any(_directions(request.name, c) for c in network.cables):
            raise BadInputError(
                option="link",
                given=request.name,
                problem="there is no such link",
                remedy=(
                    "the links are "
                    f"{', '.join(f'{cable.one}-{cable.other}' for cable in network.cables)}"
                ),
            )
    named = [request for request in requests if request.name != ALL]
    cables = tuple(_changed(cable, named) for cable in network.cables)
    for request in requests:
        if request.name == ALL:
            cables = tuple(_filled(cable, request) for cable in cables)
    return replace(network, cables=cables)


def parse_links(text: str) -> tuple[LinkRequest, ...]:
    """Parse links with their options, which blanks or commas separate.

    >>> parse_links("s1-s2:rate=10Mbit,delay=5ms *:loss=1%")[1]
    LinkRequest(name='*', values={'loss': 0.01})
    """
    links: list[tuple[str, list[str]]] = []
    for word in text.split():
        match = _LINK.fullmatch(word)
        if match:
            links.append((match[1], [match[2]] if match[2] else []))
        elif links:
            links[-1][1].append(word)
        else:
            raise BadInputError(
                option="link",
                given=text,
                problem=f"'{word}' names no link",
                remedy=(
                    f"give {EXAMPLE}, s1>s2:loss=1% for one direction, or {ALL}:rate=10Mbit "
                    "for all links that have none"
                ),
            )
    if not links:
        raise BadInputError(
            option="link", given=text, remedy=f"give links with options, as in {EXAMPLE}"
        )
    return tuple(LinkRequest(name, _values(name, ",".join(words))) for name, words in links)


def _values(name: str, text: str) -> dict[str, Any]:
    """Parse the options of one link."""
    given: dict[str, str] = {}
    last = ""
    for word in text.split(",") if text else []:
        option, equals, value = word.partition("=")
        if option in OPTIONS and equals:
            if option in given:
                raise BadInputError(
                    option="link", problem=f"{name} has {option} twice", remedy="give it once"
                )
            given[option], last = value, option
        elif last == "queue":
            # A parameter of the queue
            given["queue"] += f",{word}"
        else:
            raise BadInputError(
                option="link",
                problem=f"{name} has '{word}'",
                remedy=f"give some of {', '.join(OPTIONS)}, as in {EXAMPLE}",
            )
    if not given:
        raise BadInputError(
            option="link", problem=f"{name} has no options", remedy=f"give some, as in {EXAMPLE}"
        )
    values: dict[str, Any] = {}
    for option, value in given.items():
        values |= parsed_option(f"{name}: {option}", option, value)
    return values


def parsed_option(owner: str, option: str, text: str) -> dict[str, Any]:
    """Return the fields of ``Shaping`` that an option of a link means.

    ``owner``: the link with the option, for errors. ``option``: one of ``OPTIONS``. Raises
    BadInputError about the option `link`.

    >>> parsed_option("eu-us: delay", "delay", "40ms")
    {'delay_ms': 40.0}
    """
    if option == "rate":
        return {"rate_bps": quantities.RATE_BPS.parse(text, f"link: {owner}")}
    if option == "delay":
        return {"delay_ms": quantities.DELAY_MS.parse(text, f"link: {owner}")}
    if option == "jitter":
        return {"jitter_ms": quantities.JITTER_MS.parse(text, f"link: {owner}")}
    if option == "loss":
        return {"loss": quantities.FRACTION.parse(text, f"link: {owner}")}
    if option == "buffer":
        return {"buffer_packets": _packets(owner, text)}
    try:
        request = parse_queue(text)
    except BadInputError as error:
        raise BadInputError(option="link", problem=f"{owner}: {error.text}") from error
    limit = {} if request.limit is None else {"buffer_packets": _packets(owner, request.limit)}
    return {"queue": request.aqm, **limit}


def _packets(owner: str, text: str) -> int:
    """Parse a buffer in packets, the unit of a link's buffer."""
    number = re.fullmatch(r"([0-9]{1,9})(p|packets)?", text)
    least, most = BUFFER_PACKETS_RANGE
    if number is None or not least <= int(number[1]) <= most:
        raise BadInputError(
            option="link",
            problem=f"{owner} is '{text}'",
            remedy=(
                f"a link's buffer is a number of packets, {least} to {most:,}, such as 100packets"
            ),
        )
    return int(number[1])


def _directions(name: str, cable: Cable) -> tuple[str, ...]:
    """Return the directions of a cable that a name means: ``there``, ``back``, both or none."""
    one, between, other = re.split(r"([->])", name)
    ends = {(cable.one, cable.other): "there", (cable.other, cable.one): "back"}
    if (one, other) not in ends:
        return ()
    return (ends[one, other],) if between == ">" else ("there", "back")


def _changed(cable: Cable, requests: list[LinkRequest]) -> Cable:
    """Return a cable with the values of its requests, the last one last."""
    for request in requests:
        for direction in _directions(request.name, cable):
            shaping = getattr(cable, direction)
            changed: dict[str, Any] = {
                direction: with_values(shaping, request.values, request.name)
            }
            cable = replace(cable, **changed)
    return cable


def _filled(cable: Cable, request: LinkRequest) -> Cable:
    """Return a cable with the values that it lacks, in each direction."""
    for direction in ("there", "back"):
        shaping = getattr(cable, direction)
        fresh = {
            name: value for name, value in request.values.items() if not getattr(shaping, name)
        }
        if shaping.rate_bps:
            # A rate of its own comes with a buffer of its own
            fresh = {n: v for n, v in fresh.items() if n not in ("buffer_packets", "queue")}
        filled: dict[str, Any] = {
            direction: with_values(shaping, fresh, f"{cable.one}-{cable.other}")
        }
        cable = replace(cable, **filled)
    return cable


def with_values(shaping: Shaping, values: Mapping[str, Any], name: str) -> Shaping:
    """Return a direction with further values; a rate has Mininet's buffer if it has none."""
    values = {**dataclasses.asdict(shaping), "queue": shaping.queue, **values}
    if values["rate_bps"] and not values["buffer_packets"]:
        values["buffer_packets"] = DEFAULT_BUFFER_PACKETS
    try:
        return Shaping(**values)
    except BadInputError as error:
        raise BadInputError(option="link", problem=f"{name}: {error.text}") from error
