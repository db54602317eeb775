"""Datagrams: UDP packets of one size at a constant spacing, which iperf3 sends and counts.

The sender's port has an fq queue, which spaces packets by the rate that the socket asks for
(SO_MAX_PACING_RATE, net/sched/sch_fq.c). iperf3's own spacing sends in bursts of a millisecond.
"""

from __future__ import annotations

from farpath.spec.path import ETHERNET_HEADER_BYTES
from farpath.spec.stack import UDP, Stack

#: IP and UDP headers by the version of IP (RFC 768, 791, 8200).
HEADERS_BYTES = {4: 28, 6: 48}
#: fq keeps rates as 32-bit numbers of bytes a second.
MOST_PACING_BPS = 30_000_000_000


def size_bytes(stack: Stack) -> int:
    """Return the payload of a datagram."""
    return int(stack.parameters["size"])


def spacing_ns(stack: Stack) -> float:
    """Return the time from a datagram to the next.

    >>> spacing_ns(Stack("udp", "udp", parameters={"size": "1250", "rate": "100000000"}))
    100000.0
    """
    if spacing := int(stack.parameters.get("spacing", 0)):
        return float(spacing)
    return 8e9 * size_bytes(stack) / int(stack.parameters["rate"])


def notes_arrivals(stack: Stack) -> bool:
    """Whether a stack is of datagrams whose arrivals are noted."""
    return stack.program == UDP and stack.parameters.get("arrivals") == "1"


def pacing_bps(stack: Stack, ip_version: int = 4) -> int:
    """Return the rate at which fq spaces the datagrams: of whole frames, in whole bytes a second.

    >>> pacing_bps(Stack("udp", "udp", parameters={"size": "1472", "spacing": "12112"}))
    1000000000
    """
    frame_bytes = size_bytes(stack) + HEADERS_BYTES[ip_version] + ETHERNET_HEADER_BYTES
    return 8 * round(1e9 * frame_bytes / spacing_ns(stack))


def sent_spacing_ns(stack: Stack, ip_version: int = 4) -> float:
    """Return the spacing that fq gives the datagrams: whole ns for a whole rate in bytes a second.

    >>> sent_spacing_ns(Stack("udp", "udp", parameters={"size": "1472", "spacing": "12000"}))
    11999.0
    """
    frame_bytes = size_bytes(stack) + HEADERS_BYTES[ip_version] + ETHERNET_HEADER_BYTES
    return float(frame_bytes * 8_000_000_000 // pacing_bps(stack, ip_version))
