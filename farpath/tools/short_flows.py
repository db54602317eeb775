"""Short flows: what their client and server are told, and the lines that they write.

The client writes a line for each flow, when it ends or with the schedule's end: its number, its
start and its end in ns from the schedule's start, and the bytes that arrived. The end is that of
the last byte, or -1 if it has not come. The server writes a line for each flow that has asked for
its bytes: its number, how many segments were sent again, and the congestion control of its
connection.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from farpath.base.errors import LabFailedError
from farpath.tools import tcp_info

#: What a client sends: the flow's number and the bytes that it asks for.
REQUEST = struct.Struct(">QQ")
#: End of a flow whose last byte has not arrived.
UNFINISHED = -1
#: Bytes of struct tcp_info that hold the count of retransmissions, its last four.
INFO_BYTES = struct.calcsize(
    "<"
    + "".join(
        code
        for _, code in tcp_info.FIELDS[
            : 1 + [name for name, _ in tcp_info.FIELDS].index("total_retrans")
        ]
    )
)
_RETRANSMITS = struct.Struct("<I")


@dataclass(frozen=True)
class ServerConfig:
    """What the server is told: where it listens, its congestion control, and its file."""

    port: int
    ipv6: bool
    congestion: str
    file: str

    def to_json(self) -> bytes:
        """Return the configuration as one line."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, line: bytes) -> ServerConfig:
        """Read a line of ``to_json``."""
        return cls(**json.loads(line))


@dataclass(frozen=True)
class ClientFlow:
    """A line of the client; times in s from the schedule's start, ``end_s`` None without an end."""

    number: int
    start_s: float
    end_s: float | None
    received_bytes: int


@dataclass(frozen=True)
class ServerFlow:
    """A line of the server."""

    number: int
    retransmits: int
    congestion: str


def retransmits(info: bytes) -> int:
    """Return the number of segments that a connection has sent again, of a struct tcp_info."""
    count: int = _RETRANSMITS.unpack_from(info, INFO_BYTES - _RETRANSMITS.size)[0]
    return count


def parse_client(text: str) -> Iterator[ClientFlow]:
    """Parse the client's lines; raises LabFailedError for any other text."""
    for words in _lines(text, 4):
        number, start_ns, end_ns, received = map(_whole, words)
        end_s = None if end_ns == UNFINISHED else end_ns / 1e9
        yield ClientFlow(number, start_ns / 1e9, end_s, received)


def parse_server(text: str) -> Iterator[ServerFlow]:
    """Parse the server's lines; raises LabFailedError for any other text."""
    for number, count, congestion in _lines(text, 3):
        yield ServerFlow(_whole(number), _whole(count), congestion)


def _lines(text: str, count: int) -> Iterator[list[str]]:
    for line in text.splitlines():
        words = line.split()
        if len(words) != count:
            raise LabFailedError(f"a line of the short flows is not of {count} words: '{line}'")
        yield words


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError as error:
        raise LabFailedError(f"a line of the short flows has no number: '{word}'") from error
