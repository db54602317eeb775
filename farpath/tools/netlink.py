"""netlink: messages between programs and the kernel, and their attributes.

The formats are defined in include/uapi/linux/netlink.h. Numbers are in native byte order.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

#: Message types and flags.
NLMSG_ERROR = 2
NLMSG_DONE = 3
NLM_F_REQUEST = 0x1
NLM_F_ACK = 0x4
#: The answer goes to who asked, and not only to those that listen.
NLM_F_ECHO = 0x8
NLM_F_DUMP = 0x300
NLM_F_EXCL = 0x200
NLM_F_CREATE = 0x400
#: Flag in the type of an attribute that holds attributes.
NLA_F_NESTED = 0x8000
#: struct nlmsghdr: length, type, flags, sequence, port.
HEADER = struct.Struct("=IHHII")
#: struct nlattr: length, type.
ATTRIBUTE = struct.Struct("=HH")
ERROR = struct.Struct("=i")


def aligned(length: int) -> int:
    """Round a length up to four bytes, the alignment of messages and attributes."""
    return (length + 3) & ~3


def attribute(attribute_type: int, value: bytes) -> bytes:
    """Build an attribute, padded to the alignment."""
    return (ATTRIBUTE.pack(ATTRIBUTE.size + len(value), attribute_type) + value).ljust(
        aligned(ATTRIBUTE.size + len(value)), b"\0"
    )


def attributes(body: bytes, at: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield type and value of each attribute from a place in a message on."""
    while at + ATTRIBUTE.size <= len(body):
        length, attribute_type = ATTRIBUTE.unpack_from(body, at)
        yield attribute_type & ~NLA_F_NESTED, body[at + ATTRIBUTE.size : at + length]
        at += max(aligned(length), ATTRIBUTE.size)


@dataclass(frozen=True)
class Message:
    """One netlink message: its type, its errno (0 for none), and its bytes with the header."""

    message_type: int
    error: int
    body: bytes


def parse_messages(datagram: bytes) -> Iterator[Message]:
    """Yield the messages of a datagram; raises ValueError for one that is cut short."""
    at = 0
    while at + HEADER.size <= len(datagram):
        length, message_type, *_ = HEADER.unpack_from(datagram, at)
        if length < HEADER.size or at + length > len(datagram):
            raise ValueError(f"a netlink message of {length} bytes in {len(datagram) - at}")
        error = 0
        if message_type in (NLMSG_ERROR, NLMSG_DONE):
            error = -ERROR.unpack_from(datagram, at + HEADER.size)[0]
        yield Message(message_type, error, datagram[at : at + length])
        at += aligned(length)
