"""Deployments of this machine's own Python programs, without a file, and their runs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from farpath.lab.exec.service_roots import found_services
from farpath.lab.exec.service_run import run_services
from farpath.planning.deployment import MACHINE, Deployment, ServiceRequest, SiteLink
from farpath.record.service_record import ServiceRecord, load_service_record
from farpath.runs.service_runs import up_run
from farpath.spec.user_network import Shaping

#: A server that answers each connection with its host's name and a line of what it got.
ECHO = """
import socket
server = socket.create_server(("", 9000))
while True:
    connection, _ = server.accept()
    with connection:
        connection.sendall(socket.gethostname().encode() + b" " + connection.recv(100))
"""


def service(name: str, code: str, *arguments: str, **more: Any) -> ServiceRequest:
    """A service that runs Python code."""
    command = ("python3", "-uc", code, *arguments)
    return ServiceRequest(name, MACHINE, (name,), command=command, **more)


def link(one: str, other: str, rtt_ms: float, **shaping: Any) -> SiteLink:
    """A link that is alike in both directions."""
    both = Shaping(delay_ms=rtt_ms / 2, **shaping)
    return SiteLink(one, other, both, both)


def deployment(
    services: Sequence[ServiceRequest],
    sites: Mapping[str, Sequence[str]],
    links: Sequence[SiteLink] = (),
    **more: Any,
) -> Deployment:
    """A deployment whose last service is the main one."""
    given = {name: tuple(members) for name, members in sites.items()}
    wanted = Deployment("test", tuple(services), given, tuple(links), services[-1].name)
    return replace(wanted, **{"timeout_s": 60.0, **more})


def run_up(asked: Deployment, out: FilePath) -> tuple[ServiceRecord, str]:
    """Run a deployment; return its record, and what its main service printed."""
    run = up_run(asked, found_services(asked))
    printed, said = io.BytesIO(), io.BytesIO()
    outcome = run_services(run, out, {asked.main: (printed, said)})
    record = load_service_record(outcome.directory)
    assert record.fingerprint == outcome.fingerprint
    assert said.getvalue() == (outcome.directory / f"{asked.main}.err").read_bytes()
    return record, printed.getvalue().decode()
