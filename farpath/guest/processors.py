"""Processors: the kernel module that stands for the processor of slow sending hosts."""

from __future__ import annotations

from pathlib import Path as FilePath

from farpath.spec.layout import Layout
from farpath.spec.plan import Plan
from farpath.spec.processor import HINTED_STACKS, ProcessorQueue
from farpath.spec.protocol import PROCESSOR_MODULE
from farpath.tools import modules

PARAMETERS = FilePath("/sys/module", PROCESSOR_MODULE, "parameters")
#: The headers of a full segment in bytes, with the timestamps that Linux sends.
HEADERS_BYTES = {4: 52, 6: 72}


def are_at(layout: Layout, site: int) -> bool:
    """Whether a host with such a processor is at a site."""
    return any(
        isinstance(port.queue, ProcessorQueue) and layout.site_of(port.node) == site
        for port in layout.ports
    )


def parameters(plan: Plan) -> dict[str, str]:
    """Return the module's parameters for a plan."""
    processor = plan.era.processor
    assert processor is not None
    hinted = [
        str(flow.port)
        for flow in plan.schedule.all_flows
        if plan.stack_of(flow).name in HINTED_STACKS
    ]
    return {
        "packet_ns": str(processor.packet_ns),
        "walk_ns": str(processor.walk_ns),
        "segment_bytes": str(plan.path.mtu_bytes - HEADERS_BYTES[plan.ip_version]),
        "backlog_packets": str(processor.backlog_packets),
        "throttle": "Y" if processor.throttles else "N",
        **({"hinted_ports": ",".join(hinted)} if hinted else {}),
    }


def load(plan: Plan, directory: FilePath) -> None:
    """Load the kernel module, without which tc knows no such qdisc."""
    modules.insert(directory, PROCESSOR_MODULE, parameters(plan))


def read_back(plan: Plan) -> dict[str, str]:
    """Return the parameters that the module has."""
    return {
        name: (PARAMETERS / name).read_text(encoding="ascii").strip() for name in parameters(plan)
    }


def differences(plan: Plan, values: dict[str, str]) -> list[str]:
    """Return what differs between a read-back and the plan, as sentences."""
    planned = parameters(plan)
    return [
        f"{name} of the hosts' processor is {value}, not {planned[name]}"
        for name, value in values.items()
        if value != planned[name]
    ]
