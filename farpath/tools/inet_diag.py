"""inet_diag: builds netlink requests for the state of TCP connections, and parses the answers.

The messages are defined in include/uapi/linux/sock_diag.h and inet_diag.h. Numbers
are in native byte order, but ports in network order. The state itself is struct tcp_info
(``farpath.tools.tcp_info``).
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from farpath.tools import netlink
from farpath.tools.netlink import HEADER, NLM_F_DUMP, NLM_F_REQUEST

NETLINK_SOCK_DIAG = 4
#: The type of requests and answers.
SOCK_DIAG_BY_FAMILY = 20
#: TCP_ESTABLISHED of enum tcp_state, as a bit mask of states.
ESTABLISHED = 1 << 1
#: The attribute that holds a struct tcp_info; a request selects it as an extension.
INET_DIAG_INFO = 2
#: struct inet_diag_req_v2 without its last member, a struct inet_diag_sockid: family,
#: protocol, extensions, padding, states.
REQUEST = struct.Struct("=BBBxI")
#: Size of struct inet_diag_sockid: ports, addresses, interface, cookie.
IDENTITY_BYTES = 48
ANY = bytes(IDENTITY_BYTES)
#: In an answer struct inet_diag_msg follows the header: family, state, timer, retransmits, the
#: struct inet_diag_sockid, and five 32-bit numbers; then come attributes.
STATE_AT = HEADER.size + 1
IDENTITY_AT = HEADER.size + 4
PORTS = struct.Struct(">HH")
COOKIE = struct.Struct("=Q")
COOKIE_AT = IDENTITY_AT + IDENTITY_BYTES - COOKIE.size
ATTRIBUTES_AT = IDENTITY_AT + IDENTITY_BYTES + 5 * 4


def request(family: int, identity: bytes = ANY) -> bytes:
    """Build a request for the struct tcp_info of one connection or of all established ones.

    ``family``: address family, AF_INET or AF_INET6. ``identity``: the connection's struct
    inet_diag_sockid from an earlier answer; ``ANY`` for all connections.
    """
    flags = NLM_F_REQUEST | (NLM_F_DUMP if identity == ANY else 0)
    length = HEADER.size + REQUEST.size + IDENTITY_BYTES
    return (
        HEADER.pack(length, SOCK_DIAG_BY_FAMILY, flags, 0, 0)
        + REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), ESTABLISHED)
        + identity
    )


@dataclass(frozen=True)
class Message(netlink.Message):
    """One message of sock_diag about a connection."""

    @property
    def identity(self) -> bytes:
        """The connection's struct inet_diag_sockid, which ``request`` takes."""
        return self.body[IDENTITY_AT : IDENTITY_AT + IDENTITY_BYTES]

    @property
    def state(self) -> int:
        """The connection's state, a value of enum tcp_state."""
        return self.body[STATE_AT]

    @property
    def remote_port(self) -> int:
        """The remote port of the connection."""
        port: int = PORTS.unpack_from(self.body, IDENTITY_AT)[1]
        return port

    @property
    def local_port(self) -> int:
        """The local port of the connection."""
        port: int = PORTS.unpack_from(self.body, IDENTITY_AT)[0]
        return port

    @property
    def cookie(self) -> int:
        """The socket's cookie, which is unique in this kernel."""
        cookie: int = COOKIE.unpack_from(self.body, COOKIE_AT)[0]
        return cookie

    @property
    def tcp_info(self) -> bytes:
        """The connection's struct tcp_info; empty if the message has none."""
        found = netlink.attributes(self.body, ATTRIBUTES_AT)
        return next((value for name, value in found if name == INET_DIAG_INFO), b"")


def parse_messages(datagram: bytes) -> Iterator[Message]:
    """Yield the messages of a datagram; raises ValueError for one that is cut short."""
    for message in netlink.parse_messages(datagram):
        yield Message(message.message_type, message.error, message.body)


def error_text(error: int) -> str:
    """Describe an errno that the kernel returned."""
    return f"sock_diag says: {os.strerror(error)}"
