"""User path: the path of a run over a user's network: the way of its first flow.

Metrics, figures and tables know one path. Its RTT, rate and buffer are those that the first flow
meets, and its window fits the longest of all ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from farpath.base.errors import BadInputError, on_one_line
from farpath.mechanisms import quantities
from farpath.planning import path_options
from farpath.planning.user_topology import name_of
from farpath.spec.hosts import Pair
from farpath.spec.path import ETHERNET_HEADER_BYTES, WAY_RTT_MS_RANGE, WINDOW_BYTES_RANGE, Path
from farpath.spec.user_network import Step, UserNetwork


def user_path(
    text: str,
    title: str,
    network: UserNetwork,
    pairs: Sequence[Pair],
    mtu: str | None = None,
    window: str | None = None,
    sysctl: str | None = None,
) -> Path:
    """Return the path of a run over a network; ``text`` names it, and ``title`` describes it.

    ``pairs``: senders and receivers of the flows, in their order. Raises BadInputError for a way
    without a rate, and for options out of range.
    """
    for pair in pairs:
        check_way(network, *pair)
    first = pairs[0]
    (queue, *_) = network.bottlenecks(pairs)
    given = {} if mtu is None else {"mtu_bytes": quantities.MTU_BYTES.parse(mtu, "mtu")}
    mtu_bytes = given.get("mtu_bytes", path_options.DEFAULT_MTU_BYTES)
    frame_bytes = mtu_bytes + ETHERNET_HEADER_BYTES
    values: dict[str, Any] = {
        **given,
        "rate_bps": queue.shaping.rate_bps,
        "buffer_packets": queue.shaping.buffer_packets,
        "buffer_bytes": queue.shaping.buffer_packets * frame_bytes,
        "loss": network.loss(*first),
        "queue": queue.shaping.queue,
        "window_bytes": _window_bytes(network, pairs, frame_bytes),
    }
    if window is not None:
        values["window_bytes"] = quantities.WINDOW_BYTES.parse(window, "window")
        given["window_bytes"] = values["window_bytes"]
    about = {
        "name": name_of(text),
        "title": f"topology {on_one_line(title)}, {network.sizes}",
        "sysctl": {} if sysctl is None else path_options.parse_sysctl(sysctl),
        "sources": {**_sources(first, queue), **dict.fromkeys(given, "given")},
    }
    return path_options.custom_path(network.rtt_ms(*first), {**values, **about})


def check_way(network: UserNetwork, sender: str, receiver: str) -> None:
    """Raise BadInputError for a way on which a flow has no end of rate, or too long a delay."""
    if not network.bottlenecks([(sender, receiver)]):
        raise BadInputError(
            option="topology",
            problem=(
                f"no link on the way from {sender} to {receiver} has bw: computation "
                "takes no time, so that a flow would have no end of rate"
            ),
            remedy="give one of them bw, in Mbit/s, or `link`='*:rate=10Mbit'",
        )
    low, high = WAY_RTT_MS_RANGE
    rtt_ms = network.rtt_ms(sender, receiver)
    if not low <= rtt_ms <= high:
        raise BadInputError(
            option="topology",
            problem=(
                f"the delays on the way from {sender} to {receiver} and back are {rtt_ms:g} ms"
            ),
            remedy=f"they must be {low:g} to {high:,g} ms; give links shorter delays",
        )


def _window_bytes(network: UserNetwork, pairs: Sequence[Pair], frame_bytes: int) -> int:
    """Return twice the largest bandwidth-delay product plus the buffer, within the allowed."""
    ideal_bytes = path_options.LEAST_WINDOW_BYTES
    for pair in pairs:
        (step,) = network.bottlenecks([pair])
        product = round(2 * step.shaping.rate_bps * network.rtt_ms(*pair) / 8e3)
        ideal_bytes = max(ideal_bytes, product + step.shaping.buffer_packets * frame_bytes)
    return min(ideal_bytes, WINDOW_BYTES_RANGE[1])


def _sources(first: Pair, queue: Step) -> Mapping[str, str]:
    """Return where the values of the path are from."""
    way = f"the way from {first[0]} to {first[1]}"
    usual = "1000" if queue.shaping.queue is None else "limit of such a queue"
    link = f"the link {queue.cable.one}-{queue.cable.other}, the narrowest on {way}"
    return {
        "rtt_ms": f"the sum of the delays on {way} and back",
        "rate_bps": f"bw of {link}",
        "buffer_bytes": f"the same of full packets, on {link}",
        "buffer_packets": f"max_queue_size of {link}; Mininet's {usual} without one",
        "loss": f"of all links on {way}",
        **({"queue": f"that of {link}"} if queue.shaping.queue else {}),
        "window_bytes": "twice the largest bandwidth-delay product of the flows' ways, and its "
        "buffer, at least 16 MiB",
    }
