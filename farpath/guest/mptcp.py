"""MPTCP: sets path manager and scheduler of hosts, and reads them back.

Endpoints are those of the kernel's own path manager (net/mptcp/pm_kernel.c), by ip-mptcp(8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farpath.guest import addresses
from farpath.guest.network import Network, network_namespace
from farpath.spec.layout import Layout
from farpath.spec.mptcp import FULLMESH, MOST_SUBFLOWS, NONE, ROLES, Mptcp, mptcp_of
from farpath.tools import sysctl
from farpath.tools.commands import run, run_json

_SCHEDULER = "net.mptcp.scheduler"
_SCHEDULERS = "net.mptcp.available_schedulers"
_PATH_MANAGER, _KERNELS_OWN = "net.mptcp.path_manager", "kernel"


#: Limits of subflows and of the other end's addresses that are accepted, as ip shows them.
_LIMITS = ("add_addr_accepted", str(MOST_SUBFLOWS), "subflows", str(MOST_SUBFLOWS))


def settings(mptcp: Mptcp) -> dict[str, str]:
    """Return the sysctls of every host."""
    return {"net.mptcp.enabled": "1", _PATH_MANAGER: _KERNELS_OWN, _SCHEDULER: mptcp.scheduler}


def endpoints(
    layout: Layout, host: str, mptcp: Mptcp, versions: tuple[int, ...]
) -> dict[str, tuple[str, ...]]:
    """Return the flags of the endpoints of a host by address: one for each further link.

    In a full mesh the first link has one too.
    """
    role = mptcp.roles.get(host, NONE)
    flags = ROLES[role]
    return {
        addresses.port_address(layout, port, version): flags
        for port in layout.host_ports(host)[role != FULLMESH :]
        for version in versions
        if flags
    }


def configure(network: Network, versions: tuple[int, ...]) -> list[str]:
    """Set MPTCP of all hosts as the plan has it; return what the kernel lacks, as sentences.

    ``versions``: the families of the hosts' addresses.
    """
    mptcp = mptcp_of(network.plan)
    if mptcp is None:
        return []
    for host in network.hosts:
        with network_namespace(host.pid):
            if not sysctl.has_setting(_SCHEDULERS):
                return ["the kernel has no MPTCP: CONFIG_MPTCP is off"]
            known = sysctl.read_setting(_SCHEDULERS).split()
            if mptcp.scheduler not in known:
                return [
                    f"the kernel has no MPTCP scheduler '{mptcp.scheduler}': it has "
                    f"{', '.join(known)}"
                ]
            for name, value in settings(mptcp).items():
                sysctl.write_setting(name, value)
            run("ip", "mptcp", "limits", "set", *_LIMITS)
            for address, flags in endpoints(network.layout, host.name, mptcp, versions).items():
                run("ip", "mptcp", "endpoint", "add", address, *flags)
    return []


def read_back(network: Network) -> dict[str, Any]:
    """Return the MPTCP of all hosts as an entry of the read-back; nothing if the plan has none."""
    mptcp = mptcp_of(network.plan)
    if mptcp is None:
        return {}
    found = {}
    for host in network.hosts:
        with network_namespace(host.pid):
            found[host.name] = {
                "settings": {name: sysctl.read_setting(name) for name in settings(mptcp)},
                "limits": run("ip", "mptcp", "limits", "show").split(),
                "endpoints": run_json("ip", "-j", "mptcp", "endpoint", "show"),
            }
    return {"mptcp": found}


def differences(
    network: Network, readback: Mapping[str, Any], versions: tuple[int, ...]
) -> list[str]:
    """Describe how a read-back differs from the plan's MPTCP, one sentence each."""
    mptcp = mptcp_of(network.plan)
    sentences: list[str] = []
    for host, found in readback.get("mptcp", {}).items() if mptcp else ():
        assert mptcp
        for name, value in settings(mptcp).items():
            if found["settings"][name] != value:
                sentences.append(f"{name} of {host} is '{found['settings'][name]}', not '{value}'")
        if found["limits"] != list(_LIMITS):
            sentences.append(f"MPTCP limits of {host} are {' '.join(found['limits'])}")
        wanted = endpoints(network.layout, host, mptcp, versions)
        actual = {
            endpoint["address"]: tuple(flag for flag in _flags() if endpoint.get(flag))
            for endpoint in found["endpoints"]
        }
        if actual != {address: tuple(sorted(flags)) for address, flags in wanted.items()}:
            sentences.append(f"MPTCP endpoints of {host} are {actual}, not {wanted}")
    return sentences


def _flags() -> list[str]:
    return sorted({flag for flags in ROLES.values() for flag in flags})
