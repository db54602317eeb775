"""socat: the command of one source of background traffic.

It writes datagrams of nothing to a connected UDP socket as fast as the socket takes
them, and is stopped and continued by signals; the port's queue spaces the packets. A
program that woke for each packet would take most of a run's real time.
"""

from __future__ import annotations

PROGRAM = "socat"
UDP_HEADER_BYTES = 8
IP_HEADER_BYTES = 20
#: An IPv4 packet, headers included, holds no more (RFC 791, section 3.1), and its
#: fragments but the last carry a multiple of eight bytes (section 3.2).
LARGEST_PACKET_BYTES = 65_535
FRAGMENT_UNIT_BYTES = 8
#: How long a datagram lasts at its source's rate, unless it would be larger than UDP's
#: largest, and how many a socket may hold: a source goes on for these after its turn.
DATAGRAM_S = 0.005
SOCKET_DATAGRAMS = 3
#: The discard service's port (RFC 863); nobody listens. Each source sends from its own.
PORT = 9
FIRST_PORT = 5001


def datagram_bytes(rate_bps: int, mtu_bytes: int) -> int:
    """Payload of a source's datagrams, whose packets are all full.

    >>> datagram_bytes(80_000_000, 1500), datagram_bytes(100_000, 1500)
    (50312, 1472)
    """
    room = (mtu_bytes - IP_HEADER_BYTES) // FRAGMENT_UNIT_BYTES * FRAGMENT_UNIT_BYTES
    most = (LARGEST_PACKET_BYTES - IP_HEADER_BYTES) // room
    packets = min(max(1, round(rate_bps / 8 * DATAGRAM_S / room)), most)
    return packets * room - UDP_HEADER_BYTES


def arguments(source: int, rate_bps: int, mtu_bytes: int, address: str) -> list[str]:
    """One source, which sends until it is stopped.

    Its socket holds less than :data:`SOCKET_DATAGRAMS` (the kernel doubles ``sndbuf``,
    and counts memory, which is half as much again as payload).
    """
    size = datagram_bytes(rate_bps, mtu_bytes)
    target = f"UDP4:{address}:{PORT},sourceport={FIRST_PORT + source},sndbuf={2 * size}"
    return [PROGRAM, "-u", "-b", str(size), "/dev/zero", target]
