"""Changing links: a link that sends at the times of a trace, and changes of rates and delays."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.device import Device, Moments, Site
from farpath.guest.link_changes import LinkChanges
from farpath.spec.deliveries import OPPORTUNITY_BYTES
from farpath.spec.protocol import DELIVERIES_MODULE
from farpath.spec.qdiscs import DeliveryBottleneck, changes_of
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", DELIVERIES_MODULE, "parameters")
#: Where the guest writes the trace for the module.
TRACE_FILE = FilePath("/tmp/deliveries")


class Deliveries(Device):
    """The kernel module of a link that sends at the times of a trace."""

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether such a link begins at a site."""
        return site.has_queue(DeliveryBottleneck)

    def load(self) -> None:
        """Load the module, without which tc knows no such qdisc."""
        times_ms = self.plan.path.rate_trace
        TRACE_FILE.write_bytes(struct.pack(f"={len(times_ms)}I", *times_ms))
        values = {"file": str(TRACE_FILE), **self._limits()}
        modules.insert(self.site.modules, DELIVERIES_MODULE, values)

    def _limits(self) -> dict[str, int]:
        return {
            "opportunity_bytes": OPPORTUNITY_BYTES,
            "limit_bytes": self.plan.path.buffer_bytes,
            "limit_packets": self.plan.path.buffer_packets,
        }

    def _planned(self) -> dict[str, int]:
        times_ms = self.plan.path.rate_trace
        return {**self._limits(), "opportunities": len(times_ms), "period_ms": times_ms[-1]}

    def read_back(self) -> dict[str, Any]:
        """Return the parameters that the module has."""
        names = self._planned()
        values = {name: (PARAMETERS / name).read_text(encoding="ascii").strip() for name in names}
        return {"deliveries": values}

    def differences(self, readback: Mapping[str, Any]) -> list[str]:
        """Compare the parameters with the plan's."""
        values = readback["deliveries"]
        return [
            f"{name} of the trace's link is {values.get(name)}, not {planned}"
            for name, planned in self._planned().items()
            if values.get(name) != str(planned)
        ]

    def begin(self, epoch_ns: int) -> None:
        """Let the trace begin with the schedule; before it, nothing is held back."""
        (PARAMETERS / "start_ns").write_text(str(epoch_ns), encoding="ascii")


class ChangedLinks(Device):
    """The ports whose qdiscs change in a run."""

    changes: LinkChanges

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a port of a site changes."""
        return any(changes_of(port.queue) and site.has(port.node) for port in site.layout.ports)

    def start(self, raw: FilePath) -> None:
        """Start a tc for each port."""
        self.changes = LinkChanges(self.network, raw)

    def moments(self, epoch_ns: int) -> Moments:
        """Return when each port changes."""
        return self.changes.moments(epoch_ns)

    def stop(self) -> None:
        """End all tc, and write their answers."""
        self.changes.end()


DEVICES = (Deliveries, ChangedLinks)
