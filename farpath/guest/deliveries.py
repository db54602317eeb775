"""Deliveries: the kernel module of a link that sends at the times of a trace."""

from __future__ import annotations

import struct
from pathlib import Path as FilePath

from farpath.guest.network import Network
from farpath.spec.deliveries import OPPORTUNITY_BYTES, DeliveryBottleneck
from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.protocol import DELIVERIES_MODULE
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", DELIVERIES_MODULE, "parameters")
#: Where the guest writes the trace for the module.
TRACE_FILE = FilePath("/tmp/deliveries")


def are_at(layout: Layout, site: int) -> bool:
    """Whether such a link begins at a site."""
    return any(
        isinstance(port.queue, DeliveryBottleneck) and layout.site_of(port.node) == site
        for port in layout.ports
    )


def load(plan: Plan, directory: FilePath) -> None:
    """Load the kernel module, without which tc knows no such qdisc."""
    times_ms = plan.path.rate_trace
    TRACE_FILE.write_bytes(struct.pack(f"={len(times_ms)}I", *times_ms))
    path = plan.path
    values = {
        "file": str(TRACE_FILE),
        "opportunity_bytes": OPPORTUNITY_BYTES,
        "limit_bytes": path.buffer_bytes,
        "limit_packets": path.buffer_packets,
    }
    modules.insert(directory, DELIVERIES_MODULE, values)


def begin(network: Network, epoch_ns: int) -> None:
    """Let the trace begin at a time of the monotonic clock; before it, nothing is held back."""
    if are_at(network.layout, network.site):
        (PARAMETERS / "start_ns").write_text(str(epoch_ns), encoding="ascii")


def _planned(plan: Plan) -> dict[str, int]:
    return {
        "opportunity_bytes": OPPORTUNITY_BYTES,
        "limit_bytes": plan.path.buffer_bytes,
        "limit_packets": plan.path.buffer_packets,
        "opportunities": len(plan.path.rate_trace),
        "period_ms": plan.path.rate_trace[-1],
    }


def read_back(plan: Plan) -> dict[str, str]:
    """Return the parameters that the module has."""
    return {
        name: (PARAMETERS / name).read_text(encoding="ascii").strip() for name in _planned(plan)
    }


def differences(plan: Plan, values: dict[str, str]) -> list[str]:
    """Return what differs between a read-back and the plan, as sentences."""
    return [
        f"{name} of the trace's link is {values.get(name)}, not {planned}"
        for name, planned in _planned(plan).items()
        if values.get(name) != str(planned)
    ]
