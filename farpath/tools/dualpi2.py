"""dualpi2: requests to the kernel for this qdisc, and its options and statistics.

iproute2 knows dualpi2 since its version 6.17. The lab's is older, so that its tc can neither set an
option of dualpi2 nor print one. Options have here the names of tc-dualpi2(8). The messages are
those of rtnetlink(7), their attributes those of include/uapi/linux/pkt_sched.h.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from typing import Any

from farpath.tools import netlink
from farpath.tools.netlink import HEADER, attribute, attributes

KIND = "dualpi2"
NETLINK_ROUTE = 0
RTM_NEWQDISC = 36
RTM_GETQDISC = 38
#: struct tcmsg: family, interface, handle, parent, information.
TCMSG = struct.Struct("=BxxxiIII")
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
TCA_STATS_BASIC, TCA_STATS_QUEUE, TCA_STATS_APP = 1, 3, 4
#: struct gnet_stats_basic: bytes, packets; struct gnet_stats_queue: packets and bytes that wait,
#: drops, requeues, overlimits (include/uapi/linux/gen_stats.h).
BASIC = struct.Struct("=QI")
QUEUE = struct.Struct("=IIIII")
#: struct tc_dualpi2_xstats.
XSTATS = struct.Struct("=IIIIIIIIiIII")
XSTATS_FIELDS = (
    *("prob", "delay_c", "delay_l", "packets_in_c", "packets_in_l", "maxq", "ecn_mark"),
    *("step_marks", "credit", "memory_used", "max_memory_used", "memory_limit"),
)
#: The attribute of each option, and its size in bytes. Times are in us.
ATTRIBUTES = {
    "limit": (1, 4),
    "memlimit": (2, 4),
    "target": (3, 4),
    "tupdate": (4, 4),
    "alpha": (5, 4),
    "beta": (6, 4),
    "step_thresh": (8, 4),
    "min_qlen_step": (9, 4),
    "coupling_factor": (10, 1),
    "drop_on_overload": (11, 1),
    "drop_enqueue": (12, 1),
    "classic_protection": (13, 1),
    "any_ect": (14, 1),
    "split_gso": (15, 1),
}
_REMARK = re.compile(r"\[Unknown qdisc, optlen=[0-9]+\] ?")
#: Options that are switches.
SWITCHES = ("drop_on_overload", "drop_enqueue", "any_ect", "split_gso")
#: The mask of ECN bits by which packets belong to the low-latency queue
#: (enum tc_dualpi2_ecn_mask).
L4S_ECT, ANY_ECT = 1, 3


def parse_others(output: str) -> list[dict[str, Any]]:
    """Parse the JSON of ``tc -j qdisc show``, but for each dualpi2.

    tc writes a remark into it for the options of a qdisc that it does not know (print_noqopt in
    iproute2's tc/tc.c).

    >>> parse_others('[{"kind":"dualpi2","options":{[Unknown qdisc, optlen=116] }}]')
    []
    """
    qdiscs = json.loads(_REMARK.sub("", output) or "[]")
    return [qdisc for qdisc in qdiscs if qdisc["kind"] != KIND]


def create_request(interface: int, handle: int, parent: int, options: Mapping[str, Any]) -> bytes:
    """Build the request that makes a dualpi2; the kernel confirms it by an error of 0."""
    flags = netlink.NLM_F_REQUEST | netlink.NLM_F_ACK | netlink.NLM_F_CREATE | netlink.NLM_F_EXCL
    nested = b"".join(_option(name, value) for name, value in options.items())
    body = TCMSG.pack(0, interface, handle, parent, 0)
    body += attribute(TCA_KIND, KIND.encode() + b"\0")
    body += attribute(TCA_OPTIONS | netlink.NLA_F_NESTED, nested)
    return HEADER.pack(HEADER.size + len(body), RTM_NEWQDISC, flags, 0, 0) + body


def show_request(interface: int, parent: int) -> bytes:
    """Build the request for the qdisc of a class."""
    body = TCMSG.pack(0, interface, 0, parent, 0)
    flags = netlink.NLM_F_REQUEST | netlink.NLM_F_ECHO
    return HEADER.pack(HEADER.size + len(body), RTM_GETQDISC, flags, 0, 0) + body


def _option(name: str, value: Any) -> bytes:
    attribute_type, size = ATTRIBUTES[name]
    number = (ANY_ECT if value else L4S_ECT) if name == "any_ect" else int(value)
    return attribute(attribute_type, number.to_bytes(size, "little"))


def parse(body: bytes) -> dict[str, Any]:
    """Return a dualpi2 in an answer of the kernel's, as ``tc -s -j qdisc show`` prints others."""
    found = dict(attributes(body, HEADER.size + TCMSG.size))
    kind = found.get(TCA_KIND, b"").rstrip(b"\0").decode()
    _, _, handle, parent, _ = TCMSG.unpack_from(body, HEADER.size)
    stats = dict(attributes(found.get(TCA_STATS2, b"")))
    sent_bytes, sent_packets = BASIC.unpack_from(stats[TCA_STATS_BASIC])
    waiting, backlog, drops, requeues, overlimits = QUEUE.unpack_from(stats[TCA_STATS_QUEUE])
    return {
        "kind": kind,
        "handle": f"{handle >> 16:x}:",
        "parent": f"{parent >> 16:x}:{parent & 0xFFFF:x}",
        "options": _options(found[TCA_OPTIONS]) if kind == KIND else {},
        "bytes": sent_bytes,
        "packets": sent_packets,
        "drops": drops,
        "overlimits": overlimits,
        "requeues": requeues,
        "backlog": backlog,
        "qlen": waiting,
        **(_xstats(stats[TCA_STATS_APP]) if kind == KIND else {}),
    }


def _options(nested: bytes) -> dict[str, Any]:
    values = {number: int.from_bytes(value, "little") for number, value in attributes(nested)}
    options: dict[str, Any] = {
        name: values[number] for name, (number, _) in ATTRIBUTES.items() if number in values
    }
    options |= {name: options[name] != 0 for name in SWITCHES if name in options}
    if "any_ect" in options:
        options["any_ect"] = values[ATTRIBUTES["any_ect"][0]] == ANY_ECT
    return options


def _xstats(data: bytes) -> dict[str, int]:
    return dict(zip(XSTATS_FIELDS, XSTATS.unpack_from(data), strict=True))
