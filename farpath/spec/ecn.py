"""ECN: whether the end hosts' TCP uses Explicit Congestion Notification, and how.

Sources: RFC 3168, RFC 9768 (accurate feedback), and ``tcp_ecn`` in
Documentation/networking/ip-sysctl.rst of Linux.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SYSCTL = "net.ipv4.tcp_ecn"
#: Values of ``tcp_ecn`` with which a host requests ECN when it connects: 1, and since Linux 7.0
#: also 3 and 4, with accurate feedback (net/ipv4/sysctl_net_ipv4.c). The kernel's default is 2.
REQUESTING = ("1", "3", "4")
#: ECN of a connection by ``tcpi_ecn_mode`` of struct tcp_info (include/uapi/linux/tcp.h).
NONE, CLASSIC, ACCURATE, PENDING = "none", "rfc3168", "accecn", "pending"
BY_TCP_INFO = (NONE, CLASSIC, ACCURATE, PENDING)


@dataclass(frozen=True)
class Mode:
    """A mode of the end hosts: the value of ``tcp_ecn``, and what connections then use.

    ``needing``: of a stack that requests ECN whatever ``tcp_ecn`` says; ``other``: of any other.
    """

    tcp_ecn: str
    needing: str
    other: str


OFF, ON, ACCECN, PASSIVE = "off", "on", "accecn", "passive"
MODES: Mapping[str, Mode] = {
    OFF: Mode("0", NONE, NONE),
    ON: Mode("1", CLASSIC, CLASSIC),
    ACCECN: Mode("3", ACCURATE, ACCURATE),
    PASSIVE: Mode("2", CLASSIC, NONE),
}


def needs_ecn(sysctl: Mapping[str, str]) -> bool:
    """Whether a stack with these sysctls of its own needs ECN."""
    return sysctl.get(SYSCTL) in REQUESTING
