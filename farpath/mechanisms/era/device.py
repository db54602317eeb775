"""Processors: the kernel module that stands for the processor of slow sending hosts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.device import Device, Site
from farpath.spec.processor import ProcessorQueue
from farpath.spec.protocol import PROCESSOR_MODULE
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", PROCESSOR_MODULE, "parameters")
#: The headers of a full segment in bytes, with the timestamps that Linux sends.
HEADERS_BYTES = {4: 52, 6: 72}


class Processors(Device):
    """The processor of the sending hosts, of which all are alike."""

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a host with such a processor is at a site."""
        return site.has_queue(ProcessorQueue)

    def _parameters(self) -> dict[str, str]:
        """Return the module's parameters for the plan."""
        plan, processor = self.plan, self.plan.era.processor
        assert processor is not None
        hinted = [
            str(flow.port)
            for flow in plan.schedule.all_flows
            if processor.remembers_walks(plan.stack_of(flow).name)
        ]
        return {
            "packet_ns": str(processor.packet_ns),
            "walk_ns": str(processor.walk_ns),
            "segment_bytes": str(plan.path.mtu_bytes - HEADERS_BYTES[plan.ip_version]),
            "backlog_packets": str(processor.backlog_packets),
            "throttle": "Y" if processor.throttles else "N",
            **({"hinted_ports": ",".join(hinted)} if hinted else {}),
        }

    def load(self) -> None:
        """Load the module, without which tc knows no such qdisc."""
        modules.insert(self.site.modules, PROCESSOR_MODULE, self._parameters())

    def read_back(self) -> dict[str, Any]:
        """Return the parameters that the module has."""
        names = self._parameters()
        values = {name: (PARAMETERS / name).read_text(encoding="ascii").strip() for name in names}
        return {"processor": values}

    def differences(self, readback: Mapping[str, Any]) -> list[str]:
        """Compare the parameters with the plan's."""
        planned = self._parameters()
        return [
            f"{name} of the hosts' processor is {value}, not {planned[name]}"
            for name, value in readback["processor"].items()
            if value != planned[name]
        ]


DEVICES = (Processors,)
