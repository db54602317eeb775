"""Datagram listener: a program that notes when each datagram of a flow reaches its receiver.

It is run as ``python3 -S -m`` with this module in the receiver's network namespace, with a
``Listening`` as JSON. It prints "ready", takes the kernel's stamp of each packet
as it enters the host (SO_TIMESTAMPNS on a packet socket) and, on SIGTERM, prints what it noted as
one line of JSON (``farpath.spec.datagram_arrivals.Arrivals``).
"""

from __future__ import annotations

import json
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any, NoReturn

from farpath.spec.datagram_arrivals import ArrivalNotes

ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86DD
#: include/uapi/asm-generic/socket.h; the socket module does not name them.
SO_TIMESTAMPNS, SO_RCVBUFFORCE = 35, 33
#: IP's headers, and where the protocol stands in each (RFC 791, 8200).
IP_BYTES, PROTOCOL_AT = {4: 20, 6: 40}, {4: 9, 6: 6}
#: UDP's header, then iperf3's time of writing in s and us, then the number (iperf_udp_send in
#: src/iperf_udp.c).
UDP_BYTES, NUMBER_AT = 8, 16
#: What is needed of a packet, and a buffer for some ms of them (the virtual lab needs one).
HEAD_BYTES, BUFFER_BYTES = 96, 64 << 20


@dataclass(frozen=True)
class Listening:
    """A flow to listen to: its UDP port, the version of IP, and the spacing of its sender in ns."""

    port: int
    ip_version: int
    spacing_ns: float


def number_of(packet: bytes, listening: Listening) -> int | None:
    """Return the number of a flow's datagram, from its IP header on; None for another packet."""
    start = IP_BYTES[listening.ip_version]
    if len(packet) < start + NUMBER_AT + 4 or packet[PROTOCOL_AT[listening.ip_version]] != (
        socket.IPPROTO_UDP
    ):
        return None
    if int.from_bytes(packet[start + 2 : start + 4], "big") != listening.port:
        return None
    return int.from_bytes(packet[start + NUMBER_AT : start + NUMBER_AT + 4], "big")


class _Ended(BaseException):
    """The listener was told to end."""


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Ended


def _stamp_ns(control: list[tuple[int, int, bytes]]) -> int:
    for level, kind, data in control:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, rest_ns = struct.unpack("qq", data)
            return int(seconds * 1_000_000_000 + rest_ns)
    raise OSError("the kernel stamps no packets")


def listen(listening: Listening) -> ArrivalNotes:
    """Note the arrivals of a flow until SIGTERM."""
    notes = ArrivalNotes(listening.spacing_ns)
    kind = ETH_P_IP if listening.ip_version == 4 else ETH_P_IPV6
    taken = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(kind))
    taken.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    taken.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    signal.signal(signal.SIGTERM, _end)
    print("ready", flush=True)
    try:
        while True:
            packet, control, _, _ = taken.recvmsg(HEAD_BYTES, 64)
            number = number_of(packet, listening)
            if number is not None:
                notes.add(number, _stamp_ns(control))
    except _Ended:
        return notes


def main() -> None:
    """Listen to the flow that the only argument describes."""
    config: dict[str, Any] = json.loads(sys.argv[1])
    print(json.dumps(listen(Listening(**config)).result()), flush=True)


if __name__ == "__main__":
    main()
