"""Files of packets made for tests: TCP segments as bytes, in any form that a capture may have."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from farpath.captures.segments import ACK, SYN
from farpath.tools import pcapng

CLIENT, SERVER = ("10.0.0.2", 40000), ("10.0.0.1", 5201)
_MAC = bytes.fromhex("020000000001020000000002")


@dataclass(frozen=True)
class Sent:
    """A segment at a time in ns; ``options`` are bytes, of a multiple of four."""

    time_ns: int
    from_client: bool
    seq: int
    ack: int
    length: int = 0
    flags: int = ACK
    window: int = 1000
    options: bytes = b""

    def ip(self) -> bytes:
        """Return the packet from its IP header on, without its data."""
        ends = (CLIENT, SERVER) if self.from_client else (SERVER, CLIENT)
        addresses = b"".join(bytes(map(int, address.split("."))) for address, _ in ends)
        size = 40 + len(self.options) + self.length
        header = struct.pack(">BBHHHBBH", 0x45, 0, size, 7, 0x4000, 64, 6, 0) + addresses
        offset = (20 + len(self.options)) // 4
        return header + struct.pack(
            ">HHIIHHHH", ends[0][1], ends[1][1], self.seq % 2**32, self.ack % 2**32,
            offset << 12 | self.flags, self.window, 0, 0,
        ) + self.options  # fmt: skip


def shift(count: int) -> bytes:
    """Return the option of a window's scale."""
    return bytes([1, 3, 3, count])


def sack(*sides: int) -> bytes:
    """Return the option of SACK blocks, of which ``sides`` are left and right in turn."""
    packed = b"".join(struct.pack(">I", side % 2**32) for side in sides)
    return bytes([1, 1, 5, 2 + len(packed)]) + packed


def handshake(client: int = 0, server: int = 0, rtt_ns: int = 40_000_000) -> list[Sent]:
    """Return three segments from time 0; the first numbers of both ends, windows scaled by 2^7."""
    return [
        Sent(0, True, client, 0, flags=SYN, window=60_000, options=shift(7)),
        Sent(rtt_ns, False, server, client + 1, 0, SYN | ACK, 60_000, shift(7)),
        Sent(rtt_ns, True, client + 1, server + 1),
    ]


def as_pcap(
    sent: Iterable[Sent],
    link: int = 1,
    head: bytes | None = None,
    order: str = "<",
    unit_ns: int = 1,
) -> bytes:
    """Return a file of pcap; ``head``: what stands before IP, by default Ethernet's header."""
    magic = {1: 0xA1B23C4D, 1_000: 0xA1B2C3D4}[unit_ns]
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)]
    for one in sent:
        packet = (_MAC + b"\x08\x00" if head is None else head) + one.ip()
        seconds, rest = divmod(one.time_ns, 10**9)
        whole = len(packet) + one.length
        parts.append(
            struct.pack(order + "IIII", seconds, rest // unit_ns, len(packet), whole) + packet
        )
    return b"".join(parts)


def as_pcapng(sent: Sequence[Sent]) -> bytes:
    """Return a file as the lab's captures are."""
    packets = [_MAC + b"\x08\x00" + one.ip() for one in sent]
    blocks = [
        pcapng.packet(one.time_ns, packet, len(packet) + one.length)
        for one, packet in zip(sent, packets, strict=True)
    ]
    end = pcapng.statistics(sent[-1].time_ns, len(sent), 0)
    return pcapng.head("sender-eth0", "sender", 128) + b"".join(blocks) + end
