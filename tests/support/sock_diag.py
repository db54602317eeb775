"""Answers of sock_diag, packed as Linux packs them, and a kernel that gives them."""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Iterator

from farpath.tools import inet_diag, netlink
from farpath.tools import tcp_info as tcpinfo
from farpath.tools.inet_diag import Message

#: Ports of two flows.
FIRST, SECOND = 5201, 5202


def packed_tcp_info(**values: int) -> bytes:
    """A struct tcp_info with these fields, the others zero."""
    numbers = {name: 0 for name, _ in tcpinfo.FIELDS} | values
    return tcpinfo.LAYOUT.pack(*numbers.values())


def diag_message(
    port: int, cookie: int, info: bytes, state: int = 1, family: int = socket.AF_INET
) -> bytes:
    """An answer as Linux packs it: struct inet_diag_msg and attributes, aligned to four bytes."""

    def attribute(kind: int, data: bytes) -> bytes:
        return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)

    identity = struct.pack(">HH", 40_000 + cookie, port) + bytes(36) + struct.pack("=Q", cookie)
    body = struct.pack("=BBBB", family, state, 0, 0) + identity + bytes(20)
    shutdown, sockopt = attribute(8, b"\0"), attribute(22, b"\x10\0")
    body += shutdown + sockopt + (attribute(2, info) if info else b"")
    return struct.pack("=IHHII", 16 + len(body), 20, 2, 0, 7) + body


def diag_error(number: int) -> bytes:
    """An answer that refuses with an error number."""
    body = struct.pack("=i", -number) + bytes(16)
    return struct.pack("=IHHII", 16 + len(body), netlink.NLMSG_ERROR, 0, 0, 7) + body


class Connections:
    """A kernel of which a test says at each moment what connections it has."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.dumps = 0

    def established(self) -> Iterator[Message]:
        self.dumps += 1
        return inet_diag.parse_messages(b"".join(self.messages))

    def lookup(self, identities: list[bytes]) -> Iterator[Message]:
        answers = {answer.identity: answer for answer in self.established()}
        self.dumps -= 1
        (gone,) = inet_diag.parse_messages(diag_error(errno.ENOENT))
        return iter([answers.get(identity, gone) for identity in identities])
