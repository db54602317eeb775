"""Far links: this site's ends of the links to other sites, and when all sites are done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.device import Device, Site
from farpath.spec.protocol import FAR_LINK_FILE, FAR_LINK_MODULE
from farpath.spec.sites import discards_payload, far_ends
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", FAR_LINK_MODULE, "parameters")
#: Time between two looks whether all sites are done, in virtual s.
LOOK_S = 0.05


class FarLinks(Device):
    """The kernel module of far links (images/kernel/devices), which makes their ports."""

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether the plan has several sites."""
        return bool(site.layout.far_links)

    def load(self) -> None:
        """Load the module."""
        ends = far_ends(self.site.layout, self.site.number)
        flows = self.plan.schedule.all_flows
        discarding = [flow.port for flow in flows if discards_payload(self.plan, flow)]
        values = {
            "file": FAR_LINK_FILE,
            "site": self.site.number,
            "devices": ",".join(end.port.name for end in ends),
            "out": ",".join(str(end.sends_to) for end in ends),
            "in": ",".join(str(end.receives_from) for end in ends),
            "delay_ns": ",".join(str(end.delay_ns) for end in ends),
        }
        if discarding:
            values["unread_ports"] = ",".join(str(port) for port in discarding)
        modules.insert(self.site.modules, FAR_LINK_MODULE, values)

    def read_back(self) -> dict[str, Any]:
        """Return the delay in s of what arrives at each of this site's ends, by port."""
        devices, delays_ns = (
            (PARAMETERS / name).read_text(encoding="ascii").strip().split(",")
            for name in ("devices", "delay_ns")
        )
        pairs = zip(devices, delays_ns, strict=True)
        return {"far_delays_s": {device: int(delay_ns) / 1e9 for device, delay_ns in pairs}}

    def differences(self, readback: Mapping[str, Any]) -> list[str]:
        """Compare the delays with the layout's."""
        delays_s, ends = readback["far_delays_s"], far_ends(self.site.layout, self.site.number)
        planned = {end.port.name: end.delay_ns / 1e9 for end in ends}
        if delays_s == planned:
            return []
        return [f"far links delay what arrives by {delays_s} s, planned are {planned}"]

    def end(self) -> None:
        """Tell the other sites that this one's programs have ended, and wait until theirs have.

        Far links carry packets until then, and none afterwards.
        """
        (PARAMETERS / "done").write_text("1", encoding="ascii")
        while (PARAMETERS / "over").read_text(encoding="ascii").strip() != "Y":
            time.sleep(LOOK_S)
