"""Frames of background traffic: the bytes that each begins with, for the lab's kernel module.

A frame carries UDP over IP to an address that no host has. The module (images/kernel/devices/
background.c) appends zeros and gives each source a port of its own.
"""

from __future__ import annotations

import ipaddress
import struct

from farpath.tools.socat import FIRST_PORT, PORT, UDP_HEADER_BYTES

ETHERNET_HEADER_BYTES = 14
#: EtherTypes (IEEE 802), and the number of UDP among IP's protocols (IANA).
ETHERTYPE = {4: 0x0800, 6: 0x86DD}
UDP = 17
TTL = 64
#: Flag of an IPv4 packet that is not to be fragmented (RFC 791).
DONT_FRAGMENT = 0x4000


def _checksum(header: bytes) -> int:
    """Return the Internet checksum of a header (RFC 1071).

    >>> hex(_checksum(bytes.fromhex("45000073000040004011" "0000" "c0a80001c0a800c7")))
    '0xb861'
    """
    total: int = sum(word for (word,) in struct.iter_unpack("!H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def _ip_header(version: int, source: str, target: str, packet_bytes: int) -> bytes:
    addresses = ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
    if version == 6:
        return struct.pack("!IHBB", 6 << 28, packet_bytes - 40, UDP, TTL) + addresses
    fields = (0x45, 0, packet_bytes, 0, DONT_FRAGMENT, TTL, UDP)
    checksum = _checksum(struct.pack("!BBHHHBBH", *fields, 0) + addresses)
    return struct.pack("!BBHHHBBH", *fields, checksum) + addresses


def header(
    target_mac: str, source_mac: str, source: str, target: str, packet_bytes: int
) -> tuple[bytes, int]:
    """Return the bytes that a frame begins with, and where among them the source's port is.

    ``source``, ``target``: IP addresses of one version. ``packet_bytes``: size of the IP packet.
    UDP has no checksum: the packet reaches no socket.
    """
    version = ipaddress.ip_address(target).version
    macs = bytes.fromhex((target_mac + source_mac).replace(":", ""))
    ip_header = _ip_header(version, source, target, packet_bytes)
    before = macs + struct.pack("!H", ETHERTYPE[version]) + ip_header
    udp_bytes = packet_bytes - len(ip_header)
    assert udp_bytes >= UDP_HEADER_BYTES
    return before + struct.pack("!HHHH", FIRST_PORT, PORT, udp_bytes, 0), len(before)
