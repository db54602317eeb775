"""Transfer: sends over MPTCP for a given time, or receives, with a report like iperf3's.

The state of TCP in a sender's report is that of the connection's first subflow, as the kernel
answers for the socket (mptcp_getsockopt_first_sf_only in net/mptcp/sockopt.c).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import struct
import sys
import time
from typing import Any

from farpath.tools import tcp_info

NS_PER_S = 1_000_000_000
#: What is written, and read at most, at once in bytes.
BLOCK_BYTES = 1 << 17
_NAME_BYTES = 16
_SECONDS = struct.Struct("=qq")


class Intervals:
    """What was sent or received in each interval of a test that has begun."""

    def __init__(self, interval_s: float) -> None:
        self.interval_ns = round(interval_s * NS_PER_S)
        self.began_ns = time.monotonic_ns()
        self.rows: list[dict[str, Any]] = []
        self.bytes = 0

    @property
    def end_ns(self) -> int:
        """The end of the interval of now."""
        return self.began_ns + (len(self.rows) + 1) * self.interval_ns

    def close(self, at_ns: int, **values: int) -> None:
        """End an interval; ``values``: further ones of it."""
        start_s = len(self.rows) * self.interval_ns / NS_PER_S
        end_s = (at_ns - self.began_ns) / NS_PER_S
        row = {"start": start_s, "end": end_s, "bytes": self.bytes, **values}
        self.rows.append({"streams": [row]})
        self.bytes = 0


def _state(connection: socket.socket) -> dict[str, int]:
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, tcp_info.LAYOUT.size)
    found = tcp_info.members(info.ljust(tcp_info.LAYOUT.size, b"\0"))
    return {
        "retransmits": found["total_retrans"],
        "snd_cwnd": found["snd_cwnd"] * found["snd_mss"],
        "snd_wnd": found["snd_wnd"],
        "rtt": found["rtt"],
    }


def send(connection: socket.socket, seconds: int, interval_s: float) -> dict[str, Any]:
    """Send for some seconds and return the report."""
    intervals, block, before = Intervals(interval_s), bytes(BLOCK_BYTES), 0
    stop_ns = intervals.began_ns + seconds * NS_PER_S

    def wake_at(at_ns: int) -> None:
        wait = max(at_ns - time.monotonic_ns(), 1000)
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDTIMEO, _SECONDS.pack(*divmod(wait // 1000, 1_000_000))
        )

    now_ns = intervals.began_ns
    while now_ns < stop_ns:
        wake_at(intervals.end_ns)
        with contextlib.suppress(BlockingIOError):
            intervals.bytes += connection.send(block)
        now_ns = time.monotonic_ns()
        while now_ns >= intervals.end_ns and intervals.end_ns <= stop_ns:
            state = _state(connection)
            total = state["retransmits"]
            state["retransmits"], before = max(total - before, 0), total
            intervals.close(intervals.end_ns, **state)
    name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _NAME_BYTES)
    congestion = name.split(b"\0")[0].decode()
    # The kernel resets a closed connection after a minute, whatever its buffers still hold
    # (close_timeout in net/mptcp/ctrl.c), so it stays open until the receiver has all.
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    return {"intervals": intervals.rows, "end": {"sender_tcp_congestion": congestion}}


def receive(connection: socket.socket, interval_s: float) -> dict[str, Any]:
    """Receive until the other end has sent all, and return the report."""
    intervals = Intervals(interval_s)
    while data := connection.recv(BLOCK_BYTES):
        now_ns = time.monotonic_ns()
        while now_ns >= intervals.end_ns:
            intervals.close(intervals.end_ns)
        intervals.bytes += len(data)
    intervals.close(time.monotonic_ns())
    return {"start": {"monotonic_ns": intervals.began_ns}, "intervals": intervals.rows}


def _socket(ip_version: int) -> socket.socket:
    family = {4: socket.AF_INET, 6: socket.AF_INET6}[ip_version]
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)


def main() -> None:
    """Serve or send as the arguments say, which are iperf3's, and print the report."""
    parser = argparse.ArgumentParser()
    for flag in ("--server", "--one-off", "--json"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--client", default="")
    for number in ("--port", "--time", "--ip-version"):
        parser.add_argument(number, type=int, default=0)
    parser.add_argument("--interval", type=float)
    parser.add_argument("--congestion", default="")
    asked = parser.parse_args()
    with _socket(asked.ip_version) as end:
        if asked.server:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            end.bind(("", asked.port))
            end.listen()
            connection, _ = end.accept()
            with connection:
                report = receive(connection, asked.interval)
        else:
            name = asked.congestion.encode()
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
            end.connect((asked.client, asked.port))
            report = send(end, asked.time, asked.interval)
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
