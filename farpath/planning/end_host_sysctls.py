"""Sysctls of end hosts: which ones a run may set, and why the others have no effect.

Some sysctls exist once for the whole kernel and concern devices, CPUs or sockets without flows.
The lab overrides others, and some are no longer read by any code. They are refused, since a
record would state them as if they had an effect. Source: net/core/sysctl_net_core.c and
net/ipv4/sysctl_net_ipv4.c of Linux 7.2.
"""

from __future__ import annotations

from farpath.base.errors import BadInputError

#: Sysctls that the lab sets itself; WINDOW decides those of the receive buffer.
OWN_SETTINGS = (
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.ping_group_range",
    "net.core.netdev_max_backlog",
)
#: Sysctls of net.core that each network namespace has of its own (netns_core_table).
NAMESPACED_CORE_SYSCTLS = frozenset({
    "net.core.rps_default_mask", "net.core.somaxconn", "net.core.optmem_max",
    "net.core.txrehash", "net.core.txq_reselection_ms", "net.core.tstamp_allow_data",
    "net.core.bypass_prot_mem", "net.core.wmem_max", "net.core.rmem_max",
    "net.core.wmem_default", "net.core.rmem_default",
})  # fmt: skip
#: Prefixes of the sysctls that can affect flows.
PREFIXES = ("net.core.", "net.ipv4.", "net.ipv6.")
_QDISC = "the kernel reads it when it makes a device, and the lab sets the qdisc of every port"
_STACK = "STACK chooses what each flow runs"
_UNREAD = "no code of Linux 7.2 reads it"
_KERNEL = "it exists once for the whole kernel, and no flow of the lab depends on it"
#: Reasons why sysctls have no effect, by name or by a prefix that ends with ``.`` or ``_``.
_WITHOUT_EFFECT = {
    "net.core.default_qdisc": _QDISC,
    "net.ipv4.tcp_congestion_control": _STACK,
    "net.ipv4.tcp_allowed_congestion_control": _STACK,
    "net.ipv4.tcp_available_congestion_control": _STACK,
    "net.ipv4.tcp_fack": _UNREAD,
    "net.ipv4.tcp_low_latency": _UNREAD,
    "net.ipv4.tcp_adv_win_scale": _UNREAD,
    "net.ipv4.tcp_max_orphans": _KERNEL,
    "net.ipv4.tcp_available_ulp": _KERNEL,
    "net.ipv4.inet_peer_": _KERNEL,
    "net.ipv4.cipso_": _KERNEL,
    "net.ipv4.fib_sync_mem": _KERNEL,
    "net.ipv6.conf.default.": "the kernel reads it when it makes a device, and hosts have theirs",
}


def why_without_effect(name: str, ip_version: int | None = None) -> str:
    """Return why a sysctl has no effect on end hosts in the lab; empty if it has one.

    ``ip_version``: 4 or 6, None if not known yet or both.

    >>> why_without_effect("net.ipv4.tcp_sack")
    ''
    """
    for name_or_prefix, reason in _WITHOUT_EFFECT.items():
        is_prefix = name_or_prefix.endswith((".", "_"))
        if name == name_or_prefix or (is_prefix and name.startswith(name_or_prefix)):
            return reason
    if name.startswith("net.core.") and name not in NAMESPACED_CORE_SYSCTLS:
        return _KERNEL
    if not name.startswith(PREFIXES):
        return f"only sysctls that begin with {', '.join(PREFIXES)} affect flows"
    if name.startswith("net.ipv6.") and ip_version == 4:
        return "the run uses IPv4; `ip=6` uses IPv6"
    return ""


def check_setting(name: str, ip_version: int | None = None) -> None:
    """Raise BadInputError for a sysctl that the lab sets itself or that has no effect."""
    if name in OWN_SETTINGS:
        raise BadInputError(
            option="sysctl",
            problem=f"the lab sets {name} itself",
            remedy="leave it out; `window` limits the receivers' window",
        )
    if reason := why_without_effect(name, ip_version):
        raise BadInputError(
            option="sysctl", problem=f"{name} has no effect: {reason}", remedy="leave it out"
        )
