"""Service run: runs the services of a deployment in a guest, and makes their record."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.base.errors import LabFailedError
from farpath.base.files import remove_directory, require_unicode, safe_name
from farpath.lab import machine_files
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.exec.program_run import Guest, play, time_warnings, with_remedy
from farpath.lab.provenance import images_identity, provenance
from farpath.lab.replacement import circumstances, whole_record
from farpath.record import idle_path
from farpath.record.replaced import FILES
from farpath.record.service_record import UP_FILE, ServiceEnd, UpEnding, write_service_record
from farpath.spec.plan import Plan
from farpath.spec.protocol import OUTPUT_DIR
from farpath.spec.services import VOLUMES_DIR, Services
from farpath.spec.site_clock import clock_start_ns
from farpath.spec.wire import as_wire

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class UpRun:
    """A run of services: its plan, the services, and what they read.

    ``directories``: of this machine, in the order of volumes' numbers. ``request``: the file as it
    was read, and the options, which the record keeps.
    """

    name: str
    plan: Plan
    services: Services
    directories: tuple[FilePath, ...]
    request: Mapping[str, Any]


@dataclass(frozen=True)
class UpOutcome:
    """The record of services: its directory, how they ended, and the fingerprint."""

    directory: FilePath
    ending: UpEnding
    fingerprint: str


def run_services(
    run: UpRun,
    out: FilePath,
    streams: Mapping[str, tuple[IO[bytes], IO[bytes]]],
    watch: Callable[[dict[str, Any]], None] = lambda _event: None,
    images: Images | None = None,
    wall_s: float = math.inf,
) -> UpOutcome:
    """Run services, make the record under ``out``, and return how they ended.

    ``streams``: where output and messages of a service go as they appear, by its name. ``watch``:
    called with every event. ``wall_s``: their longest real time. Raises the errors of the lab and
    its checks; only the console's log is left then. Raises WallTimeoutError after ``wall_s``; the
    output so far is left too.
    """
    images = images or find_images()
    require_unicode(str(out))
    name = record_name(run, images)
    with whole_record(out, name, UP_FILE) as (partial, log):
        kept = out / f"{name}.output"
        remove_directory(kept)
        try:
            ending, stamp = _fill(partial, run, images, streams, watch, wall_s, log, kept)
        except LabFailedError as error:
            raise with_remedy(error, run.services.memory_bytes) from error
    return UpOutcome(out / name, ending, stamp)


def record_name(run: UpRun, images: Images) -> str:
    """Return the name of a record's directory: the same for the same request."""
    parts = [run.plan.as_dict(), as_wire(run.services), images_identity(run.plan, images)]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]
    return f"up-{safe_name(run.name)}-seed{run.plan.seed}-{digest}"


def files_read(run: UpRun, out: FilePath) -> dict[str, str | None]:
    """Return digests of files that services can read, without the directory of records."""
    return machine_files.service_digests(run.services, run.directories, [out])


def _fill(
    partial: FilePath,
    run: UpRun,
    images: Images,
    streams: Mapping[str, tuple[IO[bytes], IO[bytes]]],
    watch: Callable[[dict[str, Any]], None],
    wall_s: float,
    log: FilePath,
    kept: FilePath,
) -> tuple[UpEnding, str]:
    """Run the services and write their record; return how they ended, and the fingerprint."""
    found: dict[str, idle_path.IdleRtt] = {}
    ends: list[Mapping[str, Any]] = []

    def check_and_watch(event: dict[str, Any]) -> None:
        if event["event"] == "idle-pings":
            for name, output in event["outputs"].items():
                found[name] = idle_path.check_base_rtt(output, run.plan, name)
        if event["event"] == "services-ended":
            ends.append(event)
        watch(event)

    files = files_read(run, partial.parent)
    outputs = {
        f"{name}.{suffix}": stream
        for name, both in streams.items()
        for suffix, stream in zip(("out", "err"), both, strict=True)
    }
    guest = Guest(
        *(run.plan, images, run.services, outputs, log, kept, wall_s),
        called="services",
        clock_start_ns=clock_start_ns(run.plan, run.services),
    )

    def prepare(place: FilePath) -> None:
        (place / VOLUMES_DIR).mkdir()
        for number, directory in enumerate(run.directories):
            (place / VOLUMES_DIR / str(number)).symlink_to(directory.resolve())

    with play(guest, check_and_watch, prepare) as (place, raw):
        ending = _ending(ends, run.services)
        idle = {name: found[name] for name in run.plan.idle_pings}
        warnings = [*raw.warnings, *idle_path.idle_warnings(idle)]
        user_time = _user_time([end["user_time"] for end in ends])
        warnings += time_warnings(user_time)
        for warning in warnings:
            LOG.warning(warning)
        stamp = write_service_record(
            *(partial, run.plan, run.services, ending, place / OUTPUT_DIR, raw.raw, run.request),
            provenance={**provenance(images, run.plan), FILES: files, **circumstances(raw)},
            readback={**raw.readback, **idle_path.idle_rtts(idle), "user_time": user_time},
            warnings=warnings,
        )
    return ending, stamp


def _ending(ends: Sequence[Mapping[str, Any]], services: Services) -> UpEnding:
    """Return how services ended, of what each guest says of its own."""
    found = {name: ServiceEnd(**end) for one in ends for name, end in one["services"].items()}
    (main,) = (one for one in ends if services.main in one["services"])
    return UpEnding(
        main["status"],
        main["took_s"],
        {service.name: found[service.name] for service in services.services},
        tuple(map(merged_notes, zip(*(one["faults"] for one in ends), strict=True))),
        sum(one["killed_for_memory"] for one in ends),
    )


def merged_notes(notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what guests noted of one fault as one note: a fault takes effect with its last part.

    >>> merged_notes([{"began_s": 1.5, "found": {"eu>us": 1}}, {"began_s": 2.0, "found": {}}, {}])
    {'began_s': 2.0, 'found': {'eu>us': 1}}
    """
    merged: dict[str, Any] = {}
    for note in notes:
        for name, value in note.items():
            if isinstance(value, dict):
                merged[name] = {**merged.get(name, {}), **value}
            elif name == "dropped_packets":
                merged[name] = merged.get(name, 0) + value
            else:
                merged[name] = max(merged.get(name, value), value)
    return merged


def _user_time(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what all guests found of their programs' time as one."""
    freed = sum(one.get("freed", 0) for one in found)
    return {
        "tsc_virtual": all(one["tsc_virtual"] for one in found),
        "lookers": [looker for one in found for looker in one["lookers"]],
        **({"freed": freed} if freed else {}),
    }
