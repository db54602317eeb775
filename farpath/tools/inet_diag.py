"""inet_diag: builds netlink requests for the state of TCP connections, and parses the answers.

The messages are defined in include/uapi/linux/sock_diag.h and inet_diag.h. Numbers
are in native byte order, but ports in network order. The state itself is struct tcp_info
(``farpath.tools.tcp_info``).
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from farpath.tools import netlink
from farpath.tools.netlink import HEADER, NLA_F_NESTED, NLM_F_DUMP, NLM_F_REQUEST

NETLINK_SOCK_DIAG = 4
#: The type of requests and answers.
SOCK_DIAG_BY_FAMILY = 20
#: TCP_ESTABLISHED of enum tcp_state, as a bit mask of states.
ESTABLISHED = 1 << 1
#: The attributes that hold a struct tcp_info, and the name of the congestion control; a request
#: selects them as extensions.
INET_DIAG_INFO, INET_DIAG_CONG = 2, 4
#: The attribute with what the protocol above TCP says, in it that of MPTCP, and in that the token
#: of the connection at this end and the subflow's flags (INET_ULP_INFO_MPTCP,
#: MPTCP_SUBFLOW_ATTR_TOKEN_LOC, _FLAGS and MPTCP_SUBFLOW_FLAG_MCAP_LOC in include/uapi/linux).
INET_DIAG_ULP_INFO, _ULP_INFO_MPTCP, _TOKEN_LOC, _FLAGS = 19, 3, 2, 8
_IS_CAPABLE = 1 << 1
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


def request(
    family: int, identity: bytes = ANY, extensions: Sequence[int] = (INET_DIAG_INFO,)
) -> bytes:
    """Build a request for the struct tcp_info of one connection or of all established ones.

    ``family``: address family, AF_INET or AF_INET6. ``identity``: the connection's struct
    inet_diag_sockid from an earlier answer; ``ANY`` for all connections. ``extensions``: what to
    answer besides.
    """
    flags = NLM_F_REQUEST | (NLM_F_DUMP if identity == ANY else 0)
    length = HEADER.size + REQUEST.size + IDENTITY_BYTES
    wanted = sum(1 << (extension - 1) for extension in extensions)
    return (
        HEADER.pack(length, SOCK_DIAG_BY_FAMILY, flags, 0, 0)
        + REQUEST.pack(family, socket.IPPROTO_TCP, wanted, ESTABLISHED)
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
        return self._attribute(INET_DIAG_INFO)

    @property
    def congestion(self) -> str:
        """The connection's congestion control; empty if the message has none."""
        return self._attribute(INET_DIAG_CONG).split(b"\0")[0].decode()

    @property
    def mptcp_token(self) -> int | None:
        """The token of the MPTCP connection at this end of which it is a subflow; None of no such.

        RFC 8684, 3.2.
        """
        return self._of_subflow(_TOKEN_LOC)

    @property
    def began_mptcp(self) -> bool:
        """Whether it is the subflow with which an MPTCP connection began, and joined none."""
        return bool((self._of_subflow(_FLAGS) or 0) & _IS_CAPABLE)

    def _of_subflow(self, wanted: int) -> int | None:
        """Return a number that MPTCP says of a subflow; None if it says nothing."""
        for name, value in netlink.attributes(self._attribute(INET_DIAG_ULP_INFO), 0):
            if name & ~NLA_F_NESTED == _ULP_INFO_MPTCP:
                for inner, number in netlink.attributes(value, 0):
                    if inner == wanted:
                        return int.from_bytes(number, sys.byteorder)
        return None

    @property
    def addresses(self) -> tuple[str, str]:
        """The local and the remote address of the connection."""
        family = self.body[HEADER.size]
        size = 4 if family == socket.AF_INET else 16
        starts = (IDENTITY_AT + PORTS.size, IDENTITY_AT + PORTS.size + 16)
        local, remote = (
            socket.inet_ntop(family, self.body[start : start + size]) for start in starts
        )
        return local, remote

    def _attribute(self, wanted: int) -> bytes:
        found = netlink.attributes(self.body, ATTRIBUTES_AT)
        return next((value for name, value in found if name & ~NLA_F_NESTED == wanted), b"")


def parse_messages(datagram: bytes) -> Iterator[Message]:
    """Yield the messages of a datagram; raises ValueError for one that is cut short."""
    for message in netlink.parse_messages(datagram):
        yield Message(message.message_type, message.error, message.body)


def error_text(error: int) -> str:
    """Describe an errno that the kernel returned."""
    return f"sock_diag says: {os.strerror(error)}"
