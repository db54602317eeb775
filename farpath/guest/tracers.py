"""Tracers: starts a tracer program at each sending host of a plan with a trace."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path as FilePath

from farpath.guest.network import Network, network_namespace
from farpath.guest.tick_program import TickProgram
from farpath.spec import trace
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL_CLOCK


def start_tracers(plan: Plan, network: Network, raw: FilePath) -> Iterator[TickProgram]:
    """Start the tracer of each sending host at this site; there are none without a trace.

    ``raw``: where they write.
    """
    for host in trace.hosts(plan):
        if network.has(host):
            yield _start(host, plan, network, raw)


def _start(host: str, plan: Plan, network: Network, raw: FilePath) -> TickProgram:
    flows = [flow for flow in trace.flows(plan) if flow.sender == host]
    address = network.address(flows[0].receiver)
    config = trace.tracer_config(
        plan,
        flows,
        file=str(raw / f"{host}{trace.SUFFIX}"),
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        last_in_line=plan.settings.clock == VIRTUAL_CLOCK,
    )
    with network_namespace(network.pid(host)):
        return TickProgram(
            f"the tracer of {host}",
            "farpath.guest.tracer",
            raw / f"{host}-tracer.err",
            config.to_json(),
        )
