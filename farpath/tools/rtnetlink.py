"""rtnetlink: requests to the kernel for qdiscs that tc does not know, and their statistics.

The messages are those of rtnetlink(7), their attributes those of include/uapi/linux/pkt_sched.h and
gen_stats.h.
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from typing import Any

from farpath.tools import netlink
from farpath.tools.netlink import HEADER, attribute, attributes

#: The kinds that the lab's tc does not know.
UNKNOWN_TO_TC = ("bottleneck", "dualpi2")
NETLINK_ROUTE = 0
RTM_NEWQDISC = 36
RTM_GETQDISC = 38
#: The parent of a port's first qdisc.
TC_H_ROOT = 0xFFFFFFFF
#: struct tcmsg: family, interface, handle, parent, information.
TCMSG = struct.Struct("=BxxxiIII")
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP = 1, 3, 4
#: struct gnet_stats_basic: bytes, packets; struct gnet_stats_queue: packets and bytes that wait,
#: drops, requeues, overlimits.
BASIC = struct.Struct("=QI")
QUEUE = struct.Struct("=IIIII")
_REMARK = re.compile(r"\[Unknown qdisc, optlen=[0-9]+\] ?")


@dataclass(frozen=True)
class ShownQdisc:
    """A qdisc in an answer of the kernel's.

    ``common``: what every qdisc has, as ``tc -s -j qdisc show`` prints it. ``options`` and
    ``statistics``: in the format of its kind.
    """

    kind: str
    common: dict[str, Any]
    options: bytes
    statistics: bytes


def parse_json(output: str) -> list[dict[str, Any]]:
    """Parse the JSON of ``tc -j qdisc show``.

    tc writes a remark into it for the options of a qdisc that it does not know (print_noqopt in
    iproute2's tc/tc.c).

    >>> parse_json('[{"kind":"dualpi2","options":{[Unknown qdisc, optlen=116] }}]')
    [{'kind': 'dualpi2', 'options': {}}]
    """
    qdiscs: list[dict[str, Any]] = json.loads(_REMARK.sub("", output) or "[]")
    return qdiscs


def parse_others(output: str) -> list[dict[str, Any]]:
    """Parse the JSON of ``tc -j qdisc show``, but for the kinds that tc does not know."""
    return [qdisc for qdisc in parse_json(output) if qdisc["kind"] not in UNKNOWN_TO_TC]


def create_request(interface: int, handle: int, parent: int, kind: str, options: bytes) -> bytes:
    """Build the request that makes a qdisc; the kernel confirms it by an error of 0.

    ``options``: attributes of its kind.
    """
    return _request(
        netlink.NLM_F_CREATE | netlink.NLM_F_EXCL, interface, handle, parent, kind, options
    )


def change_request(interface: int, handle: int, parent: int, kind: str, options: bytes) -> bytes:
    """Build the request that changes options of a qdisc; the kernel confirms it."""
    return _request(0, interface, handle, parent, kind, options)


def _request(
    flags: int, interface: int, handle: int, parent: int, kind: str, options: bytes
) -> bytes:
    body = TCMSG.pack(0, interface, handle, parent, 0)
    body += attribute(TCA_KIND, kind.encode() + b"\0")
    body += attribute(TCA_OPTIONS | netlink.NLA_F_NESTED, options)
    flags |= netlink.NLM_F_REQUEST | netlink.NLM_F_ACK
    return HEADER.pack(HEADER.size + len(body), RTM_NEWQDISC, flags, 0, 0) + body


def show_request(interface: int, parent: int) -> bytes:
    """Build the request for the qdisc of a class, or of ``TC_H_ROOT``."""
    body = TCMSG.pack(0, interface, 0, parent, 0)
    flags = netlink.NLM_F_REQUEST | netlink.NLM_F_ECHO
    return HEADER.pack(HEADER.size + len(body), RTM_GETQDISC, flags, 0, 0) + body


def parse(body: bytes) -> ShownQdisc:
    """Return the qdisc in an answer of the kernel's."""
    found = dict(attributes(body, HEADER.size + TCMSG.size))
    kind = found.get(TCA_KIND, b"").rstrip(b"\0").decode()
    _, _, handle, parent, _ = TCMSG.unpack_from(body, HEADER.size)
    stats = dict(attributes(found.get(TCA_STATS2, b"")))
    sent_bytes, sent_packets = BASIC.unpack_from(stats[TCA_STATS_BASIC])
    waiting, backlog, drops, requeues, overlimits = QUEUE.unpack_from(stats[TCA_STATS_QUEUE])
    place = (
        {"root": True}
        if parent == TC_H_ROOT
        else {"parent": f"{parent >> 16:x}:{parent & 0xFFFF:x}"}
    )
    common = {
        "kind": kind,
        "handle": f"{handle >> 16:x}:",
        **place,
        "bytes": sent_bytes,
        "packets": sent_packets,
        "drops": drops,
        "overlimits": overlimits,
        "requeues": requeues,
        "backlog": backlog,
        "qlen": waiting,
    }
    return ShownQdisc(kind, common, found.get(TCA_OPTIONS, b""), stats.get(TCA_STATS_APP, b""))
