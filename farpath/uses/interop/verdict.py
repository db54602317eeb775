"""The verdict on a meeting, by the client's files and the packets of its record."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, LabFailedError
from farpath.record.program_record import ProgramRecord
from farpath.spec.capture import SUFFIX
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, TIMED_OUT
from farpath.spec.protocol import CAPTURES_DIR, COLLECTED_DIR
from farpath.uses.interop.meeting import Meeting
from farpath.uses.interop.qlog import SUFFIXES, read_qlog
from farpath.uses.interop.qlog_rules import Finding, findings, together
from farpath.uses.interop.quic_packets import EARLY, INITIAL, RETRY, SHORT, QuicPacket, read_quic
from farpath.uses.interop.testcases import Case

#: Status by which an endpoint says that it does not know a case (the runner's ``quic.md``).
NOT_SUPPORTED = 127
PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"
#: The result of iperf3, which sends by TCP at the same time.
CROSS_FILE = "cross-traffic.json"
#: Part of the bytes of requests that may come after the handshake in the case of 0-RTT.
MOST_LATE = 0.5
#: Sides of a case, and where each leaves its qlogs (the runner's ``QLOGDIR``).
SIDES, LOGS = ("client", "server"), "logs/qlog"
#: Letters of the client's output that a result keeps: the last ones.
KEPT_LETTERS = 2000


@dataclass(frozen=True)
class CaseResult:
    """The result of a case: one of ``PASSED``, ``FAILED``, ``UNSUPPORTED``, and why.

    ``took_s``: virtual s until the client's end. ``handshakes``: connections that the packets
    show; None where they were not looked at. ``goodput_bps``: payload of the files over the time
    from the first to the last packet of data at the client, of a case that measures it; of TCP over
    all its time. ``beside_bps``: that of the flow of TCP beside it. ``client_said``: the end of the
    client's output. ``findings``: of the rules over qlog, by the side that wrote a log;
    ``unread``: why a log was not read.
    """

    outcome: str
    why: str
    took_s: float
    handshakes: int | None = None
    goodput_bps: float | None = None
    beside_bps: float | None = None
    client_said: str = ""
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def result_of(meeting: Meeting, record: ProgramRecord) -> CaseResult:
    """Return the result of a meeting by its record."""
    found, unread = {}, []
    for side in SIDES:
        of_side = []
        for file in sorted((record.directory / COLLECTED_DIR / side / LOGS).glob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                try:
                    of_side.append(findings(read_qlog(file), record.plan.path.rtt_ms))
                except BadInputError as error:
                    unread.append(f"qlog of the {side} of {meeting.name} is not read: {error}")
        found[side] = together(of_side)
    return dataclasses.replace(_judged(meeting, record), findings=found, unread=tuple(unread))


def _judged(meeting: Meeting, record: ProgramRecord) -> CaseResult:
    """Return the result of a meeting by its files and packets."""
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
            f"the TCP flow beside left no result in {file}", text[-KEPT_LETTERS:]
        ) from error


def _server_status(directory: FilePath) -> str:
    """Return the status with which the server ended; empty if it did not."""
    file = directory / COLLECTED_DIR / "server" / "status"
    return file.read_text().strip() if file.exists() else ""


def wrong_files(files: dict[str, bytes], collected: FilePath) -> str:
    """Return how the client's files differ from the server's; empty if they do not."""
    downloads = collected / "client" / "downloads"
    found = {file.name: file for file in downloads.glob("*") if file.is_file()}
    missing = [name for name in files if name not in found]
    if missing:
        return f"{len(missing)} of {len(files)} files are missing"
    if more := sorted(found.keys() - files.keys()):
        return f"the client wrote {len(more)} files that nobody asked for, as {more[0][:40]}"
    differing = [name for name, content in files.items() if found[name].read_bytes() != content]
    return f"{len(differing)} of {len(files)} files differ from the server's" if differing else ""


def _connections(packets: Sequence[QuicPacket]) -> set[bytes]:
    """Return the connections of a server, by the names that it chose for them."""
    return {one.source for one in packets if one.from_server and one.kind == INITIAL}


def wrong_packets(case: Case, packets: Sequence[QuicPacket]) -> Iterator[str]:
    """Yield each demand of a case that the packets at the server's host do not meet."""
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
    return text[-KEPT_LETTERS:]
