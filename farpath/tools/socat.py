"""socat: the command of one source of background traffic.

It writes datagrams of nothing to a connected UDP socket as fast as the socket takes
them, and is stopped and continued by signals; the port's queue spaces the packets. A
program that woke for each packet would take most of a run's real time.
"""

from __future__ import annotations

PROGRAM = "socat"
UDP_HEADER_BYTES = 8
#: By the version of IP: of a packet that is a fragment. IPv6's has a header for that (RFC
#: 8200, section 4.5).
IP_HEADER_BYTES = {4: 20, 6: 48}
#: An IPv4 packet, headers included, holds no more (RFC 791, section 3.1), and its
#: fragments but the last carry a multiple of eight bytes (section 3.2).
LARGEST_PACKET_BYTES = 65_535
FRAGMENT_UNIT_BYTES = 8
#: How long a datagram lasts at its source's rate, unless it would be larger than UDP's
#: largest.
DATAGRAM_S = 0.005
#: How many a socket holds at most. It takes one as long as what it holds takes less memory
#: than its buffer (sock_alloc_send_pskb in net/core/sock.c), which is four times a datagram,
#: and packets take more memory than they carry.
SOCKET_DATAGRAMS = 5
#: The discard service's port (RFC 863); nobody listens. Each source sends from its own.
PORT = 9
FIRST_PORT = 5001


def _room_bytes(mtu_bytes: int, ip_version: int) -> int:
    """What a full fragment carries."""
    return (mtu_bytes - IP_HEADER_BYTES[ip_version]) // FRAGMENT_UNIT_BYTES * FRAGMENT_UNIT_BYTES


def datagram_packets(rate_bps: int, mtu_bytes: int, ip_version: int = 4) -> int:
    """How many packets a source's datagrams are, all of them full.

    >>> datagram_packets(80_000_000, 1500), datagram_packets(100_000, 1500)
    (34, 1)
    """
    room = _room_bytes(mtu_bytes, ip_version)
    most = (LARGEST_PACKET_BYTES - IP_HEADER_BYTES[ip_version]) // room
    return min(max(1, round(rate_bps / 8 * DATAGRAM_S / room)), most)


def datagram_bytes(rate_bps: int, mtu_bytes: int, ip_version: int = 4) -> int:
    """Payload of a source's datagrams.

    >>> datagram_bytes(80_000_000, 1500), datagram_bytes(100_000, 1500)
    (50312, 1472)
    """
    packets = datagram_packets(rate_bps, mtu_bytes, ip_version)
    return packets * _room_bytes(mtu_bytes, ip_version) - UDP_HEADER_BYTES


def arguments(
    source: int, rate_bps: int, mtu_bytes: int, address: str, ip_version: int = 4
) -> list[str]:
    """One source, which sends until it is stopped.

    Its socket holds at most :data:`SOCKET_DATAGRAMS`: the kernel doubles ``sndbuf``.
    """
    size = datagram_bytes(rate_bps, mtu_bytes, ip_version)
    host = address if ip_version == 4 else f"[{address}]"
    target = f"UDP{ip_version}:{host}:{PORT},sourceport={FIRST_PORT + source},sndbuf={2 * size}"
    return [PROGRAM, "-u", "-b", str(size), "/dev/zero", target]
