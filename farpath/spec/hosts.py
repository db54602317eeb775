"""Hosts: the end hosts of a topology and the assignment of flows to their pairs.

The first sender has the path's RTT and MTU. Further senders share its bottleneck with their
own RTT and MTU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from farpath.base.errors import BadInputError
from farpath.spec.schedule import Flow, Schedule

#: The host that pings; every topology has it in addition to the hosts of the flows.
PINGER = "pinger"
#: The host that sends a path's background traffic; it runs no container.
BACKGROUND = "background"
#: The hosts of a path's short flows, which run no containers: the server is at the senders' site,
#: the client at the receivers'.
SERVER, CLIENT = "server", "client"
#: The first sender and its receiver; further ones are numbered from 2, as ``sender2``.
SENDER, RECEIVER = "sender", "receiver"
#: The sides of a run, each called like its first host.
SIDES = (SENDER, RECEIVER)


@dataclass(frozen=True)
class Sender:
    """A further sender of a dumbbell.

    ``rtt_ms``: base RTT between it and the receiver. ``mtu_bytes``: the largest IP packet that
    it sends and receives.
    """

    name: str
    rtt_ms: float
    mtu_bytes: int

    def __str__(self) -> str:
        return f"rtt={self.rtt_ms:g}ms,mtu={self.mtu_bytes}"


def numbered(role: str, number: int) -> str:
    """Return the name of the ``number``-th host of a role, from 1.

    >>> numbered(SENDER, 1), numbered(SENDER, 2)
    ('sender', 'sender2')
    """
    return role if number == 1 else f"{role}{number}"


#: Ports of reverse flows: flow k has this port plus k.
FIRST_REVERSE_PORT = 5600
Pair = tuple[str, str]


def assign_hosts(schedule: Schedule, pairs: Sequence[Pair]) -> Schedule:
    """Assign the pairs of hosts to a schedule's flows in turn, and return the new schedule.

    Raises BadInputError if a pair would have no flow.
    """
    if len(schedule.flows) < len(pairs):
        raise BadInputError(
            problem=f"there are {len(pairs)} senders and {len(schedule.flows)} flows, and each "
            "sender needs a flow",
            remedy="take `schedule=together` with one stack for all senders, or with "
            f"{len(pairs)} stacks, as in `stack=reno+{len(pairs) - 1}xhtcp`",
        )
    flows = tuple(
        replace(flow, sender=sender, receiver=receiver)
        for number, flow in enumerate(schedule.flows)
        for sender, receiver in [pairs[number % len(pairs)]]
    )
    return replace(schedule, flows=flows)


def with_reverse(schedule: Schedule, stacks: Sequence[str], pairs: Sequence[Pair]) -> Schedule:
    """Add a reverse flow of each stack, from receiver to sender for the whole schedule."""
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
