"""sock_diag: asks the kernel for the state of TCP connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

from farpath.tools import inet_diag, netlink
from farpath.tools.inet_diag import Message

#: Largest datagram of a netlink dump (netlink_dump in net/netlink/af_netlink.c).
RECEIVE_BYTES = 32_768


class SockDiag:
    """The kernel's sock_diag, by a netlink socket in this network namespace."""

    def __init__(self, family: int) -> None:
        self.family = family
        flags = socket.SOCK_RAW | socket.SOCK_CLOEXEC
        self.socket = socket.socket(socket.AF_NETLINK, flags, inet_diag.NETLINK_SOCK_DIAG)

    def established(
        self, extensions: Sequence[int] = (inet_diag.INET_DIAG_INFO,)
    ) -> Iterator[Message]:
        """Yield all established connections; the kernel walks its whole table, which is slow.

        ``extensions``: what the messages have besides.
        """
        self.socket.send(inet_diag.request(self.family, extensions=extensions))
        while True:
            for message in inet_diag.parse_messages(self.socket.recv(RECEIVE_BYTES)):
                if message.error:
                    raise OSError(message.error, inet_diag.error_text(message.error))
                if message.message_type == netlink.NLMSG_DONE:
                    return
                yield message

    def lookup(self, identities: list[bytes]) -> Iterator[Message]:
        """Yield one message for each connection; a closed one has the error ENOENT."""
        self.socket.send(
            b"".join(inet_diag.request(self.family, identity) for identity in identities)
        )
        for _ in identities:
            yield from inet_diag.parse_messages(self.socket.recv(RECEIVE_BYTES))
