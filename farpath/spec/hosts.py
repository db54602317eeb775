"""Hosts: the end hosts of a topology, who sends to whom, and the flows between them.

Pure, shared by host and guest. The first sender has the path's RTT and MTU; further ones
share its bottleneck from farther away or with smaller packets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from farpath.base.errors import BadInputError
from farpath.spec.schedule import Flow, Schedule

#: The host that every topology has beside those that flows name.
PINGER = "pinger"
#: The one that sends a path's background traffic; it runs no container.
BACKGROUND = "background"
#: The first sender and its receiver; the k-th further one of either has ``k + 1`` behind it.
SENDER, RECEIVER = "sender", "receiver"


@dataclass(frozen=True)
class Sender:
    """A host that sends through a path's bottleneck from ``rtt_ms`` away, whole path counted.

    ``mtu_bytes``: the largest IP packet that it sends and takes.
    """

    name: str
    rtt_ms: float
    mtu_bytes: int

    def __str__(self) -> str:
        return f"rtt={self.rtt_ms:g}ms,mtu={self.mtu_bytes}"


def numbered(kind: str, number: int) -> str:
    """The name of the ``number``-th host of a kind.

    >>> numbered(SENDER, 1), numbered(SENDER, 2)
    ('sender', 'sender2')
    """
    return kind if number == 1 else f"{kind}{number}"


DUMBBELL, PARKING_LOT = "dumbbell", "parking-lot"
TOPOLOGIES = (DUMBBELL, PARKING_LOT)
#: Bottlenecks of a parking lot: one would be a dumbbell.
BOTTLENECKS_RANGE = (2, 8)
DEFAULT_BOTTLENECKS = 3
#: The first flow of the other direction has the next port.
FIRST_REVERSE_PORT = 5600
Pair = tuple[str, str]


def host_pairs(topology: str, bottlenecks: int, senders: Sequence[Sender] = ()) -> tuple[Pair, ...]:
    """Who sends to whom: of a parking lot the long way first, then across each bottleneck.

    >>> host_pairs(PARKING_LOT, 2)
    (('sender', 'receiver'), ('sender2', 'receiver2'), ('sender3', 'receiver3'))
    """
    if topology == PARKING_LOT:
        return tuple(
            (numbered(SENDER, number), numbered(RECEIVER, number))
            for number in range(1, bottlenecks + 2)
        )
    return ((SENDER, RECEIVER), *((sender.name, RECEIVER) for sender in senders))


def assign_hosts(schedule: Schedule, pairs: Sequence[Pair]) -> Schedule:
    """A schedule whose flows take the pairs of hosts in turn.

    Raises BadInputError if a pair would be left without a flow.
    """
    if len(schedule.flows) < len(pairs):
        raise BadInputError(
            f"there are {len(pairs)} senders and {len(schedule.flows)} flows, and each sender "
            f"needs one: take SCHEDULE=together with one stack, which each then sends with, or "
            f"with {len(pairs)}, as in STACK=reno+{len(pairs) - 1}xhtcp"
        )
    flows = tuple(
        replace(flow, sender=sender, receiver=receiver)
        for number, flow in enumerate(schedule.flows)
        for sender, receiver in [pairs[number % len(pairs)]]
    )
    return replace(schedule, flows=flows)


def with_reverse(schedule: Schedule, stacks: Sequence[str], pairs: Sequence[Pair]) -> Schedule:
    """A schedule with one flow of each stack in the other direction, from beginning to end."""
    reverse = tuple(
        Flow(
            f"reverse{number}",
            receiver,
            sender,
            stack,
            0.0,
            schedule.duration_s,
            FIRST_REVERSE_PORT + number,
        )
        for number, stack in enumerate(stacks, start=1)
        for sender, receiver in [pairs[(number - 1) % len(pairs)]]
    )
    return replace(schedule, reverse=reverse)
