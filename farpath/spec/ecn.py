"""ECN: whether the end hosts' TCP uses Explicit Congestion Notification, and how.

Sources: RFC 3168, RFC 9768 (accurate feedback), and ``tcp_ecn`` in
Documentation/networking/ip-sysctl.rst of Linux.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow

SYSCTL = "net.ipv4.tcp_ecn"
#: Values of ``tcp_ecn`` with which a host requests ECN when it connects: 1, and since Linux 7.0
#: also 3 and 4, with accurate feedback (net/ipv4/sysctl_net_ipv4.c). The kernel's default is 2.
REQUESTING = ("1", "3", "4")
#: ECN of a connection by ``tcpi_ecn_mode`` of struct tcp_info (include/uapi/linux/tcp.h).
NONE, CLASSIC, ACCURATE, PENDING = "none", "rfc3168", "accecn", "pending"
BY_TCP_INFO = (NONE, CLASSIC, ACCURATE, PENDING)


OFF, ON, ACCECN, PASSIVE, L4S = "off", "on", "accecn", "passive", "l4s"


@dataclass(frozen=True)
class Mode:
    """A mode of the end hosts: the value of ``tcp_ecn``, and what connections then have.

    ``needing``: the value at a host that sends by a stack which needs ECN. iperf3 chooses a
    connection's stack after the handshake, in which ECN is agreed on, so that only the host's
    setting can request it. ``agreed_needing``: what its connections then have.
    """

    tcp_ecn: str
    agreed: str
    needing: str = ""
    agreed_needing: str = ""


MODES: Mapping[str, Mode] = {
    OFF: Mode("0", NONE),
    ON: Mode("1", CLASSIC),
    ACCECN: Mode("3", ACCURATE),
    PASSIVE: Mode("2", NONE, needing="1", agreed_needing=CLASSIC),
    # 5: accepts accurate feedback and requests none
    L4S: Mode("5", NONE, needing="3", agreed_needing=ACCURATE),
}


def needs_ecn(sysctl: Mapping[str, str]) -> bool:
    """Whether a stack with these sysctls of its own needs ECN."""
    return sysctl.get(SYSCTL) in REQUESTING


def sends_ect_1(sysctl: Mapping[str, str]) -> bool:
    """Whether a stack with these sysctls of its own sends ECT(1), for which it needs AccECN."""
    return sysctl.get(SYSCTL) == "3"


def _has_needing_stack(plan: Plan, host: str) -> bool:
    sent = [flow for flow in plan.schedule.all_flows if flow.sender == host]
    return any(needs_ecn(plan.stack_of(flow).sysctl) for flow in sent)


def host_setting(plan: Plan, host: str) -> dict[str, str]:
    """Return the sysctl of an end host; none if the plan leaves ECN to the kernel."""
    if not plan.ecn:
        return {}
    mode = MODES[plan.ecn]
    needing = mode.needing and _has_needing_stack(plan, host)
    return {SYSCTL: mode.needing if needing else mode.tcp_ecn}


def agreed_mode(plan: Plan, flow: Flow) -> str:
    """Return the ECN that a flow's connection has in a plan with a mode."""
    mode = MODES[plan.ecn]
    needing = mode.needing and _has_needing_stack(plan, flow.sender)
    return mode.agreed_needing if needing else mode.agreed
