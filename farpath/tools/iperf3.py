"""iperf3: its command lines, and the parser of its JSON, which other programs print too.

All sizes are given as plain integers: iperf3 reads suffixes as decimal after -b and as
binary after -w and -l (src/units.c, src/iperf_api.c).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import LabFailedError
from farpath.spec.schedule import Flow
from farpath.spec.transfer import MOST_BLOCK_BYTES
from farpath.tools import iperf3_like
from farpath.tools.iperf3_like import count, time_s

PROGRAM = "iperf3"
BLOCK_BYTES = MOST_BLOCK_BYTES
#: How long a receiver waits for data, in ms: the longest that iperf3 allows (MAX_TIME in
#: src/iperf.h). By default it gives up after two minutes, in which a starved or slow flow may not
#: bring a block.
IDLE_MS = 86_400_000
#: Largest CPU use in per cent that is plausible: a thousand cores.
MOST_CPU_PERCENT = 100_000
#: Latest time of a clock in ns that can be meant: three centuries after it began.
LATEST_NS = 10**19


def server_arguments(
    flow: Flow, interval_s: float, file: str = "", of_user: bool = False
) -> list[str]:
    """Return the command of a flow's receiver, which serves one test and exits.

    ``file``: where it writes what it reads; empty for nowhere. ``of_user``: whether the iperf3 is
    that of a user's image, which may be older than 3.10 and then has no ``--rcv-timeout``.
    """
    options = {} if of_user else {"rcv-timeout": str(IDLE_MS)}
    if file:
        options["file"] = file
    return iperf3_like.server_arguments([PROGRAM], flow, interval_s, options)


def client_arguments(
    flow: Flow,
    address: str,
    interval_s: float,
    congestion: str,
    zerocopy: bool,
    file: str = "",
    block_bytes: int = BLOCK_BYTES,
) -> list[str]:
    """Return the command of a flow's sender with a congestion control of the kernel.

    ``zerocopy``: send with sendfile(2), for runs in which CPU time does not count. An
    application of 2004 would have used write(2). ``file``: what it reads and sends; empty for
    memory. iperf3 reads it into the buffer that sendfile(2) lends to the connection, which
    would change what is not acknowledged yet, so what is read is sent by write(2).
    ``block_bytes``: what it sends at once, and the receiver counts.
    """
    options = {"congestion": congestion, "length": str(block_bytes)}
    if file:
        options["file"] = file
    command = iperf3_like.client_arguments([PROGRAM], flow, address, interval_s, options)
    return [*command, "--zerocopy"] if zerocopy and not file else command


def datagram_client_arguments(
    flow: Flow, address: str, interval_s: float, size_bytes: int, pacing_bps: int
) -> list[str]:
    """Return the command of a flow's sender of datagrams, which the kernel's fq spaces.

    ``pacing_bps``: for SO_MAX_PACING_RATE. iperf3's own limit of the rate is off.
    """
    options = {"length": str(size_bytes), "bitrate": "0", "fq-rate": str(pacing_bps)}
    command = iperf3_like.client_arguments([PROGRAM], flow, address, interval_s, options)
    return [*command, "--udp"]


@dataclass(frozen=True)
class Datagrams:
    """What a receiver counted of a flow of datagrams.

    ``expected``: by the highest number that arrived. ``lost``: of these. ``out_of_order``: that
    came after a later one. ``jitter_ms``: of the time on the way, by RFC 1889, 6.3.1.
    """

    expected: int
    lost: int
    out_of_order: int
    jitter_ms: float


@dataclass(frozen=True)
class ReceiverInterval:
    """The bytes that a receiver read in one interval; times in s from the test's start."""

    start_s: float
    end_s: float
    bytes: int


@dataclass(frozen=True)
class SenderInterval:
    """The bytes that a sender wrote in one interval, and TCP's state at the interval's end.

    ``start_s``, ``end_s``: from the test's start. ``retransmits``: within the interval.
    ``snd_wnd_bytes``: the window that the receiver advertises. ``rtt_us``: smoothed RTT.
    """

    start_s: float
    end_s: float
    bytes: int
    retransmits: int
    snd_cwnd_bytes: int
    snd_wnd_bytes: int
    rtt_us: int


def _report(text: str) -> dict[str, Any]:
    """Parse a program's JSON.

    Raises LabFailedError if it was cut short or reports that the test failed.
    """
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"its JSON is broken: {error}" if text.strip() else "the program printed nothing"
        raise LabFailedError(problem, text[-500:]) from error
    if not isinstance(report, dict) or "intervals" not in report:
        raise LabFailedError("its JSON holds no intervals", text[-500:])
    if "error" in report:
        raise LabFailedError(f"the program failed: {report['error']}", text[-500:])
    return report


def _object(report: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object in a report; empty if it is missing or is not an object."""
    value = report.get(name)
    return value if isinstance(value, dict) else {}


def parse_congestion(text: str) -> str:
    """Return the congestion control that the sending iperf3 read from its socket."""
    return str(_object(_report(text), "end").get("sender_tcp_congestion", ""))


def parse_program_congestion(text: str) -> str:
    """Return the congestion control that a program with iperf3's report says it ran."""
    return str(_object(_report(text), "start").get("congestion", ""))


def parse_segment_bytes(text: str) -> int:
    """Return the payload of a full segment in bytes, which iperf3 reads from its socket.

    Raises LabFailedError if the report does not have it.
    """
    mss_bytes = _object(_report(text), "start").get("tcp_mss_default")
    if not isinstance(mss_bytes, int):
        raise LabFailedError("the sender did not report its segment size", text[:500])
    return mss_bytes


def parse_cpu_share(text: str) -> float | None:
    """Return the fraction of its test for which a program used a core; None if not reported.

    It is iperf3's user and system time over real time (cpu_util in src/iperf_util.c).
    """
    utilization = _object(_object(_report(text), "end"), "cpu_utilization_percent")
    percent = utilization.get("host_total")
    if isinstance(percent, int | float) and 0 <= percent <= MOST_CPU_PERCENT:
        return percent / 100
    return None


def _streams(text: str) -> list[dict[str, Any]]:
    """Return the only stream of each interval; raises LabFailedError if there are more."""
    streams = []
    for interval in _report(text)["intervals"]:
        if len(interval["streams"]) != 1:
            raise LabFailedError(f"it ran {len(interval['streams'])} streams instead of one")
        streams.append(interval["streams"][0])
    return streams


def parse_receiver(text: str) -> list[ReceiverInterval]:
    """Parse the intervals of a receiving program; raises LabFailedError for a broken report.

    The last interval may be short: it holds the data that arrived after the sender stopped.
    """
    try:
        return [
            ReceiverInterval(time_s(row, "start"), time_s(row, "end"), count(row, "bytes"))
            for row in _streams(text)
        ]
    except (KeyError, TypeError) as error:
        raise LabFailedError(f"the receiver reported an interval without {error}") from error


def parse_datagrams(text: str) -> Datagrams:
    """Parse what a receiver of datagrams counted; raises LabFailedError for a broken report."""
    try:
        (stream,) = _object(_report(text), "end")["streams"]
        counts = stream["udp"]
        return Datagrams(
            count(counts, "packets"),
            count(counts, "lost_packets"),
            count(counts, "out_of_order"),
            1e3 * time_s({"jitter": counts["jitter_ms"] / 1e3}, "jitter"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LabFailedError(f"the receiver reported no datagrams: {error}") from error


def parse_begin_ns(text: str) -> int | None:
    """Return when a receiving program began its first interval; None if it does not say so.

    It is in ns of its host's monotonic clock, as ``start.monotonic_ns``. iperf3 does not say so.
    Raises LabFailedError if it is no time.
    """
    begin_ns = _object(_report(text), "start").get("monotonic_ns")
    if begin_ns is None:
        return None
    if type(begin_ns) is not int or not 0 <= begin_ns <= LATEST_NS:
        raise LabFailedError(f"its start.monotonic_ns is no time in ns: {begin_ns!r}")
    return begin_ns


def parse_sender(text: str, tcp: bool = True) -> list[SenderInterval]:
    """Parse the intervals of a sending program; raises LabFailedError for a broken report.

    ``tcp``: the program is iperf3 and must report TCP's state. Another program may leave it
    out; its values are 0 then.
    """
    default = None if tcp else 0
    try:
        return [
            SenderInterval(
                start_s=time_s(row, "start"),
                end_s=time_s(row, "end"),
                bytes=count(row, "bytes"),
                retransmits=count(row, "retransmits", default),
                snd_cwnd_bytes=count(row, "snd_cwnd", default),
                snd_wnd_bytes=count(row, "snd_wnd", default),
                rtt_us=count(row, "rtt", default),
            )
            for row in _streams(text)
        ]
    except (KeyError, TypeError) as error:
        raise LabFailedError(f"the sender reported an interval without {error}") from error
