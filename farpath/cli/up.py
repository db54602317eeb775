"""``farpath up``: runs the services of a compose file over a WAN of sites."""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import threading
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path as FilePath
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from farpath.base.files import require_directory, require_replaceable, write_text
from farpath.cli.logs import print_warnings
from farpath.cli.shared_options import RESULTS, Cores, RecordsDir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from farpath.lab.exec.service_run import UpOutcome, UpRun
    from farpath.planning.deployment import Deployment

LOG = logging.getLogger(__name__)
#: Defaults of memory and largest output, and of the time between samples.
DEFAULT_SIZE, DEFAULT_SAMPLE = "1GiB", "100ms"
#: What an event of the lab says of a service.
_WORDS = {
    "service-started": "starts",
    "service-healthy": "is healthy",
    "service-unhealthy": "is unhealthy",
}


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("up")(up)


def up(
    file: Annotated[
        FilePath, typer.Argument(help="A compose file, or a topology of containerlab.")
    ] = FilePath("compose.yml"),
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of all random numbers (default: the file's, or 1)."),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAULT",
            help="A fault beside the file's: partition:eu-us,at=12s,for=5s or kill:db,at=3s..9s; "
            "several.",
        ),
    ] = None,
    no_faults: Annotated[
        bool, typer.Option("--no-faults", help="Leave out the faults of the file.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Seek a run that fails among those of N seeds, from --seed on."
        ),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Make the runs of all seeds, also after a failure.")
    ] = False,
    shrink: Annotated[
        bool,
        typer.Option(
            "--shrink", help="Seek the fewest of the faults with which the run of a seed fails."
        ),
    ] = False,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory for services and what they write.")
    ] = DEFAULT_SIZE,
    output_limit: Annotated[
        str,
        typer.Option(
            metavar="SIZE", help="Largest output of a service, and largest file that it writes."
        ),
    ] = DEFAULT_SIZE,
    sample: Annotated[
        str, typer.Option(metavar="TIME", help="Time between two samples of queues.")
    ] = DEFAULT_SAMPLE,
    guest_per_site: Annotated[
        bool,
        typer.Option(
            "--guest-per-site",
            help="Give each site a kernel of its own, and a core, where its links are long enough.",
        ),
    ] = False,
    wall_timeout: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Longest run in real time, as in 5min; status 124."),
    ] = None,
    main_alone: Annotated[
        bool,
        typer.Option(
            "--main-alone", help="Print the output of the main service alone, as it wrote it."
        ),
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the result as one JSON object; the record has the output."
        ),
    ] = False,
    junit: Annotated[
        FilePath | None, typer.Option(metavar="FILE", help="File for the result as JUnit XML.")
    ] = None,
    cores: Cores = None,
    out: RecordsDir = RESULTS,
) -> None:
    """Run the services of a compose file over a WAN of sites, with faults, in virtual time.

    Sites and the links between them stand in the file below x-farpath. The status is that of the
    main service, whose end ends the run. Images are those of a local engine, tars, or `machine`:
    this machine's own programs. With --seeds it seeks a seed whose run fails, on all cores, and the
    same command continues.
    """
    from farpath.lab.artifacts.user_topologies import user_network
    from farpath.lab.exec.service_roots import found_services
    from farpath.mechanisms import quantities
    from farpath.planning.deployment_files import read_deployment
    from farpath.planning.program_plan import MEMORY_BYTES_RANGE, OUTPUT_BYTES_RANGE
    from farpath.runs.service_runs import up_run
    from farpath.spec.programs import TIMEOUT_S_RANGE

    wall_s = math.inf
    if wall_timeout is not None:
        wall_s = quantities.DURATION_S.parse(wall_timeout, "wall_timeout", TIMEOUT_S_RANGE)
    memory_bytes = quantities.SIZE_BYTES.parse(memory, "memory", MEMORY_BYTES_RANGE)
    output_bytes = quantities.SIZE_BYTES.parse(output_limit, "output_limit", OUTPUT_BYTES_RANGE)
    if junit is not None:
        require_replaceable(junit)
        require_directory(junit.parent, "junit")
    is_search = seeds is not None or shrink or keep_going
    if is_search:
        from farpath.cli.up_seeds import SeedsAsked, check_seeds, run_seeds

        check_seeds(seeds, keep_going, main_alone)

    # A topology's file runs once, however many seeds there are
    network_of = cache(user_network)

    def read(of_seed: int | None) -> Deployment:
        found = read_deployment(
            file, of_seed, fault or (), no_faults=no_faults, network_of=network_of
        )
        return replace(found, guest_per_site=found.guest_per_site or guest_per_site)

    deployment = read(seed)
    print_warnings(deployment.warnings)
    found = found_services(deployment)

    def planned(asked: Deployment) -> UpRun:
        return up_run(asked, found, memory_bytes, output_bytes, sample)

    if is_search:
        sizes = {"memory": memory, "output-limit": output_limit}
        bare = (
            *("farpath", "up", str(file)),
            *(f"--{name}={text}" for name, text in sizes.items() if text != DEFAULT_SIZE),
            *([f"--sample={sample}"] if sample != DEFAULT_SAMPLE else []),
            *(["--guest-per-site"] if guest_per_site else []),
        )
        faults = (
            *(["--no-faults"] if no_faults else []),
            *(f"--fault={text}" for text in fault or ()),
        )
        asked = SeedsAsked(
            *(read, planned, (*bare, *faults), bare, deployment, seeds or 1, keep_going, shrink),
            *(out, cores, wall_s, as_json, junit),
        )
        status = run_seeds(asked)
    else:
        run = planned(deployment)
        status = _run_one(run, deployment, out, wall_s, main_alone, as_json, junit)
    if status:
        # Not as an exit of typer's, where 130 means that this command was interrupted
        raise SystemExit(status)


class PrefixedLines:
    """A stream that gets whole lines of a service, each behind the service's name.

    ``width``: letters of the longest name. ``lock``: of all that write to the same stream.
    """

    def __init__(self, name: str, width: int, stream: IO[bytes], lock: threading.Lock) -> None:
        self._prefix = f"{name:{width}} | ".encode()
        self._stream = stream
        self._lock = lock
        self._rest = b""

    def write(self, data: bytes) -> int:
        """Write the lines that are whole by now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        with self._lock:
            self._stream.write(b"".join(self._prefix + line + b"\n" for line in lines))
        return len(data)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def close(self) -> None:
        """Write a last line that has no end."""
        if self._rest:
            self.write(b"\n")
            self.flush()


def _run_one(
    run: UpRun,
    deployment: Deployment,
    out: FilePath,
    wall_s: float,
    main_alone: bool,
    as_json: bool,
    junit: FilePath | None,
) -> int:
    """Run the services and tell what happens; return the main service's status."""
    from farpath.base.errors import FarpathError
    from farpath.lab.exec.service_run import run_services
    from farpath.record.record_directory import short_fingerprint
    from farpath.report.junit import junit_xml
    from farpath.report.tables.program_results import failed_case

    with ExitStack() as stack:
        streams = _streams(run, main_alone, as_json, stack)
        try:
            outcome = run_services(
                run, out, streams, lambda event: _tell(event, run), wall_s=wall_s
            )
        except FarpathError as error:
            if junit is not None:
                case = failed_case(deployment.name, run.services.main, error)
                write_text(junit, junit_xml("farpath up", [case]))
            raise
    ending = outcome.ending
    if junit is not None:
        write_text(junit, junit_xml("farpath up", _cases(run, outcome)))
    if ending.killed_for_memory:
        LOG.warning(
            f"services took more than their memory, and {ending.killed_for_memory} processes were "
            "killed (status 137): give more, as in --memory=3GiB"
        )
    LOG.info(
        f"up: {run.services.main} ended with status {ending.status} after {ending.took_s:.3f} "
        f"virtual s, record {outcome.directory}, fingerprint "
        f"{short_fingerprint(outcome.fingerprint)}"
    )
    if as_json:
        result = {"record": str(outcome.directory), "fingerprint": outcome.fingerprint}
        print(json.dumps({**result, **asdict(ending)}))
    return ending.status


def _streams(
    run: UpRun, main_alone: bool, as_json: bool, stack: ExitStack
) -> Mapping[str, tuple[IO[bytes], IO[bytes]]]:
    """Return where the output of each service goes."""
    if as_json:
        return {}
    if main_alone:
        return {run.services.main: (sys.stdout.buffer, sys.stderr.buffer)}
    width = max(len(one.name) for one in run.services.services)
    lock = threading.Lock()
    streams: dict[str, Any] = {}
    for one in run.services.services:
        both = tuple(
            PrefixedLines(one.name, width, stream, lock)
            for stream in (sys.stdout.buffer, sys.stderr.buffer)
        )
        for lines in both:
            stack.callback(lines.close)
        streams[one.name] = both
    return streams


def _tell(event: Mapping[str, Any], run: UpRun) -> None:
    """Say what a service or a fault does, at its virtual time."""
    from farpath.planning.faults import fault_text

    kind = event["event"]
    if kind in _WORDS:
        LOG.info(f"{event['t_s']:.3f} s: {event['service']} {_WORDS[kind]}")
    elif kind == "service-ended":
        again = ", and starts again" if event["again"] else ""
        LOG.info(f"{event['t_s']:.3f} s: {event['service']} ended: status {event['status']}{again}")
    elif kind == "fault":
        fault = fault_text(run.services.faults[event["number"] - 1])
        verb = "begins" if event["begins"] else "ends"
        LOG.info(f"{event['t_s']:.3f} s: {fault} {verb}")


def _cases(run: UpRun, outcome: UpOutcome) -> list[Any]:
    """Return a case of JUnit for the main service."""
    from farpath.record.program_record import status_words
    from farpath.report.junit import JunitCase

    ending, main = outcome.ending, run.services.main
    text = "".join(
        (outcome.directory / f"{main}.{suffix}").read_text(errors="replace")[-4096:]
        for suffix in ("out", "err")
        if os.path.exists(outcome.directory / f"{main}.{suffix}")
    )
    problem: Any = "failure" if ending.status else None
    return [JunitCase(run.name, main, ending.took_s, problem, status_words(ending.status), text)]
