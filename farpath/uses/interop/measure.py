"""Runs of meetings in the lab: both endpoints as programs, with captures of both hosts."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path as FilePath

from farpath.lab.artifacts.images import find_images
from farpath.lab.exec.limits import limits
from farpath.lab.exec.program_run import run_programs
from farpath.lab.machine import limited_cores
from farpath.lab.run import Outcome
from farpath.lab.user_parts import BuiltParts
from farpath.planning.program_plan import DEFAULT_DATE, parse_date_s, program_plan
from farpath.planning.request import RunRequest
from farpath.record.program_record import load_program_record
from farpath.runs.make import MadeSet, RunEvent, make_runs
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Place, Programs
from farpath.spec.settings import VIRTUAL
from farpath.uses.interop.meeting import Meeting
from farpath.uses.interop.verdict import CaseResult, result_of

#: Directories in the lab: of this folder's files, and of files that come back.
SHARE, COLLECT = "/interop", "/collected"
#: Bytes of each packet that a capture holds: its header, or all of it where tokens and 0-RTT count.
HEADER_BYTES, WHOLE_BYTES = 128, 1600
#: Memory for both endpoints and their files, and the largest file, in bytes.
MEMORY_BYTES, FILE_BYTES = 1 << 30, 1 << 30
CONGESTION = "cubic"
#: The lab's iperf3 and its libraries, which run in any image: paths in the root of end hosts.
TOOLS = (
    "usr/bin/iperf3",
    *(
        f"usr/lib/x86_64-linux-gnu/{name}"
        for name in (
            *("libiperf.so.0", "libcrypto.so.3", "libsctp.so.1", "libz.so.1", "libzstd.so.1"),
            *("libm.so.6", "libc.so.6"),
        )
    ),
)
LOADER = "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"


def planned(meeting: Meeting) -> PlannedRun:
    """Return the run of a meeting; raises BadInputError."""
    case = meeting.case
    snap_bytes = WHOLE_BYTES if case.retry or case.early_data else HEADER_BYTES
    places = f"{CLIENT_HOST}:{snap_bytes},{SERVER_HOST}:{snap_bytes}"
    request = RunRequest(
        **case.options, stack=CONGESTION, sample="100ms", capture=places, seed=str(meeting.seed)
    )
    plan = program_plan(request, BuiltParts(VIRTUAL), MEMORY_BYTES, True, case.timeout_s)
    ends = {SERVER_HOST: meeting.server, CLIENT_HOST: meeting.client}
    images = {host: end.image for host, end in ends.items() if end.image}
    return PlannedRun(
        meeting.name,
        dataclasses.replace(plan, images=images),
        {"server": meeting.server.name, "client": meeting.client.name, "case": case.name},
        request=request.typed,
        programs=meeting.name,
    )


def programs_of(meeting: Meeting) -> Programs:
    """Return both endpoints as programs, each begun by ``begin.sh``."""
    case = meeting.case
    requests = " ".join(f"https://{case.host}:443/{name}" for name in meeting.names())
    begin = ("sh", f"{SHARE}/begin.sh")
    both = {
        "TESTCASE": case.test,
        "SSLKEYLOGFILE": "/logs/keys.log",
        "QLOGDIR": "/logs/qlog/",
        "CROSS_TRAFFIC": CONGESTION if case.beside_tcp else "",
    }
    client = {**both, "ROLE": "client", "REQUESTS": requests}
    server = {**both, "ROLE": "server"}
    return Programs(
        client=(*begin, *meeting.client.command),
        servers=((*begin, *meeting.server.command),),
        places={
            CLIENT_HOST: _with(meeting.client.place, client),
            SERVER_HOST: _with(meeting.server.place, server),
        },
        user=0,
        group=0,
        timeout_s=case.timeout_s,
        share=SHARE,
        collect=COLLECT,
        date_s=parse_date_s(DEFAULT_DATE),
        limits=limits(FILE_BYTES),
        memory_bytes=MEMORY_BYTES,
        both_families=True,
    )


def _with(place: Place, variables: dict[str, str]) -> Place:
    texts = tuple(f"{name}={value}" for name, value in variables.items())
    return dataclasses.replace(place, environment=(*place.environment, *texts))


def run_meetings(
    met: Sequence[Meeting],
    out: FilePath,
    at_once: int | None,
    watch: Callable[[RunEvent[CaseResult]], None],
) -> MadeSet[CaseResult]:
    """Run meetings, several at once, each with a record; errors as of ``make_runs``."""
    runs = RunSet(tuple(map(planned, met)))
    return make_runs(
        *(runs, out, at_once, watch),
        measure=[partial(result_of, meeting) for meeting in met],
        make=[partial(_make, meeting=meeting) for meeting in met],
        load=load_program_record,
    )


def _make(run_: PlannedRun, out: FilePath, cores: int, *, meeting: Meeting) -> Outcome:
    with (
        limited_cores(cores),
        open(os.devnull, "wb") as nowhere,
        tempfile.TemporaryDirectory(prefix="farpath-interop-") as share,
    ):
        _fill_share(FilePath(share), meeting)
        outcome = run_programs(
            *(run_.plan, programs_of(meeting), out, FilePath(share), None, nowhere, nowhere),
            label=f"interop: {meeting.name}",
        )
    return Outcome(outcome.directory, cached=False, wall_s=0.0)


def _fill_share(share: FilePath, meeting: Meeting) -> None:
    """Write the files that the endpoints of a meeting read."""
    own = FilePath(__file__).parent
    shutil.copy(own / "begin.sh", share)
    shutil.copytree(own / "certs", share / "certs")
    (share / "www").mkdir()
    for name, content in meeting.files().items():
        (share / "www" / name).write_bytes(content)
    tools = share / "tools"
    tools.mkdir()
    if meeting.case.beside_tcp:
        root = find_images().sender / "rootfs"
        for name in TOOLS:
            shutil.copy(root / name, tools)
        shutil.copy(root / LOADER, tools / "ld.so")
    # In the lab another user than this process's may read them
    for place in (share, *share.rglob("*")):
        place.chmod(0o755)
