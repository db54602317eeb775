"""End hosts' sysctls: those that a run may be asked to set, and why others would do nothing.

Linux keeps some settings once for the whole kernel, where they concern devices, processors or
sockets of no flow's; others the lab overrides, or no code reads any more. What is set without
effect would be recorded as if it had one. Source: net/core/sysctl_net_core.c and
net/ipv4/sysctl_net_ipv4.c of Linux 7.2.
"""

from __future__ import annotations

from farpath.base.errors import BadInputError

#: Settings that a run makes itself, those of receivers' buffers by WINDOW.
OWN_SETTINGS = (
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.ping_group_range",
    "net.core.netdev_max_backlog",
)
#: Of net.core those that each network namespace has (netns_core_table).
CORE_OF_NAMESPACES = frozenset({
    "net.core.rps_default_mask", "net.core.somaxconn", "net.core.optmem_max",
    "net.core.txrehash", "net.core.txq_reselection_ms", "net.core.tstamp_allow_data",
    "net.core.bypass_prot_mem", "net.core.wmem_max", "net.core.rmem_max",
    "net.core.wmem_default", "net.core.rmem_default",
})  # fmt: skip
#: The tables of settings that the kernel has, as far as flows go through them.
TREES = ("net.core.", "net.ipv4.", "net.ipv6.")
_QDISC = "it is read when a device is made, and every port of the lab has the qdisc that it needs"
_STACK = "STACK chooses what each flow runs"
_UNREAD = "no code of Linux 7.2 reads it"
_KERNEL = "the kernel has it once and not for each host, and no flow of the lab meets it"
#: Why one of these does nothing, by its name or the beginning of its name.
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
    "net.ipv6.conf.default.": "it is read when a device is made, and hosts have theirs by then",
}


def why_without_effect(name: str, ip_version: int | None = None) -> str:
    """Why a setting of end hosts can change nothing in the lab; nothing if it can.

    ``ip_version``: what the run's packets are, if that is known.

    >>> why_without_effect("net.ipv4.tcp_sack")
    ''
    """
    for beginning, why in _WITHOUT_EFFECT.items():
        if name == beginning or (beginning[-1] in "._" and name.startswith(beginning)):
            return why
    if name.startswith("net.core.") and name not in CORE_OF_NAMESPACES:
        return _KERNEL
    if not name.startswith(TREES):
        return f"flows are concerned by those of {', '.join(TREES)} alone"
    if name.startswith("net.ipv6.") and ip_version == 4:
        return "the run is over IPv4 (IP=6 is over IPv6)"
    return ""


def check_setting(name: str, ip_version: int | None = None) -> None:
    """Raise BadInputError for a setting that the lab makes itself or that has no effect."""
    if name in OWN_SETTINGS:
        raise BadInputError(
            f"SYSCTL has {name}, which the lab sets itself: leave it out; WINDOW is what "
            "receivers offer"
        )
    if why := why_without_effect(name, ip_version):
        raise BadInputError(f"SYSCTL has {name}, which would change nothing: {why}; leave it out")
