"""One packet in words and as plain values: its flow, sequence number, flags and options."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farpath.captures.segments import (
    ABSENT,
    ACK,
    AE,
    CWR,
    ECE,
    FIN,
    PSH,
    RST,
    SACK_BLOCKS,
    SYN,
    URG,
    Connection,
    end_name,
)
from farpath.uses.diff.first_packet import NS_PER_S, Captured

if TYPE_CHECKING:
    import pandas as pd

FLAGS = {
    SYN: "SYN", FIN: "FIN", RST: "RST", PSH: "PSH", ACK: "ACK", URG: "URG", ECE: "ECE",
    CWR: "CWR", AE: "AE",
}  # fmt: skip
ECN = ("", "ECT(1)", "ECT(0)", "CE")
_ETHERNET_BYTES = 14
#: By EtherType; by protocol of IP (IANA).
_KINDS = {0x0806: "ARP", 0x86DD: "IPv6", 0x0800: "IPv4"}
_PROTOCOLS = {1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP", 58: "ICMPv6"}
_WITH_PORTS = ("TCP", "UDP")
#: Protocol and source address in a header of IP, by its EtherType, and the header's length.
_IP = {0x0800: (9, 12, 4, 20), 0x86DD: (6, 8, 16, 40)}
Fields = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """A packet as it was captured: ``fields`` are plain values for JSON, times in ns and s."""

    fields: Fields

    @property
    def time_s(self) -> str:
        """Its virtual time with all nanoseconds."""
        return seconds(self.fields["time_ns"])

    @property
    def words(self) -> str:
        """The packet in a line, without its time."""
        return words(self.fields)


def seconds(time_ns: int) -> str:
    """Return a time in ns as seconds with all digits.

    >>> seconds(12_000_000_256)
    '12.000000256'
    """
    return f"{time_ns // NS_PER_S}.{time_ns % NS_PER_S:09d}"


def seen(captured: Captured, index: int, flows: Mapping[int, str]) -> Seen:
    """Return a packet of a capture; ``flows``: names of flows by their ports."""
    packets = captured.packets
    time_ns = int(packets.time_ns[index])
    fields: Fields = {
        "place": captured.place,
        "packet": index + 1,
        "time_ns": time_ns,
        "wire_bytes": int(packets.length_bytes[index]),
    }
    segment = captured.segment(index)
    if segment is None:
        fields |= _of_others(captured.bytes_of(index))
    else:
        assert captured.tcp is not None
        connection = captured.tcp.connections[int(segment["connection"])]
        fields |= _of_segment(segment, connection, flows)
    return Seen({**fields, "bytes": captured.bytes_of(index).hex()})


def _of_segment(
    segment: pd.Series[int], connection: Connection, flows: Mapping[int, str]
) -> Fields:
    ends = connection.ends_by_name
    source, target = ends if segment["from_client"] else ends[::-1]
    blocks = [
        (int(segment[f"sack{number}_left"]), int(segment[f"sack{number}_right"]))
        for number in range(1, SACK_BLOCKS + 1)
        if segment[f"sack{number}_right"] > 0
    ]
    flags = int(segment["tcp_flags"])
    return {
        "protocol": "TCP",
        "flow": flows.get(connection.server_port, ""),
        "from": source,
        "to": target,
        "seq": int(segment["seq"]),
        "ack": _known(segment["ack"]),
        "length": int(segment["length"]),
        "flags": [name for bit, name in FLAGS.items() if flags & bit],
        "window_bytes": int(segment["window"]),
        "sack": blocks,
        "dsack": bool(segment["dsack"]),
        "tsval": _known(segment["tsval"]),
        "tsecr": _known(segment["tsecr"]),
        "ecn": ECN[int(segment["ecn"])],
        "ttl": int(segment["ttl"]),
        "ip_id": _known(segment["ip_id"]),
    }


def _known(value: int) -> int | None:
    return None if value == ABSENT else int(value)


def _of_others(data: bytes) -> Fields:
    """Return what a packet other than TCP says in its first headers."""
    kind = int.from_bytes(data[12:14], "big")
    fields: Fields = {
        "protocol": _KINDS.get(kind, f"EtherType {kind:#06x}"),
        "from": data[6:12].hex(":"),
        "to": data[:6].hex(":"),
    }
    layout = _IP.get(kind)
    if layout is None or len(data) < _ETHERNET_BYTES + layout[3]:
        return fields
    protocol_at, source_at, size, header_bytes = layout
    header = data[_ETHERNET_BYTES:]
    if size == 4:
        header_bytes = (header[0] & 15) * 4
    source, target = (
        str(ipaddress.ip_address(header[at : at + size])) for at in (source_at, source_at + size)
    )
    protocol = _PROTOCOLS.get(header[protocol_at], f"IP protocol {header[protocol_at]}")
    rest = header[header_bytes:]
    if protocol in _WITH_PORTS and len(rest) >= 4:
        ports = int.from_bytes(rest[:2], "big"), int.from_bytes(rest[2:4], "big")
        source, target = map(end_name, (source, target), ports)
    fields |= {"protocol": protocol, "from": source, "to": target}
    return fields | ({"type": rest[0]} if protocol.startswith("ICMP") and rest else {})


def words(fields: Mapping[str, Any]) -> str:
    """Return a packet's fields in a line, without place and time."""
    head = f"{fields['protocol']} {fields['from']} > {fields['to']}"
    if fields["protocol"] != "TCP" or "seq" not in fields:
        kind = f" type {fields['type']}" if "type" in fields else ""
        return f"{head}{kind} {fields['wire_bytes']} bytes"
    numbers = f"seq {fields['seq']}"
    if fields["length"]:
        numbers += f":{fields['seq'] + fields['length']} ({fields['length']} bytes)"
    parts = [
        f"{fields['from']} > {fields['to']}",
        "+".join(fields["flags"]),
        numbers,
        *([] if fields["ack"] is None else [f"ack {fields['ack']}"]),
        f"win {fields['window_bytes']}",
        *options_words(fields),
        *([fields["ecn"]] if fields["ecn"] else []),
    ]
    return " ".join(parts)


def options_words(fields: Mapping[str, Any]) -> list[str]:
    """Return the options of a segment: SACK blocks and timestamps."""
    found = []
    if fields["sack"]:
        blocks = " ".join(f"{left}:{right}" for left, right in fields["sack"])
        found.append(f"{'dsack' if fields['dsack'] else 'sack'} {blocks}")
    if fields["tsval"] is not None:
        found.append(f"ts {fields['tsval']}/{fields['tsecr']}")
    return found


#: Fields of a packet by which one is told from its twin, in the order in which they are named.
COMPARED = (
    "protocol", "from", "to", "seq", "ack", "length", "flags", "window_bytes", "sack", "tsval",
    "tsecr", "ecn", "ttl", "ip_id", "wire_bytes", "bytes", "time_ns",
)  # fmt: skip


def differing(one: Fields, other: Fields) -> list[str]:
    """Return the names of the fields in which two packets differ; bytes only if they alone do."""
    names = [name for name in COMPARED if one.get(name) != other.get(name)]
    if "bytes" in names and set(names) - {"bytes", "time_ns"}:
        names.remove("bytes")
    return names
