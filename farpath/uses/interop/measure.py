"""A case between two endpoints: its run in the lab, and its verdict by files and packets."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import random
import shutil
import string
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath

from farpath.base.errors import LabFailedError
from farpath.base.project import BUILD
from farpath.lab.exec.limits import limits
from farpath.lab.exec.program_run import run_programs
from farpath.lab.machine import limited_cores
from farpath.lab.run import Outcome
from farpath.lab.user_parts import BuiltParts
from farpath.planning.program_plan import DEFAULT_DATE, parse_date_s, program_plan
from farpath.planning.request import RunRequest
from farpath.record.program_record import ProgramRecord, load_program_record
from farpath.runs.make import MadeSet, RunEvent, make_runs
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.spec.capture import SUFFIX
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, TIMED_OUT, Place, Programs
from farpath.spec.protocol import CAPTURES_DIR, COLLECTED_DIR
from farpath.spec.settings import VIRTUAL
from farpath.uses.interop.cases import Case
from farpath.uses.interop.endpoint import Endpoint
from farpath.uses.interop.quic_packets import EARLY, INITIAL, RETRY, SHORT, QuicPacket, read_quic

#: Where endpoints find what this folder brings, and what comes back of them.
SHARE, COLLECT = "/interop", "/collected"
#: Status by which an endpoint says that it does not know a case (the runner's ``quic.md``).
NOT_SUPPORTED = 127
PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"
#: Bytes of each packet that a capture holds: its header, or all of it where tokens and 0-RTT count.
HEADER_BYTES, WHOLE_BYTES = 128, 1600
#: Memory for both endpoints and their files, and the largest file, in bytes.
MEMORY_BYTES, FILE_BYTES = 1 << 30, 1 << 30
CONGESTION = "cubic"
#: What iperf3 says of the flow of TCP beside the endpoints.
CROSS_FILE = "cross-traffic.json"
#: Part of the bytes of requests that may come after the handshake in the case of 0-RTT.
MOST_LATE = 0.5
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
_LETTERS = string.ascii_lowercase


@dataclass(frozen=True)
class Meeting:
    """A case between a server and a client, with the seed of its run."""

    server: Endpoint
    client: Endpoint
    case: Case
    seed: int = 1

    @property
    def name(self) -> str:
        """Its name for people."""
        return f"{self.case.name}, {self.client.name} from {self.server.name}"

    @property
    def is_quic(self) -> bool:
        """Whether both speak QUIC, whose packets are looked at."""
        return not (self.server.is_tcp or self.client.is_tcp)

    def files(self) -> dict[str, bytes]:
        """Return the files of the case by name: the same for each seed."""
        found = {}
        for number, size_bytes in enumerate(self.case.files):
            chance = random.Random(f"interop {self.case.name} {self.seed} {number}")
            name = "".join(chance.choices(_LETTERS, k=self.case.name_letters))
            found[name] = chance.randbytes(size_bytes)
        return found


@dataclass(frozen=True)
class CaseResult:
    """The result of a case: one of ``PASSED``, ``FAILED``, ``UNSUPPORTED``, and why.

    ``took_s``: virtual s until the client's end. ``handshakes``: connections that the packets
    show; None where they were not looked at. ``goodput_bps``: payload of the files over the time
    from the first to the last packet of data at the client, of a case that measures it; of TCP over
    all its time. ``beside_bps``: that of the flow of TCP beside it. ``client_said``: the end of the
    client's output.
    """

    outcome: str
    why: str
    took_s: float
    handshakes: int | None = None
    goodput_bps: float | None = None
    beside_bps: float | None = None
    client_said: str = ""


def meetings(
    servers: Sequence[Endpoint], clients: Sequence[Endpoint], cases: Sequence[Case], seed: int
) -> tuple[Meeting, ...]:
    """Return all cases of all pairs that can speak to each other: TCP with TCP alone."""
    return tuple(
        Meeting(server, client, case, seed)
        for server in servers
        for client in clients
        if server.is_tcp == client.is_tcp
        for case in cases
    )


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
    requests = " ".join(f"https://{case.host}:443/{name}" for name in meeting.files())
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
    """Write what the endpoints of a meeting read."""
    own = FilePath(__file__).parent
    shutil.copy(own / "begin.sh", share)
    shutil.copytree(own / "certs", share / "certs")
    (share / "www").mkdir()
    for name, content in meeting.files().items():
        (share / "www" / name).write_bytes(content)
    tools = share / "tools"
    tools.mkdir()
    if meeting.case.beside_tcp:
        root = BUILD / "sender" / "rootfs"
        for name in TOOLS:
            shutil.copy(root / name, tools)
        shutil.copy(root / LOADER, tools / "ld.so")
    # In the lab another user than this process's may read them
    for place in (share, *share.rglob("*")):
        place.chmod(0o755)


def result_of(meeting: Meeting, record: ProgramRecord) -> CaseResult:
    """Return the result of a meeting by its record."""
    ending = record.ending
    said = _end_of(record.directory / "client.out") + _end_of(record.directory / "client.err")

    def result(outcome: str, why: str) -> CaseResult:
        return CaseResult(outcome, why, ending.took_s, client_said=said)

    if _server_status(record.directory) == str(NOT_SUPPORTED):
        return result(UNSUPPORTED, "the server does not know the case")
    if ending.status == NOT_SUPPORTED:
        return result(UNSUPPORTED, "the client does not know the case")
    for server in ending.servers:
        if server.t_s is not None:
            return result(FAILED, f"the server ended with status {server.status}")
    if ending.status == TIMED_OUT:
        return result(FAILED, f"the client did not end within {meeting.case.timeout_s:g} s")
    if ending.status:
        return result(FAILED, f"the client ended with status {ending.status}")
    if problem := wrong_files(meeting.files(), record.directory / COLLECTED_DIR):
        return result(FAILED, problem)
    captures = record.directory / CAPTURES_DIR
    handshakes: int | None = None
    packets: dict[str, list[QuicPacket]] = {}
    if meeting.is_quic:
        packets = {
            host: read_quic(captures / f"{host}{SUFFIX}") for host in (CLIENT_HOST, SERVER_HOST)
        }
        handshakes = len(_connections(packets[SERVER_HOST]))
        if problem := next(wrong_packets(meeting.case, packets[SERVER_HOST]), ""):
            return dataclasses.replace(result(FAILED, problem), handshakes=handshakes)
    return CaseResult(
        *(PASSED, "", ending.took_s, handshakes),
        _goodput_bps(meeting.case, packets.get(CLIENT_HOST, []), ending.took_s),
        _beside_bps(record.directory / COLLECTED_DIR / "client"),
        said,
    )


def _goodput_bps(case: Case, packets: Sequence[QuicPacket], took_s: float) -> float | None:
    """Return the goodput of a case that measures it, by the packets at the client."""
    if not case.measures:
        return None
    times_ns = [one.time_ns for one in packets if one.from_server and one.kind == SHORT]
    if times_ns:
        took_s = (times_ns[-1] - times_ns[0]) / 1e9
    return 8 * sum(case.files) / took_s


def _beside_bps(directory: FilePath) -> float | None:
    """Return the rate of the flow of TCP beside, as iperf3 says it; None without one.

    Raises LabFailedError if iperf3 said something else.
    """
    file = directory / CROSS_FILE
    if not file.exists():
        return None
    text = file.read_text(errors="replace")
    try:
        return float(json.loads(text)["end"]["sum_received"]["bits_per_second"])
    except (ValueError, KeyError, TypeError) as error:
        raise LabFailedError(
            f"the TCP flow beside left no result in {file}", text[-2000:]
        ) from error


def _server_status(directory: FilePath) -> str:
    """Return the status with which the server ended; empty if it did not."""
    file = directory / COLLECTED_DIR / "server" / "status"
    return file.read_text().strip() if file.exists() else ""


def wrong_files(files: dict[str, bytes], collected: FilePath) -> str:
    """Return what is wrong with the client's files; empty if they are those of the server."""
    found = {file.name: file for file in (collected / "client" / "downloads").glob("*")}
    missing = [name for name in files if name not in found]
    if missing:
        return f"{len(missing)} of {len(files)} files are missing"
    if more := sorted(found.keys() - files.keys()):
        return f"the client wrote {len(more)} files that nobody asked for, as {more[0][:40]}"
    differing = [name for name, content in files.items() if _differs(found[name], content)]
    return f"{len(differing)} of {len(files)} files differ from the server's" if differing else ""


def _differs(file: FilePath, content: bytes) -> bool:
    return hashlib.sha256(file.read_bytes()).digest() != hashlib.sha256(content).digest()


def _connections(packets: Sequence[QuicPacket]) -> set[bytes]:
    """Return the connections of a server, by the names that it chose for them."""
    return {one.source for one in packets if one.from_server and one.kind == INITIAL}


def wrong_packets(case: Case, packets: Sequence[QuicPacket]) -> Iterator[str]:
    """Yield what is wrong with the packets that the server's host saw."""
    connections = len(_connections(packets))
    if connections != case.handshakes:
        yield f"{connections} handshakes in place of {case.handshakes}"
    versions = {one.version for one in packets if one.from_server and one.kind == INITIAL}
    if case.version not in versions:
        shown = ", ".join(f"{version:#010x}" for version in sorted(filter(None, versions)))
        yield f"the server answered in version {shown or 'none'}, not {case.version:#010x}"
    tokens = [one.token for one in packets if one.from_server and one.kind == RETRY]
    if tokens and not case.retry and case.name == "handshake":
        yield "the server sent a Retry"
    if case.retry:
        given = {one.token for one in packets if not one.from_server and one.kind == INITIAL}
        if not tokens:
            yield "the server sent no Retry"
        elif not given & set(tokens):
            yield "no Initial packet has the token of the Retry"
    if case.early_data:
        early_bytes = sum(one.size_bytes for one in packets if one.kind == EARLY)
        late_bytes = sum(
            one.size_bytes for one in packets if not one.from_server and one.kind == SHORT
        )
        requests_bytes = len(case.files) * case.name_letters
        if not early_bytes:
            yield "the client sent nothing in 0-RTT packets"
        elif late_bytes > MOST_LATE * requests_bytes:
            yield f"the client sent {late_bytes:,} bytes after its handshakes"


def _end_of(file: FilePath) -> str:
    text = file.read_text(errors="replace") if file.exists() else ""
    return text[-2000:]
