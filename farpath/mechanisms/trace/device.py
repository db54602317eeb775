"""Tracers: a tracer program at each sending host of a plan with a trace."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path as FilePath

from farpath.guest.device import Site
from farpath.guest.network import network_namespace
from farpath.guest.tick_program import TickDevice, TickProgram
from farpath.spec import trace
from farpath.spec.settings import VIRTUAL_CLOCK


class Tracers(TickDevice):
    """The tracers of a site's sending hosts."""

    @classmethod
    def is_at(cls, site: Site) -> bool:
        """Whether a site has a host with a tracer."""
        return any(site.has(host) for host in trace.hosts(site.plan))

    def start_programs(self) -> Iterator[TickProgram]:
        """Start the tracer of each host."""
        for host in trace.hosts(self.plan):
            if self.site.has(host):
                yield self._start(host, self.raw)

    def _start(self, host: str, raw: FilePath) -> TickProgram:
        flows = [flow for flow in trace.flows(self.plan) if flow.sender == host]
        address = self.network.address(flows[0].receiver)
        config = trace.tracer_config(
            self.plan,
            flows,
            file=str(raw / f"{host}{trace.SUFFIX}"),
            family=socket.AF_INET6 if ":" in address else socket.AF_INET,
            last_in_line=self.plan.settings.clock == VIRTUAL_CLOCK,
        )
        with network_namespace(self.network.pid(host)):
            return TickProgram(
                f"the tracer of {host}",
                "farpath.mechanisms.trace.guest.tracer",
                raw / f"{host}-tracer.err",
                config.to_json(),
            )


DEVICES = (Tracers,)
