"""Disks: the kernel module that stands for the disks of the end hosts, and its devices."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from farpath.guest.system import NS_PER_S
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import DISK_MODULE
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", DISK_MODULE, "parameters")
#: A host's disk in the guest, by its number there.
DEVICE = f"/dev/{DISK_MODULE}{{number}}"


def hosts_at(plan: Plan, layout: Layout, site: int) -> list[str]:
    """Return the hosts at a site that have a disk, by its number."""
    return [host for host in plan.disks if layout.site_of(host) == site]


def load(plan: Plan, hosts: list[str], directory: FilePath) -> dict[str, str]:
    """Load the kernel module with the disks of a site's hosts, and return the device of each."""
    disks = [plan.disks[host] for host in hosts]
    values = {
        "rate_bps": ",".join(str(disk.rate_bps) for disk in disks),
        "cache_bytes": ",".join(str(disk.cache_bytes) for disk in disks),
        "written": ",".join("Y" if host in plan.receivers else "N" for host in hosts),
    }
    modules.insert(directory, DISK_MODULE, values)
    return {host: DEVICE.format(number=number) for number, host in enumerate(hosts)}


def read_back(hosts: list[str]) -> dict[str, dict[str, Any]]:
    """Return, by host, what the module has: the disk, and what programs and disk have done."""

    def values(parameter: str) -> list[str]:
        return (PARAMETERS / parameter).read_text(encoding="ascii").strip().split(",")

    columns = {
        name: values(name)
        for name in ("rate_bps", "cache_bytes", "written", "moved_bytes", "waited_ns", "idle_ns")
    }
    return {
        host: {
            "rate_bps": int(columns["rate_bps"][number]),
            "cache_bytes": int(columns["cache_bytes"][number]),
            "written": columns["written"][number] == "Y",
            "moved_bytes": int(columns["moved_bytes"][number]),
            "waited_s": int(columns["waited_ns"][number]) / NS_PER_S,
            "idle_s": int(columns["idle_ns"][number]) / NS_PER_S,
        }
        for number, host in enumerate(hosts)
    }


def differences(plan: Plan, disks: dict[str, dict[str, Any]]) -> list[str]:
    """Return what differs between a read-back and the plan, as sentences."""
    return [
        f"{name} of the disk of {host} is {values[name]}, not {planned}"
        for host, values in disks.items()
        for name, planned in (
            ("rate_bps", plan.disks[host].rate_bps),
            ("cache_bytes", plan.disks[host].cache_bytes),
            ("written", host in plan.receivers),
        )
        if values[name] != planned
    ]
