"""Runs of programs: the same client and servers over several paths, each with a record."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as FilePath

from farpath.lab.exec.program_run import run_programs
from farpath.lab.machine import limited_cores
from farpath.lab.run import Outcome
from farpath.lab.user_parts import BuiltParts
from farpath.metrics.finding import Finding
from farpath.planning.program_plan import has_both_families, parse_ip_version, program_plan
from farpath.planning.request import RunRequest
from farpath.record.program_record import Ending, ProgramRecord, load_program_record
from farpath.runs.make import MadeSet, RunEvent, make_runs
from farpath.runs.run_set import PlannedRun, RunSet, product_set
from farpath.spec.programs import Programs
from farpath.spec.settings import VIRTUAL

#: Bytes of a program's output that are kept of a run: its end.
KEPT_BYTES = 4096


@dataclass(frozen=True)
class ProgramCall:
    """Programs with what they are run with, as the parameters of ``run_programs``."""

    programs: Programs
    share: FilePath | None
    collect: FilePath | None
    stdin: bytes
    wall_s: float
    preset: str = ""

    def of(self, run_: PlannedRun) -> Programs:
        """Return the programs of one run, whose hosts have the IP versions that it asks for."""
        ip = (run_.request or {}).get("ip")
        return replace(self.programs, both_families=has_both_families(ip))


def program_set(
    single: Mapping[str, str],
    axes: Mapping[str, tuple[str, ...]],
    seeds: int,
    program_bytes: int,
    timeout_s: float,
) -> RunSet:
    """Return a run of programs for each combination of values; as ``product_set``.

    ``single``: options that all runs share. ``program_bytes``: memory for programs and files.
    ``timeout_s``: time limit of the client.
    """

    def planned(name: str, request: RunRequest) -> PlannedRun:
        of_plan = replace(request, ip=parse_ip_version(request.ip))
        both_families = has_both_families(request.ip)
        plan = program_plan(of_plan, BuiltParts(VIRTUAL), program_bytes, both_families, timeout_s)
        return PlannedRun(name, plan, request=request.typed)

    return product_set(RunRequest(**single), axes, seeds, planned)


@dataclass(frozen=True)
class ProgramResult:
    """How a client ended, the end of its output and of its messages, and what it measured.

    ``findings``: of a preset's programs; empty for others.
    """

    ending: Ending
    output: str
    messages: str
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the client's status is 0, and all that it measured keeps its bounds."""
        return self.ending.status == 0 and all(one.holds for one in self.findings)


def program_result(
    directory: FilePath, ending: Ending, findings: tuple[Finding, ...] = ()
) -> ProgramResult:
    """Return the result of the programs whose output stands in a directory."""
    return ProgramResult(
        ending, _end_of(directory / "client.out"), _end_of(directory / "client.err"), findings
    )


def measured(record: ProgramRecord) -> ProgramResult:
    """Return the result of the programs of a record."""
    return program_result(record.directory, record.ending)


def _end_of(file: FilePath) -> str:
    """Return the end of an output; empty if two outputs went to one file."""
    try:
        with file.open("rb") as stream:
            stream.seek(-min(KEPT_BYTES, stream.seek(0, os.SEEK_END)), os.SEEK_END)
            return stream.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def make_program_runs(
    run_set: RunSet,
    call: ProgramCall,
    out: FilePath,
    at_once: int | None,
    watch: Callable[[RunEvent[ProgramResult]], None],
    measure: Callable[[ProgramRecord], ProgramResult] = measured,
) -> MadeSet[ProgramResult]:
    """Make a record of each run of a set; parameters and errors as of ``make_runs``.

    Files that come back of a run are in a directory of its number, from 1 on.
    """
    makes = [
        partial(_make, call=_numbered(call, number)) for number in range(1, len(run_set.runs) + 1)
    ]
    return make_runs(
        *(run_set, out, at_once, watch), measure=measure, make=makes, load=load_program_record
    )


def _numbered(call: ProgramCall, number: int) -> ProgramCall:
    return call if call.collect is None else replace(call, collect=call.collect / str(number))


def _make(run_: PlannedRun, out: FilePath, cores: int, *, call: ProgramCall) -> Outcome:
    with limited_cores(cores), open(os.devnull, "wb") as nowhere:
        outcome = run_programs(
            *(run_.plan, call.of(run_), out, call.share, call.collect, nowhere, nowhere),
            stdin=call.stdin,
            wall_s=call.wall_s,
            label=f"exec: {run_.name}",
            preset=call.preset,
        )
    return Outcome(outcome.directory, cached=False, wall_s=0.0)
