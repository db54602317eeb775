"""TCP segments of captured packets, as a table, and the connections that they belong to.

Numbers are those of RFC 9293, relative to a connection's first and without their wrap at 2^32;
options of RFC 7323 (window scale, timestamps) and RFC 2018 and 2883 (SACK and DSACK).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from farpath.base.errors import BadInputError
from farpath.captures.packets import Bytes, Ints, Packets, read_packets

Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << bit for bit in range(9))
#: Types of links (LINKTYPE_ of pcap) by where their protocol stands and how long their header is.
NULL, ETHERNET, LOOP, LINUX_COOKED, LINUX_COOKED_2 = 0, 1, 108, 113, 276
RAW = (12, 14, 101, 228, 229)
_HEADERS: Mapping[int, tuple[int, int]] = {
    ETHERNET: (12, 14),
    LINUX_COOKED: (14, 16),
    LINUX_COOKED_2: (0, 20),
}
_FAMILY_BYTES = 4
_VLANS = (0x8100, 0x88A8, 0x9100)
_IPV4, _IPV6 = 0x0800, 0x86DD
_TCP = 6
#: Headers of extensions of IPv6 that stand before TCP (RFC 8200): hop-by-hop, routing, fragment,
#: destination, mobility.
_EXTENSIONS, _FRAGMENT = (0, 43, 44, 60, 135), 44
_MOST_SHIFT = 14  # RFC 7323, 2.3
#: Sides of SACK blocks that an option has room for.
SACK_BLOCKS = 4
SACK_COLUMNS = tuple(
    f"sack{n}_{side}" for n in range(1, SACK_BLOCKS + 1) for side in ("left", "right")
)
#: Fields of options: kind of the option, offset of the field in it, and its bytes.
_OPTIONS: Mapping[str, tuple[int, int, int]] = {
    "shift": (3, 2, 1),
    "tsval": (8, 2, 4),
    "tsecr": (8, 6, 4),
    **{name: (5, 2 + 4 * number, 4) for number, name in enumerate(SACK_COLUMNS)},
}
#: Value of a column where a segment has no such field.
ABSENT = -1


@dataclass(frozen=True)
class Connection:
    """A TCP connection; its client is who opened it, or who is seen first.

    ``client_shift``, ``server_shift``: of the windows that each announces; None if the capture has
    no handshake, in which case windows are as they stand in the segments. ``packets``: in the file.
    ``client_bytes``, ``server_bytes``: of data that each sent, with what it sent again.
    """

    number: int
    client: str
    client_port: int
    server: str
    server_port: int
    client_shift: int | None
    server_shift: int | None
    begin_ns: int
    end_ns: int
    packets: int
    client_bytes: int
    server_bytes: int

    @property
    def name(self) -> str:
        """The two ends, the client first, as people read them.

        >>> Connection(1, "10.0.0.2", 5, "fe80::1", 80, 0, 0, 0, 0, 1, 0, 0).name
        '10.0.0.2:5 > [fe80::1]:80'
        """
        return " > ".join(self.ends_by_name)

    @property
    def ends_by_name(self) -> tuple[str, str]:
        """Its two ends as people read them, the client's first."""
        return end_name(self.client, self.client_port), end_name(self.server, self.server_port)

    @property
    def ends(self) -> tuple[str, int, str, int]:
        """Addresses and ports, the client's first: equal in captures of both hosts."""
        return self.client, self.client_port, self.server, self.server_port


def end_name(address: str, port: int) -> str:
    """Return an address with a port; one of IPv6 stands in brackets (RFC 3986, 3.2.2).

    >>> end_name("10.0.0.2", 5201), end_name("fe80::1", 80)
    ('10.0.0.2:5201', '[fe80::1]:80')
    """
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


@dataclass(frozen=True)
class Capture:
    """The TCP of a capture.

    ``segments``: a row for each segment, in the order of its file:

    - ``packet``: number of its packet in the file from 1, as Wireshark counts.
    - ``time_ns``: as the file says.
    - ``connection``: of ``connections``, its ``number``, from 0.
    - ``from_client``: whether the connection's client sent it.
    - ``seq``, ``ack``: bytes from the connection's first number; a SYN has 0. ``ack`` is -1 in a
      segment without ACK.
    - ``length``: bytes of data. ``wire_bytes``: of its packet on the link.
    - ``tcp_flags``: of TCP, nine bits, FIN the least. ``ecn``: the two bits of IP. ``ttl``.
    - ``ip_id``: of IPv4, else -1.
    - ``window``: in bytes, scaled.
    - ``tsval``, ``tsecr``: timestamps, -1 without.
    - ``sack1_left`` to ``sack4_right``: blocks, by the numbers of ``ack``; -1 without.
    - ``dsack``: whether the first block is a DSACK.

    ``warnings``: what the capture lacks, a sentence each.
    """

    segments: pd.DataFrame
    connections: tuple[Connection, ...]
    warnings: tuple[str, ...] = ()

    def of(self, connection: Connection) -> pd.DataFrame:
        """Return the segments of one connection in the order of the file."""
        return self.segments[self.segments["connection"] == connection.number]


def read_segments(file: FilePath) -> Capture:
    """Read the TCP segments of a capture.

    Raises BadInputError for a file that is no capture, whose links are unknown, or without TCP.
    """
    return segments_of(read_packets(file), file)


def segments_of(packets: Packets, file: FilePath) -> Capture:
    """Return the TCP segments of the packets of a file; raises as ``read_segments``."""
    fields, warnings = _fields(packets, file)
    segments, connections = _by_connection(fields)
    return Capture(segments, connections, (*packets.warnings, *warnings))


class _Reader:
    """Reads fields of many packets at once; ``at``: an index for each into the file's bytes."""

    def __init__(self, data: Bytes) -> None:
        self.data = np.concatenate([data, np.zeros(64, dtype=np.uint8)])

    def number(self, at: Ints, size: int) -> Ints:
        """Return numbers of ``size`` bytes, big-endian."""
        value = np.zeros(at.size, dtype=np.int64)
        for offset in range(size):
            value = value << 8 | self.data[np.minimum(at + offset, self.data.size - 1)]
        return value

    def rows(self, at: Ints, size: int) -> Bytes:
        """Return ``size`` bytes from each place: packets by bytes."""
        return cast(Bytes, self.data[np.minimum(at[:, None] + np.arange(size), self.data.size - 1)])


def _network(reader: _Reader, packets: Packets, file: FilePath) -> tuple[Ints, Ints]:
    """Return where each packet's network header begins, and its EtherType, 0 if it has none."""
    at, kind = np.array(packets.start), np.zeros(packets.start.size, dtype=np.int64)
    unknown = []
    for link in np.unique(packets.link).tolist():
        of_link = packets.link == link
        start = packets.start[of_link]
        if link in _HEADERS:
            protocol, size = _HEADERS[link]
            kind[of_link] = reader.number(start + protocol, 2)
            at[of_link] += size
        elif link in RAW or link in (NULL, LOOP):
            at[of_link] += 0 if link in RAW else _FAMILY_BYTES
            version = reader.number(at[of_link], 1) >> 4
            kind[of_link] = np.where(version == 4, _IPV4, np.where(version == 6, _IPV6, 0))
        else:
            unknown.append(link)
    if len(unknown) == np.unique(packets.link).size:
        raise BadInputError(
            file=str(file),
            problem=f"its packets are of link type {', '.join(map(str, unknown))}",
            remedy="TCP is read from Ethernet, Linux cooked, raw IP and loopback (link types 0, 1, "
            "101, 108, 113, 228, 229, 276)",
        )
    for _ in range(2):
        tagged = np.isin(kind, _VLANS)
        kind[tagged] = reader.number(at[tagged] + 2, 2)
        at[tagged] += 4
    return at, kind


def _fields(packets: Packets, file: FilePath) -> tuple[dict[str, Array], list[str]]:
    """Return the fields of all TCP segments by name, and warnings."""
    reader = _Reader(packets.data)
    at, kind = _network(reader, packets, file)
    end = packets.start + packets.held_bytes
    on_link = packets.length_bytes - (at - packets.start)
    first = reader.number(at, 1)
    is_4 = (kind == _IPV4) & (first >> 4 == 4) & (at + 20 <= end)
    is_6 = (kind == _IPV6) & (first >> 4 == 6) & (at + 40 <= end)
    protocol, tcp_at = np.full(at.size, -1), np.array(at)
    is_later = np.zeros(at.size, dtype=bool)  # a fragment behind a packet's first

    protocol[is_4] = reader.number(at[is_4] + 9, 1)
    tcp_at[is_4] += (first[is_4] & 15) * 4
    is_later[is_4] = reader.number(at[is_4] + 6, 2) & 0x1FFF != 0
    protocol[is_6] = reader.number(at[is_6] + 6, 1)
    tcp_at[is_6] += 40
    while (extended := np.isin(protocol, _EXTENSIONS) & is_6 & (tcp_at + 8 <= end)).any():
        here = tcp_at[extended]
        is_fragment = protocol[extended] == _FRAGMENT
        is_later[extended] |= is_fragment & (reader.number(here + 2, 2) & 0xFFF8 != 0)
        protocol[extended] = reader.number(here, 1)
        tcp_at[extended] += np.where(is_fragment, 8, (reader.number(here + 1, 1) + 1) * 8)

    # A packet that leaves in parts later (TSO) may have no length, and has that of its link
    ip_bytes = np.zeros(at.size, dtype=np.int64)
    ip_bytes[is_4] = reader.number(at[is_4] + 2, 2)
    ip_bytes[is_6] = reader.number(at[is_6] + 4, 2)
    ip_bytes[is_6 & (ip_bytes > 0)] += 40
    ip_bytes = np.where(ip_bytes > 0, ip_bytes, on_link)

    is_tcp = (protocol == _TCP) & ~is_later
    is_whole = is_tcp & (tcp_at + 16 <= end)
    warnings = []
    if cut := int((is_tcp & ~is_whole).sum()):
        warnings.append(
            f"{file}: {cut:,} TCP packets are left out, since fewer bytes of them were kept than "
            "their headers have"
        )
    if later := int(((protocol == _TCP) & is_later).sum()):
        warnings.append(f"{file}: {later:,} fragments of IP are left out")
    if not is_whole.any():
        raise BadInputError(
            file=str(file),
            problem=f"there is no TCP in its {at.size:,} packets"
            if not cut
            else f"its {cut:,} TCP packets are cut within their headers",
            remedy="give a capture of a TCP connection"
            if not cut
            else "capture more bytes of each packet",
        )

    at, tcp, end = at[is_whole], tcp_at[is_whole], end[is_whole]
    four = is_4[is_whole]
    offset_flags = reader.number(tcp + 12, 2)
    header_bytes = (offset_flags >> 12) * 4
    source, target = _addresses(reader, at, four, 12, 8), _addresses(reader, at, four, 16, 24)
    fields: dict[str, Array] = {
        "packet": np.flatnonzero(is_whole) + 1,
        "time_ns": packets.time_ns[is_whole],
        "source": source,
        "target": target,
        "source_port": reader.number(tcp, 2),
        "target_port": reader.number(tcp + 2, 2),
        "is_4": four,
        "seq": reader.number(tcp + 4, 4),
        "ack": reader.number(tcp + 8, 4),
        "length": np.maximum(ip_bytes[is_whole] - (tcp - at) - header_bytes, 0),
        "wire_bytes": packets.length_bytes[is_whole],
        "tcp_flags": offset_flags & 0x1FF,
        "ecn": np.where(four, reader.number(at + 1, 1), reader.number(at, 2) >> 4) & 3,
        "ttl": np.where(four, reader.number(at + 8, 1), reader.number(at + 7, 1)),
        "ip_id": np.where(four, reader.number(at + 4, 2), ABSENT),
        "window": reader.number(tcp + 14, 2),
    }
    return fields | _options(reader, tcp + 20, np.minimum(tcp + header_bytes, end)), warnings


def _addresses(reader: _Reader, at: Ints, four: Bools, at_4: int, at_6: int) -> Array:
    """Return addresses as 16 bytes each; those of IPv4 fill the first four."""
    rows = np.zeros((at.size, 16), dtype=np.uint8)
    rows[four, :4] = reader.rows(at[four] + at_4, 4)
    rows[~four] = reader.rows(at[~four] + at_6, 16)
    return rows.view("V16").ravel()


def _options(reader: _Reader, at: Ints, end: Ints) -> dict[str, Array]:
    """Return the options of segments: each begins at ``at`` and ends before ``end``."""
    count = at.size
    found = {name: np.full(count, ABSENT) for name in _OPTIONS}
    position, left = np.array(at), np.arange(count)
    while (left := left[position[left] < end[left]]).size:
        here = position[left]
        kind = reader.number(here, 1)
        size = np.where(kind <= 1, 1, reader.number(here + 1, 1))
        # The end of the list, or an option that makes no sense
        is_good = (kind != 0) & (size >= 1) & ((kind == 1) | (size >= 2))
        left, here, kind, size = left[is_good], here[is_good], kind[is_good], size[is_good]
        for name, (code, offset, bytes_) in _OPTIONS.items():
            # A capture may hold an option's first fields only
            has = (kind == code) & (size >= offset + bytes_) & (here + offset + bytes_ <= end[left])
            found[name][left[has]] = reader.number(here[has] + offset, bytes_)
        position[left] += size
    found["shift"] = np.minimum(found["shift"], _MOST_SHIFT)
    return found


def _by_connection(
    fields: dict[str, Array],
) -> tuple[pd.DataFrame, tuple[Connection, ...]]:
    """Return the table of segments, and its connections."""
    count = fields["seq"].size
    connection, from_client = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    relative = {name: np.full(count, ABSENT) for name in ("seq", "ack", *SACK_COLUMNS)}
    window = np.array(fields["window"])
    connections: list[Connection] = []
    for rows in _in_order(_opened(fields)):
        is_client = _is_client(fields, rows)
        one = {name: fields[name][rows] for name in fields}
        number = len(connections)
        connection[rows], from_client[rows] = number, is_client
        client_shift, server_shift = (_shift(one, side) for side in (is_client, ~is_client))
        if client_shift is not None and server_shift is not None:
            scaled = one["window"] << np.where(is_client, client_shift, server_shift)
            window[rows] = np.where(one["tcp_flags"] & SYN, one["window"], scaled)
        for name, values in _relative(one, is_client).items():
            relative[name][rows] = values
        lengths, times_ns = one["length"], one["time_ns"]
        connections.append(
            Connection(
                number,
                *_ends(one, is_client),
                client_shift,
                server_shift,
                begin_ns=int(times_ns.min()),
                end_ns=int(times_ns.max()),
                packets=len(rows),
                client_bytes=int(lengths[is_client].sum()),
                server_bytes=int(lengths[~is_client].sum()),
            )
        )
    sack = {name: relative[name] for name in SACK_COLUMNS}
    kept = ("packet", "time_ns", "length", "wire_bytes", "tcp_flags", "ecn", "ttl", "ip_id")
    table = {name: fields[name] for name in kept}
    table |= {"connection": connection, "from_client": from_client, "window": window}
    table |= {"seq": relative["seq"], "ack": relative["ack"]}
    table |= {"tsval": fields["tsval"], "tsecr": fields["tsecr"], **sack, "dsack": _dsack(relative)}
    return pd.DataFrame(table), tuple(connections)


def _dsack(relative: Mapping[str, Ints]) -> Bools:
    """Whether the first SACK block repeats what was acknowledged already (RFC 2883, 4)."""
    left, right = relative["sack1_left"], relative["sack1_right"]
    next_left, next_right = relative["sack2_left"], relative["sack2_right"]
    is_inside = (next_left != ABSENT) & (left >= next_left) & (right <= next_right)
    is_old = right <= relative["ack"]
    return cast(Bools, (left != ABSENT) & (is_old | is_inside))


def _opened(fields: Mapping[str, Array]) -> Iterator[Ints]:
    """Yield the segments of each connection, in the order of time.

    Between the same two ends a SYN of another number opens another connection.
    """
    source, target = fields["source"], fields["target"]
    ids = np.unique(np.concatenate([source, target]), return_inverse=True)[1].astype(np.int64)
    one = ids[: source.size] << 16 | fields["source_port"]
    other = ids[source.size :] << 16 | fields["target_port"]
    low, high = np.minimum(one, other), np.maximum(one, other)
    order = np.lexsort((fields["time_ns"], high, low))
    changes = np.flatnonzero(np.diff(low[order]) | np.diff(high[order])) + 1
    for rows in np.split(order, changes):
        opens = rows[(fields["tcp_flags"][rows] & (SYN | ACK)) == SYN]
        if opens.size < 2 or np.unique(fields["seq"][opens]).size == 1:
            yield rows
            continue
        is_new = np.zeros(rows.size, dtype=bool)
        places = np.flatnonzero((fields["tcp_flags"][rows] & (SYN | ACK)) == SYN)
        is_new[places[1:]] = np.diff(fields["seq"][rows[places]]) != 0
        yield from np.split(rows, np.flatnonzero(is_new))


def _in_order(parts: Iterator[Ints]) -> list[Ints]:
    """Return connections by their first packet in the file."""
    return sorted((rows for rows in parts if rows.size), key=lambda rows: int(rows.min()))


def _is_client(fields: Mapping[str, Array], rows: Ints) -> Bools:
    """Whether the client sent each segment: the sender of the first SYN, or of the first packet."""
    flags = fields["tcp_flags"][rows]
    opens = np.flatnonzero(flags & SYN)
    first = int(opens[0]) if opens.size else 0
    from_same = np.ones(rows.size, dtype=bool)
    for name in ("source", "source_port", "target_port"):
        values = fields[name][rows]
        from_same &= values == values[first]
    return ~from_same if opens.size and flags[first] & ACK else from_same


def _ends(one: Mapping[str, Array], is_client: Bools) -> tuple[str, int, str, int]:
    """Return addresses and ports of a connection, the client's first."""
    row = int(np.argmax(is_client))

    def text(name: str) -> str:
        packed = one[name][row].tobytes()
        return str(ipaddress.ip_address(packed[:4] if one["is_4"][row] else packed))

    source = (text("source"), int(one["source_port"][row]))
    target = (text("target"), int(one["target_port"][row]))
    return (*source, *target) if is_client[row] else (*target, *source)


def _shift(one: Mapping[str, Array], side: Bools) -> int | None:
    """Return the shift of a side's windows: None if its SYN was not seen, 0 if it offers none."""
    opened = side & (one["tcp_flags"] & SYN != 0)
    if not opened.any():
        return None
    return max(int(one["shift"][opened][0]), 0)


def _relative(one: Mapping[str, Array], is_client: Bools) -> dict[str, Ints]:
    """Return numbers of one connection from its first on, without their wrap."""
    has_ack = one["tcp_flags"] & ACK != 0
    result = {name: np.full(is_client.size, ABSENT) for name in ("seq", "ack", *SACK_COLUMNS)}
    for side in (is_client, ~is_client):
        acks = ~side & has_ack
        used = side | acks
        numbers = np.where(side, one["seq"], one["ack"])[used]
        if not numbers.size:
            continue
        # Neighbours in time differ by less than half of all numbers
        unwrapped = numbers[0] + np.concatenate([[0], np.cumsum(_signed(np.diff(numbers)))])
        whole = np.zeros(is_client.size, dtype=np.int64)
        whole[used] = unwrapped
        opened = np.flatnonzero(side & (one["tcp_flags"] & SYN != 0))
        if opened.size:
            base = whole[opened[0]]
        else:
            of_data = whole[side & (one["tcp_flags"] & RST == 0)]
            base = (of_data[0] if of_data.size else unwrapped[0]) - 1
        result["seq"][side] = whole[side] - base
        result["ack"][acks] = whole[acks] - base
        for name in SACK_COLUMNS:
            has = acks & (one[name] != ABSENT)
            result[name][has] = result["ack"][has] + _signed(one[name][has] - one["ack"][has])
    return result


def _signed(difference: Ints) -> Ints:
    """Return differences of numbers modulo 2^32 as the least ones of either sign."""
    return (difference + (1 << 31)) % (1 << 32) - (1 << 31)
