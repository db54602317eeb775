"""Disks: the kernel module that stands for the disks of the end hosts, and its devices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.containers import DISK
from farpath.guest.device import Device, Site
from farpath.guest.system import NS_PER_S
from farpath.spec.protocol import DISK_MODULE
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", DISK_MODULE, "parameters")
#: A host's disk in the guest, by its number there.
DEVICE = f"/dev/{DISK_MODULE}{{number}}"


class Disks(Device):
    """The disks of a site's hosts."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        #: The hosts with a disk, by its number.
        self.hosts = [host for host in self.plan.disks if site.has(host)]

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a host of a site has a disk."""
        return any(site.has(host) for host in site.plan.disks)

    def load(self) -> None:
        """Load the module with the disks."""
        disks = [self.plan.disks[host] for host in self.hosts]
        values = {
            "rate_bps": ",".join(str(disk.rate_bps) for disk in disks),
            "cache_bytes": ",".join(str(disk.cache_bytes) for disk in disks),
            "written": ",".join("Y" if host in self.plan.receivers else "N" for host in self.hosts),
        }
        modules.insert(self.site.modules, DISK_MODULE, values)

    def mounts(self, host: str) -> Mapping[str, str]:
        """Return the device of a host's disk."""
        if host not in self.hosts:
            return {}
        return {DISK: DEVICE.format(number=self.hosts.index(host))}

    def read_back(self) -> dict[str, Any]:
        """Return, by host, what the module has: the disk, and what programs and disk have done."""

        def values(parameter: str) -> list[str]:
            return (PARAMETERS / parameter).read_text(encoding="ascii").strip().split(",")

        names = ("rate_bps", "cache_bytes", "written", "moved_bytes", "waited_ns", "idle_ns")
        columns = {name: values(name) for name in names}
        disks = {
            host: {
                "rate_bps": int(columns["rate_bps"][number]),
                "cache_bytes": int(columns["cache_bytes"][number]),
                "written": columns["written"][number] == "Y",
                "moved_bytes": int(columns["moved_bytes"][number]),
                "waited_s": int(columns["waited_ns"][number]) / NS_PER_S,
                "idle_s": int(columns["idle_ns"][number]) / NS_PER_S,
            }
            for number, host in enumerate(self.hosts)
        }
        return {"disks": disks}

    def differences(self, readback: Mapping[str, Any]) -> list[str]:
        """Compare the disks with the plan's."""
        return [
            f"{name} of the disk of {host} is {values[name]}, not {planned}"
            for host, values in readback["disks"].items()
            for name, planned in (
                ("rate_bps", self.plan.disks[host].rate_bps),
                ("cache_bytes", self.plan.disks[host].cache_bytes),
                ("written", host in self.plan.receivers),
            )
            if values[name] != planned
        ]


DEVICES = (Disks,)
