"""The benchmark of services: a guest for each site of a mesh against one guest, side by side."""

from __future__ import annotations

import dataclasses
import tempfile
from itertools import combinations
from pathlib import Path as FilePath
from typing import Any

from benchmarks.lab.figure import Figure, ratio
from farpath.lab.exec.service_roots import found_services
from farpath.lab.exec.service_run import run_services
from farpath.lab.machine import available_cores
from farpath.planning.deployment import MACHINE, Deployment, ServiceRequest, SiteLink
from farpath.record.service_record import load_service_record
from farpath.runs.service_runs import up_run
from farpath.spec.user_network import Shaping

#: Sites of the meshes, each of which has a link to every other.
SITES = (3, 5, 8)
#: How long each site sends to the next one, in virtual s; rounds, of which the fastest counts.
SENDING_S, ROUNDS = 10.0, 2
#: Memory of the services of each guest.
MEMORY_BYTES = 256 << 20
#: Of each link; its delay is from 20 ms on, and more for a later pair.
RATE_BPS, BUFFER_PACKETS, LEAST_DELAY_MS, STEP_MS = 100_000_000, 1000, 20.0, 5.0
#: Sends to a neighbour, takes what the other neighbour sends, and ends in time.
_SITE = """
import socket, sys, threading, time
end_s = time.monotonic() + float(sys.argv[1])
server = socket.create_server(("", 9000))
def take():
    connection, _ = server.accept()
    while connection.recv(1 << 20):
        pass
threading.Thread(target=take, daemon=True).start()
time.sleep(0.5)
with socket.create_connection((sys.argv[2], 9000)) as out:
    while time.monotonic() < end_s:
        out.sendall(bytes(1 << 16))
"""


def mesh(sites: int, guest_per_site: bool) -> Deployment:
    """Return sites with links between all, each of which sends to the next one."""
    names = [f"n{number}" for number in range(sites)]
    services = tuple(
        ServiceRequest(
            *(name, MACHINE, (name,)),
            command=("python3", "-c", _SITE, f"{SENDING_S:g}", names[(number + 1) % sites]),
        )
        for number, name in enumerate(names)
    )
    links = []
    for number, (one, other) in enumerate(combinations(names, 2)):
        delay_ms = LEAST_DELAY_MS + STEP_MS * number
        shaping = Shaping(RATE_BPS, BUFFER_PACKETS, delay_ms)
        links.append(SiteLink(f"site-{one}", f"site-{other}", shaping, shaping))
    return Deployment(
        name=f"mesh-{sites}",
        services=services,
        sites={f"site-{name}": (name,) for name in names},
        links=tuple(links),
        main=names[0],
        guest_per_site=guest_per_site,
    )


def _cost(asked: Deployment, folder: FilePath) -> dict[str, Any]:
    """Run a mesh, and return what its record says that it cost."""
    run = up_run(asked, found_services(asked), MEMORY_BYTES)
    outcome = run_services(run, folder, {})
    cost: dict[str, Any] = load_service_record(outcome.directory).data["provenance"]["cost"]
    return cost


def service_figures() -> dict[str, Figure]:
    """Measure meshes in one guest and in several by turns, and project for a core each."""
    figures = {}
    with tempfile.TemporaryDirectory(prefix="farpath-bench-") as name:
        for sites in SITES:
            one, many = mesh(sites, guest_per_site=False), mesh(sites, guest_per_site=True)
            costs: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
            for _ in range(ROUNDS):
                for asked in (one, many):
                    costs[asked.guest_per_site].append(_cost(asked, FilePath(name)))
            in_one, in_many = (
                min(found, key=lambda cost: float(cost["wall_s"])) for found in costs.values()
            )
            title = f"services at {sites} sites, a guest each"
            how = (
                f"a mesh of links of {RATE_BPS / 1e6:g} Mbit/s from {LEAST_DELAY_MS:g} ms on, each "
                f"site sends to the next for {SENDING_S:g} virtual s; whole runs, "
                f"{in_one['wall_s']:.1f} s in one guest and {in_many['wall_s']:.1f} s in {sites}, "
                f"CPU time {in_one['cpu_s']:.1f} s and {in_many['cpu_s']:.1f} s"
            )
            figures[f"services_{sites}"] = Figure(
                f"{title}, {available_cores()} cores, against one guest",
                ratio(in_one["wall_s"], in_many["wall_s"]),
                *("x", None, f"{how}; the fastest of {ROUNDS} by turns"),
            )
            projected = Figure(
                f"{title}, {sites} cores, projected",
                ratio(in_one["wall_s"], in_many["critical_cpu_s"]),
                *("x", None),
                f"{how}; by the longest chain of CPU time of kernels that wait, without that of "
                "programs: a bound from above",
            )
            figures[f"services_{sites}_projected"] = dataclasses.replace(projected, estimated=True)
    return figures
