"""Moderation: how long the card of an end host that joins packets keeps those that arrive.

A card interrupts its host some microseconds after a packet, and the host's poll takes all that
have arrived by then. veth has no card, but its poll (NAPI) waits in the same way where
``napi_defer_hard_irqs`` and ``gro_flush_timeout`` are set (napi_complete_done in net/core/dev.c;
Documentation/networking/napi.rst, software IRQ coalescing).
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from farpath.guest import system
from farpath.guest.device import Device, Site
from farpath.guest.network import Network, network_namespace
from farpath.spec.moderation import moderation_ns

#: Where the sysfs of each host is mounted.
SYSFS = FilePath("/run/sysfs")
#: How often a poll may find nothing before the card interrupts again; one is enough.
DEFERRED = 1


class Moderation(Device):
    """The waiting time of the polls of a site's end hosts."""

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site has end hosts whose cards wait."""
        return moderation_ns(site.plan) > 0 and any(map(site.has, site.layout.hosts))

    @property
    def _hosts(self) -> list[str]:
        return list(filter(self.site.has, self.site.layout.hosts))

    def _files(self, host: str) -> dict[str, FilePath]:
        port = self.network.mininet.get(host).defaultIntf().name
        return {name: SYSFS / host / "class/net" / port / name for name in self._planned}

    @property
    def _planned(self) -> dict[str, int]:
        return {
            "gro_flush_timeout": moderation_ns(self.plan),
            "napi_defer_hard_irqs": DEFERRED,
        }

    def attach(self, network: Network) -> None:
        """Set the waiting times."""
        super().attach(network)
        for host in self._hosts:
            (SYSFS / host).mkdir(parents=True)
            # sysfs shows the ports of the network namespace in which it is mounted
            with network_namespace(network.pid(host)):
                system.mount("sysfs", "sysfs", str(SYSFS / host))
            for name, file in self._files(host).items():
                file.write_text(str(self._planned[name]), encoding="ascii")

    def read_back(self) -> dict[str, Any]:
        """Return the waiting times by host."""
        return {
            "moderation": {
                host: {
                    name: int(file.read_text(encoding="ascii"))
                    for name, file in self._files(host).items()
                }
                for host in self._hosts
            }
        }

    def differences(self, readback: Any) -> list[str]:
        """Compare the waiting times with the plan's."""
        return [
            f"{name} of {host} is {value}, not {self._planned[name]}"
            for host, values in readback["moderation"].items()
            for name, value in values.items()
            if value != self._planned[name]
        ]


DEVICES = (Moderation,)
