"""Service record: the output of services, and the state of the links between their sites.

It is a directory with ``up.json``, ``NAME.out`` and ``NAME.err`` of each service, and the tables
``pings``, ``queues`` and ``connections`` as Parquet. ``up.json`` is written last.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError, LabFailedError
from farpath.base.frames import add_to_hash, read_frame, typed_frame
from farpath.record.description import write_description
from farpath.record.program_record import (
    CONNECTION_COLUMNS,
    CONSOLE_LOG,
    add_files,
    host_connections,
    read_raw,
)
from farpath.record.record import COLUMNS as SAMPLE_COLUMNS
from farpath.record.record import ping_rows
from farpath.record.record_directory import (
    RecordDirectory,
    directories_with,
    require_tables,
    table_file,
    write_tables,
)
from farpath.spec.plan import Plan
from farpath.spec.services import Services
from farpath.spec.site_network import plan_of_sites
from farpath.spec.wire import as_wire, from_wire
from farpath.tools import ping, tc
from topologies.sites import both_steps, network_of, shaping_ports, site_links, site_switches

if TYPE_CHECKING:
    import pandas as pd

FORMAT_VERSION = 1
UP_FILE = "up.json"
#: Columns of the tables: pings between two sites, the queue of each direction of a link by its two
#: sites, and TCP connections by the service at this end.
_QUEUE_NUMBERS = ("backlog_bytes", "backlog_packets", "drops", "bytes")
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "pings": {"sites": "str", **SAMPLE_COLUMNS["ping"]},
    "queues": {"link": "str", "t_s": "float", **dict.fromkeys(_QUEUE_NUMBERS, "int")},
    "connections": CONNECTION_COLUMNS,
}


@dataclass(frozen=True)
class ServiceEnd:
    """How a service ended: its last status, how often it started, and its last end by itself.

    ``status``: None if it never ran. ``ended_s``: virtual s since the first start; None if it ran
    until the end.
    """

    status: int | None
    starts: int
    ended_s: float | None


@dataclass(frozen=True)
class UpEnding:
    """How a run of services ended.

    ``status``: of the main service, or 124. ``took_s``: virtual s. ``services``: by name.
    ``faults``: what was read back of each, in their order. ``killed_for_memory``: how many
    processes the kernel killed because all services together took more memory than they have.
    """

    status: int
    took_s: float
    services: Mapping[str, ServiceEnd]
    faults: tuple[Mapping[str, Any], ...] = ()
    killed_for_memory: int = 0


def _links(plan: Plan, services: Services) -> dict[str, str]:
    """Return the link of each bottleneck's port, as ``eu>us``."""
    network = network_of(plan)
    sites = {switch: site for site, switch in site_switches(network, services.probes).items()}
    links = site_links(plan, network)
    return {
        port: f"{sites[step.start]}>{sites[step.end]}"
        for cable in links
        for step in both_steps(cable)
        if (port := shaping_ports(links, step)[1])
    }


def tables(raw_dir: FilePath, plan: Plan, services: Services) -> dict[str, pd.DataFrame]:
    """Build the tables of ``COLUMNS`` from a lab's raw output; raises LabFailedError."""
    import pandas as pd

    sites = {probe: site for site, probe in services.probes.items()}
    pings, queues = [], []
    for name, (one, other) in plan.idle_pings.items():
        title = f"{sites[one]}-{sites.get(other, services.services[0].name)}"
        found = ping.parse(read_raw(raw_dir / f"ping-{name}.out").decode())
        rows = ping_rows(found, plan.settings.ping_interval_s)
        pings += [(title, *row) for row in rows]
    for port, link in _links(plan, services).items():
        samples = tc.parse_samples(read_raw(raw_dir / f"queue-{port}.txt").decode())
        names = ("t_s", *_QUEUE_NUMBERS)
        queues += [(link, *(getattr(sample, name) for name in names)) for sample in samples]
    parts = [
        frame
        for service in services.services
        for frame in host_connections(raw_dir, plan, service.host, service.name)
    ]
    return {
        "pings": typed_frame(COLUMNS["pings"], pings),
        "queues": typed_frame(COLUMNS["queues"], queues),
        "connections": pd.concat(parts, ignore_index=True)
        if parts
        else typed_frame(CONNECTION_COLUMNS, []),
    }


def fingerprint(directory: FilePath, ending: UpEnding, frames: Mapping[str, pd.DataFrame]) -> str:
    """Return the SHA-256 over the services' ends, the faults, all output and all tables."""
    digest = hashlib.sha256(f"status {ending.status}\ntook_s {ending.took_s!r}\n".encode())
    for name, end in ending.services.items():
        digest.update(f"{name} {end.status} {end.starts} {end.ended_s!r}\n".encode())
    for fault in ending.faults:
        digest.update(json.dumps(fault, sort_keys=True).encode() + b"\n")
    add_files(digest, directory, {UP_FILE, CONSOLE_LOG, *(f"{name}.parquet" for name in COLUMNS)})
    for name, columns in COLUMNS.items():
        add_to_hash(digest, name, columns, frames[name])
    return digest.hexdigest()


def write_service_record(
    directory: FilePath,
    plan: Plan,
    services: Services,
    ending: UpEnding,
    output: FilePath,
    raw_dir: FilePath,
    request: Mapping[str, Any],
    provenance: Mapping[str, Any],
    readback: Mapping[str, Any],
    warnings: Sequence[str],
) -> str:
    """Write a record into a fresh directory, which the caller renames; return its fingerprint.

    ``output``: directory of the services' output. ``request``: the file as it was read, and the
    options.
    """
    shutil.copytree(output, directory, dirs_exist_ok=True)
    frames = tables(raw_dir, plan, services)
    stamp = fingerprint(directory, ending, frames)
    write_tables(directory, frames)
    data = {
        "format_version": FORMAT_VERSION,
        "plan": plan.as_dict(),
        "services": as_wire(services),
        "ending": dataclasses.asdict(ending),
        "request": dict(request),
        "provenance": dict(provenance),
        "readback": dict(readback),
        "warnings": list(warnings),
        "fingerprint": stamp,
    }
    write_description(directory / UP_FILE, data)
    return stamp


@dataclass(frozen=True)
class ServiceRecord(RecordDirectory):
    """A record of services."""

    DESCRIPTION = UP_FILE
    FORMAT = FORMAT_VERSION
    REMEDY = "the record was changed; run the command again"

    @cached_property
    def plan(self) -> Plan:
        """The plan, whose network has sites."""
        return plan_of_sites(self.data["plan"])

    @cached_property
    def services(self) -> Services:
        """The services and their surroundings."""
        return from_wire(Services, self.data["services"])

    @cached_property
    def ending(self) -> UpEnding:
        """How the run ended."""
        ending = self.data["ending"]
        ends = {name: ServiceEnd(**end) for name, end in ending["services"].items()}
        # JSON of a mapping has its keys in order; those of the file are the services'
        ordered = {one.name: ends[one.name] for one in self.services.services}
        return UpEnding(**{**ending, "services": ordered, "faults": tuple(ending["faults"])})

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables, read at first use and checked by the fingerprint.

        Raises CheckFailedError if they or the output were changed.
        """
        frames = {
            name: read_frame(table_file(self.directory, name), columns, None)
            for name, columns in COLUMNS.items()
        }
        self.check_fingerprint(fingerprint(self.directory, self.ending, frames))
        return frames


def service_records_in(directory: FilePath) -> list[FilePath]:
    """Return the directories of records of services in a directory, but none in the making."""
    return directories_with(directory, UP_FILE)


def load_service_record(directory: FilePath) -> ServiceRecord:
    """Load the record of services in a directory.

    Raises BadInputError if it lacks a file or has a damaged up.json, and CheckFailedError if a file
    that the fingerprint covers was changed.
    """
    require_tables(directory, COLUMNS, ServiceRecord.REMEDY)
    record = ServiceRecord(directory, ServiceRecord.read(directory, check_description))
    _ = record.tables
    return record


def check_description(data: Mapping[str, Any]) -> None:
    """Raise BadInputError for a description that no run of services has written."""
    try:
        plan_of_sites(data["plan"])
        services = from_wire(Services, data["services"])
        ends = {name: ServiceEnd(**end) for name, end in data["ending"]["services"].items()}
        known = {one.name for one in services.services}
        if set(ends) != known or not isinstance(data["fingerprint"], str):
            raise BadInputError(problem="its services and their ends are not the same")
        _ = data["provenance"]["recorded_at"], data["request"]["file"], data["warnings"]
    except (KeyError, TypeError, ValueError, AttributeError, LabFailedError) as error:
        raise BadInputError(problem=f"a field is missing or wrong: {error}") from error
