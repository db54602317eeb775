"""socat: the command of one source of background traffic.

It writes datagrams of zeros to a connected UDP socket as fast as the socket accepts them.
Signals stop and continue it, and the port's qdisc spaces the packets. A program that woke
up for each packet would take most of a run's real time.
"""

from __future__ import annotations

PROGRAM = "socat"
UDP_HEADER_BYTES = 8
#: Headers of a packet that is a fragment, by the version of IP. IPv6 has an extension header
#: for it (RFC 8200, section 4.5).
IP_HEADER_BYTES = {4: 20, 6: 48}
#: Largest IPv4 packet, headers included (RFC 791, section 3.1). All fragments but the last
#: carry a multiple of eight bytes (section 3.2).
LARGEST_PACKET_BYTES = 65_535
FRAGMENT_UNIT_BYTES = 8
#: Duration of a datagram at its source's rate in s, unless UDP allows no datagram so large.
DATAGRAM_S = 0.005
#: Most datagrams that a socket holds. It accepts another one as long as those it holds take
#: less memory than its buffer (sock_alloc_send_pskb in net/core/sock.c). The buffer is four
#: times a datagram, and packets take more memory than their payload.
SOCKET_DATAGRAMS = 5
#: Destination port: the discard service's (RFC 863), on which nothing listens here.
PORT = 9
#: Source port of the first source; each source has its own.
FIRST_PORT = 5001


def _fragment_payload_bytes(mtu_bytes: int, ip_version: int) -> int:
    """Return the payload of a full fragment."""
    return (mtu_bytes - IP_HEADER_BYTES[ip_version]) // FRAGMENT_UNIT_BYTES * FRAGMENT_UNIT_BYTES


def datagram_packets(rate_bps: int, mtu_bytes: int, ip_version: int = 4) -> int:
    """Return into how many packets a source's datagram is fragmented, all of them full.

    >>> datagram_packets(80_000_000, 1500), datagram_packets(100_000, 1500)
    (34, 1)
    """
    payload = _fragment_payload_bytes(mtu_bytes, ip_version)
    most = (LARGEST_PACKET_BYTES - IP_HEADER_BYTES[ip_version]) // payload
    return min(max(1, round(rate_bps / 8 * DATAGRAM_S / payload)), most)


def datagram_bytes(rate_bps: int, mtu_bytes: int, ip_version: int = 4) -> int:
    """Return the UDP payload of a source's datagram.

    >>> datagram_bytes(80_000_000, 1500), datagram_bytes(100_000, 1500)
    (50312, 1472)
    """
    packets = datagram_packets(rate_bps, mtu_bytes, ip_version)
    return packets * _fragment_payload_bytes(mtu_bytes, ip_version) - UDP_HEADER_BYTES


def arguments(
    source: int, rate_bps: int, mtu_bytes: int, address: str, ip_version: int = 4
) -> list[str]:
    """Return the command of one source, which sends until it is stopped.

    Its socket holds at most ``SOCKET_DATAGRAMS`` datagrams: the kernel doubles ``sndbuf``.
    """
    size = datagram_bytes(rate_bps, mtu_bytes, ip_version)
    host = address if ip_version == 4 else f"[{address}]"
    target = f"UDP{ip_version}:{host}:{PORT},sourceport={FIRST_PORT + source},sndbuf={2 * size}"
    return [PROGRAM, "-u", "-b", str(size), "/dev/zero", target]
