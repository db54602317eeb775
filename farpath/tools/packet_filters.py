"""Packet filters: rtnetlink requests for filters of tc that drop packets at a port.

A filter is a flower (net/sched/cls_flower.c) of the port's qdisc clsact, with the action to drop
(gact). It meets packets before the port's qdisc has them, or as soon as they have arrived. Formats
are those of include/uapi/linux/pkt_sched.h, pkt_cls.h and tc_act/tc_gact.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from farpath.tools.netlink import (
    HEADER,
    NLA_F_NESTED,
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_ECHO,
    NLM_F_EXCL,
    NLM_F_REQUEST,
    attribute,
    attributes,
)
from farpath.tools.rtnetlink import (
    BASIC,
    TCA_KIND,
    TCA_OPTIONS,
    TCA_STATS_BASIC,
    TCMSG,
    create_request,
)

RTM_NEWTFILTER, RTM_DELTFILTER, RTM_GETTFILTER = 44, 45, 46
#: The qdisc clsact: its parent and handle, and the classes of packets that arrive and leave.
CLSACT, CLSACT_PARENT, CLSACT_HANDLE = "clsact", 0xFFFFFFF1, 0xFFFF0000
ARRIVING, LEAVING = 0xFFFFFFF2, 0xFFFFFFF3
#: Priority 1, and packets of every protocol (ETH_P_ALL in network byte order).
_INFORMATION = 1 << 16 | 0x0300
TCA_FLOWER_ACT = 3
TCA_FLOWER_KEY_ETH_DST, TCA_FLOWER_KEY_ETH_DST_MASK = 4, 5
TCA_FLOWER_KEY_ETH_SRC, TCA_FLOWER_KEY_ETH_SRC_MASK = 6, 7
TCA_ACT_KIND, TCA_ACT_OPTIONS, TCA_ACT_STATS, TCA_GACT_PARMS = 1, 2, 4, 2
#: struct tc_gact: index, capabilities, action, and counts of references.
GACT = struct.Struct("=IIiii")
TC_ACT_SHOT = 2
_WHOLE = b"\xff" * 6
#: The bit of an Ethernet address that says that it is a group's.
_GROUP = b"\x01" + b"\0" * 5


@dataclass(frozen=True)
class PacketFilter:
    """Packets that are dropped at a port.

    ``way``: ``ARRIVING`` at it or ``LEAVING`` by it. ``source``, ``target``: Ethernet addresses
    that they have, empty for any. ``is_to_groups``: those to groups alone.
    """

    port: str
    way: int
    source: str = ""
    target: str = ""
    is_to_groups: bool = False

    def _options(self) -> bytes:
        gact = attribute(TCA_GACT_PARMS, GACT.pack(0, 0, TC_ACT_SHOT, 0, 0))
        action = attribute(TCA_ACT_KIND, b"gact\0") + _nested(TCA_ACT_OPTIONS, gact)
        options = _nested(TCA_FLOWER_ACT, _nested(1, action))
        if self.source:
            options += attribute(TCA_FLOWER_KEY_ETH_SRC, _bytes(self.source))
            options += attribute(TCA_FLOWER_KEY_ETH_SRC_MASK, _WHOLE)
        if self.target or self.is_to_groups:
            target, mask = (_bytes(self.target), _WHOLE) if self.target else (_GROUP, _GROUP)
            options += attribute(TCA_FLOWER_KEY_ETH_DST, target)
            options += attribute(TCA_FLOWER_KEY_ETH_DST_MASK, mask)
        return options

    def add_request(self, interface: int, handle: int) -> bytes:
        """Build the request that sets it; the kernel confirms it by an error of 0."""
        flags = NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK
        body = attribute(TCA_OPTIONS | NLA_F_NESTED, self._options())
        return self._request(RTM_NEWTFILTER, flags, interface, handle, body)

    def show_request(self, interface: int, handle: int) -> bytes:
        """Build the request that shows it, for ``packets``."""
        return self._request(RTM_GETTFILTER, 0, interface, handle)

    def remove_request(self, interface: int, handle: int) -> bytes:
        """Build the request that ends it, whose answer is for ``packets``."""
        return self._request(RTM_DELTFILTER, NLM_F_ECHO, interface, handle)

    def _request(
        self, message_type: int, flags: int, interface: int, handle: int, options: bytes = b""
    ) -> bytes:
        body = TCMSG.pack(0, interface, handle, self.way, _INFORMATION)
        body += attribute(TCA_KIND, b"flower\0") + options
        length = HEADER.size + len(body)
        return HEADER.pack(length, message_type, flags | NLM_F_REQUEST, 0, 0) + body


def clsact_request(interface: int) -> bytes:
    """Build the request that makes a port's clsact, to which filters belong."""
    return create_request(interface, CLSACT_HANDLE, CLSACT_PARENT, CLSACT, b"")


def packets(body: bytes) -> int:
    """Return how many packets a filter has dropped, by an answer of the kernel's.

    Raises KeyError for an answer that is about none.
    """
    place: dict[int, bytes] = dict(attributes(body, HEADER.size + TCMSG.size))
    for step in (TCA_OPTIONS, TCA_FLOWER_ACT, 1, TCA_ACT_STATS):
        place = dict(attributes(place[step]))
    _, count = BASIC.unpack_from(place[TCA_STATS_BASIC])
    return int(count)


def _nested(attribute_type: int, value: bytes) -> bytes:
    return attribute(attribute_type | NLA_F_NESTED, value)


def _bytes(address: str) -> bytes:
    return bytes.fromhex(address.replace(":", ""))
