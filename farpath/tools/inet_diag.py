"""sock_diag: asking Linux for the state of TCP connections, and what it answers.

Messages are of include/uapi/linux/netlink.h, sock_diag.h and inet_diag.h, with numbers in
the machine's order but for ports; the state itself is struct tcp_info (farpath.tools.tcp_info).
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

NETLINK_SOCK_DIAG = 4
#: Types and flags of messages.
SOCK_DIAG_BY_FAMILY = 20
NLMSG_ERROR = 2
NLMSG_DONE = 3
NLM_F_REQUEST = 0x1
NLM_F_DUMP = 0x300
#: TCP_ESTABLISHED of enum tcp_state, as a set of states.
ESTABLISHED = 1 << 1
#: The attribute that holds a struct tcp_info, which as an extension is asked for.
INET_DIAG_INFO = 2
#: struct nlmsghdr: length, type, flags, sequence, port.
HEADER = struct.Struct("=IHHII")
#: struct inet_diag_req_v2 but for its end, a struct inet_diag_sockid: family, protocol,
#: extensions, padding, states.
REQUEST = struct.Struct("=BBBxI")
#: struct inet_diag_sockid: ports, addresses, interface, cookie.
IDENTITY_BYTES = 48
ANY = bytes(IDENTITY_BYTES)
#: In an answer struct inet_diag_msg follows the header: family, state, timer, retransmits, the
#: identity, and five numbers; then attributes.
STATE_AT = HEADER.size + 1
IDENTITY_AT = HEADER.size + 4
PORTS = struct.Struct(">HH")
COOKIE = struct.Struct("=Q")
COOKIE_AT = IDENTITY_AT + IDENTITY_BYTES - COOKIE.size
ATTRIBUTES_AT = IDENTITY_AT + IDENTITY_BYTES + 5 * 4
ATTRIBUTE = struct.Struct("=HH")
ERROR = struct.Struct("=i")


def _aligned(length: int) -> int:
    """Messages and attributes begin at multiples of four bytes."""
    return (length + 3) & ~3


def request(family: int, identity: bytes = ANY) -> bytes:
    """What asks for a connection's struct tcp_info; without one for all established ones'.

    ``family``: of their addresses, as :mod:`socket` numbers it. ``identity``: as an answer
    had it.
    """
    wanted = NLM_F_REQUEST | (NLM_F_DUMP if identity == ANY else 0)
    length = HEADER.size + REQUEST.size + IDENTITY_BYTES
    return (
        HEADER.pack(length, SOCK_DIAG_BY_FAMILY, wanted, 0, 0)
        + REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), ESTABLISHED)
        + identity
    )


@dataclass(frozen=True)
class Answer:
    """One message: ``kind`` is its type, ``error`` an errno, 0 for none."""

    kind: int
    error: int
    body: bytes

    @property
    def identity(self) -> bytes:
        """Which connection it is of, to ask for it again."""
        return self.body[IDENTITY_AT : IDENTITY_AT + IDENTITY_BYTES]

    @property
    def state(self) -> int:
        """The connection's state, of enum tcp_state."""
        return self.body[STATE_AT]

    @property
    def far_port(self) -> int:
        """The port at the connection's other end."""
        far: int = PORTS.unpack_from(self.body, IDENTITY_AT)[1]
        return far

    @property
    def cookie(self) -> int:
        """A number that no other socket of this kernel has."""
        cookie: int = COOKIE.unpack_from(self.body, COOKIE_AT)[0]
        return cookie

    @property
    def tcp_info(self) -> bytes:
        """Its struct tcp_info; empty if the message has none."""
        at = ATTRIBUTES_AT
        while at + ATTRIBUTE.size <= len(self.body):
            length, kind = ATTRIBUTE.unpack_from(self.body, at)
            if kind == INET_DIAG_INFO:
                return self.body[at + ATTRIBUTE.size : at + length]
            at += max(_aligned(length), ATTRIBUTE.size)
        return b""


def answers(datagram: bytes) -> Iterator[Answer]:
    """The messages that came at once; ValueError for one that is cut short."""
    at = 0
    while at + HEADER.size <= len(datagram):
        length, kind, *_ = HEADER.unpack_from(datagram, at)
        if length < HEADER.size or at + length > len(datagram):
            raise ValueError(f"a netlink message of {length} bytes in {len(datagram) - at}")
        error = 0
        if kind in (NLMSG_ERROR, NLMSG_DONE):
            error = -ERROR.unpack_from(datagram, at + HEADER.size)[0]
        yield Answer(kind, error, datagram[at : at + length])
        at += _aligned(length)


def explained(error: int) -> str:
    """What the kernel's refusal means."""
    return f"sock_diag says: {os.strerror(error)}"
