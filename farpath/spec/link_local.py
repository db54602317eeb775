"""Link-local addresses of IPv6."""

from __future__ import annotations

import ipaddress


def link_local(mac: str) -> str:
    """Return the link-local address that belongs to a MAC address (RFC 4291, appendix A).

    >>> link_local("02:00:00:00:00:01")
    'fe80::ff:fe00:1'
    """
    first, *others = (int(part, 16) for part in mac.split(":"))
    octets = [first ^ 2, *others[:2], 0xFF, 0xFE, *others[2:]]
    return str(ipaddress.IPv6Address(bytes([0xFE, 0x80, *[0] * 6, *octets])))
