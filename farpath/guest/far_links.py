"""Far links: this site's ends of the links to other sites, and when all sites are done."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path as FilePath

from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import FAR_LINK_FILE, FAR_LINK_MODULE, site_modules
from farpath.spec.sites import discards_payload, far_ends
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", FAR_LINK_MODULE, "parameters")
#: Time between two looks whether all sites are done, in virtual s.
LOOK_S = 0.05


def load(plan: Plan, layout: Layout, site: int, share: FilePath) -> None:
    """Load the kernel module of far links (images/kernel/devices), which makes their ports."""
    ends = far_ends(layout, site)
    discarding = [flow.port for flow in plan.schedule.all_flows if discards_payload(plan, flow)]
    values = {
        "file": FAR_LINK_FILE,
        "site": site,
        "devices": ",".join(end.port.name for end in ends),
        "out": ",".join(str(end.sends_to) for end in ends),
        "in": ",".join(str(end.receives_from) for end in ends),
        "delay_ns": ",".join(str(end.delay_ns) for end in ends),
    }
    if discarding:
        values["unread_ports"] = ",".join(str(port) for port in discarding)
    modules.insert(share / site_modules(site), FAR_LINK_MODULE, values)


def read_back() -> dict[str, float]:
    """Return the delay in s of what arrives at each of this site's ends of far links, by port."""
    devices, delays_ns = (
        (PARAMETERS / name).read_text(encoding="ascii").strip().split(",")
        for name in ("devices", "delay_ns")
    )
    return {
        device: int(delay_ns) / 1e9 for device, delay_ns in zip(devices, delays_ns, strict=True)
    }


def differences(layout: Layout, site: int, delays_s: Mapping[str, float]) -> list[str]:
    """Return what differs between a read-back and the layout, as sentences."""
    planned = {end.port.name: end.delay_ns / 1e9 for end in far_ends(layout, site)}
    if delays_s == planned:
        return []
    return [f"far links delay what arrives by {dict(delays_s)} s, planned are {planned}"]


def wait_for_all_sites() -> None:
    """Tell the other sites that this one's programs have ended, and wait until theirs have.

    Far links carry packets until then, and none afterwards.
    """
    (PARAMETERS / "done").write_text("1", encoding="ascii")
    while (PARAMETERS / "over").read_text(encoding="ascii").strip() != "Y":
        time.sleep(LOOK_S)
