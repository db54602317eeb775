"""Far links: this site's ends of the links to other sites, and when all sites are done."""

from __future__ import annotations

import time
from pathlib import Path as FilePath

from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import FAR_LINK_FILE, site_modules
from farpath.spec.sites import discards_payload, far_ends
from farpath.tools.commands import run

MODULE = "farlink"
PARAMETERS = FilePath("/sys/module", MODULE, "parameters")
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
    module = share / site_modules(site) / f"{MODULE}.ko"
    run("insmod", str(module), *(f"{name}={value}" for name, value in values.items()))


def wait_for_all_sites() -> None:
    """Tell the other sites that this one's programs have ended, and wait until theirs have.

    Far links carry packets until then, and none afterwards.
    """
    (PARAMETERS / "done").write_text("1", encoding="ascii")
    while (PARAMETERS / "over").read_text(encoding="ascii").strip() != "Y":
        time.sleep(LOOK_S)
