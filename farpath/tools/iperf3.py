"""iperf3: command lines, and the parser of its JSON, which other programs print too.

Plain integers everywhere: iperf3 reads suffixes decimally after -b and in
binary after -w and -l (src/units.c, src/iperf_api.c).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from farpath.base.errors import LabFailedError
from farpath.spec.schedule import Flow
from farpath.tools import iperf3_like
from farpath.tools.iperf3_like import count, time_s

PROGRAM = "iperf3"
BLOCK_BYTES = 131_072
#: Of a machine of a thousand cores; more is no report.
MOST_CPU_PERCENT = 100_000


def server_arguments(flow: Flow, interval_s: float) -> list[str]:
    """The receiving side of one flow: one test, then exit."""
    return iperf3_like.server_arguments([PROGRAM], flow, interval_s, {})


def client_arguments(
    flow: Flow, address: str, interval_s: float, congestion: str, zerocopy: bool
) -> list[str]:
    """The sending side of one flow with a congestion control of the kernel.

    ``zerocopy``: sendfile(2) instead of write(2), which an application of 2004 would have
    used: for where CPU is not counted.
    """
    options = {"congestion": congestion, "length": str(BLOCK_BYTES)}
    command = iperf3_like.client_arguments([PROGRAM], flow, address, interval_s, options)
    return [*command, "--zerocopy"] if zerocopy else command


@dataclass(frozen=True)
class ReceiverInterval:
    """What a receiver took in one interval; times count from the test's start."""

    start_s: float
    end_s: float
    bytes: int


@dataclass(frozen=True)
class SenderInterval:
    """What a sender handed to its kernel in one interval, and TCP's state at its end.

    ``snd_wnd_bytes``: the window that the receiver advertises. ``rtt_us``: TCP's
    smoothed round-trip time.
    """

    start_s: float
    end_s: float
    bytes: int
    retransmits: int
    snd_cwnd_bytes: int
    snd_wnd_bytes: int
    rtt_us: int


def _report(text: str) -> dict[str, Any]:
    """A program's JSON; LabFailedError if it was cut short or says that the test failed."""
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        said = "the program printed nothing" if not text.strip() else f"its JSON is broken: {error}"
        raise LabFailedError(said, text[-500:]) from error
    if not isinstance(report, dict) or "intervals" not in report:
        raise LabFailedError("its JSON holds no intervals", text[-500:])
    if "error" in report:
        raise LabFailedError(f"the program failed: {report['error']}", text[-500:])
    return report


def _object(report: dict[str, Any], name: str) -> dict[str, Any]:
    """A part of a report; empty if there is none, or it is something else."""
    part = report.get(name)
    return part if isinstance(part, dict) else {}


def parse_congestion(text: str) -> str:
    """The congestion control that a sending iperf3 had, as its kernel told it."""
    return str(_object(_report(text), "end").get("sender_tcp_congestion", ""))


def parse_segment_bytes(text: str) -> int:
    """Payload of a full segment of a sending iperf3, as its kernel told it at the start."""
    told = _object(_report(text), "start").get("tcp_mss_default")
    if not isinstance(told, int):
        raise LabFailedError("the sender did not tell how large its segments are", text[:500])
    return told


def parse_cpu_share(text: str) -> float | None:
    """The part of its test for which a program held a core, if it tells.

    iperf3's own user and system time over real time (cpu_util in src/iperf_util.c).
    """
    told = _object(_object(_report(text), "end"), "cpu_utilization_percent").get("host_total")
    return told / 100 if isinstance(told, int | float) and 0 <= told <= MOST_CPU_PERCENT else None


def _streams(text: str) -> list[dict[str, Any]]:
    """The one stream of each interval; LabFailedError for any other number."""
    streams = []
    for interval in _report(text)["intervals"]:
        if len(interval["streams"]) != 1:
            raise LabFailedError(f"it ran {len(interval['streams'])} streams instead of one")
        streams.append(interval["streams"][0])
    return streams


def parse_receiver(text: str) -> list[ReceiverInterval]:
    """The intervals of a receiving program; raises :class:`LabFailedError`.

    The last interval may be short: what still arrived after the sender stopped.
    """
    try:
        return [
            ReceiverInterval(time_s(row, "start"), time_s(row, "end"), count(row, "bytes"))
            for row in _streams(text)
        ]
    except (KeyError, TypeError) as error:
        raise LabFailedError(f"the receiver reported an interval without {error}") from error


def parse_sender(text: str, tcp: bool = True) -> list[SenderInterval]:
    """The intervals of a sending program; raises :class:`LabFailedError`.

    ``tcp``: it is iperf3, which has to tell its TCP's state. Another program may
    leave that out; it is 0 then.
    """
    absent = None if tcp else 0
    try:
        return [
            SenderInterval(
                start_s=time_s(row, "start"),
                end_s=time_s(row, "end"),
                bytes=count(row, "bytes"),
                retransmits=count(row, "retransmits", absent),
                snd_cwnd_bytes=count(row, "snd_cwnd", absent),
                snd_wnd_bytes=count(row, "snd_wnd", absent),
                rtt_us=count(row, "rtt", absent),
            )
            for row in _streams(text)
        ]
    except (KeyError, TypeError) as error:
        raise LabFailedError(f"the sender reported an interval without {error}") from error
