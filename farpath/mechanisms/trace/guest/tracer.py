"""Tracer: a program that samples the state of TCP connections in its network namespace.

It is run as ``python3 -S -m`` with this module. It reads its configuration from stdin as one line
of JSON (``farpath.spec.trace.TracerConfig``) and then does as ``farpath.guest.ticks`` says: it
queries the kernel at each tick. On SIGTERM it writes its rows at the next tick, and exits.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Protocol

from farpath.guest.sock_diag import SockDiag
from farpath.guest.ticks import Ticks
from farpath.spec.trace import TracerConfig
from farpath.tools import inet_diag, tcp_info
from farpath.tools.inet_diag import Message

#: Acknowledged bytes that mark a connection as the one with the data; iperf3 opens a control
#: connection to the same port, which never carries so much.
CARRIES_DATA_BYTES = 65_536


class Kernel(Protocol):
    """Source of the state of TCP connections."""

    def established(self) -> Iterator[Message]:
        """Yield the state of all established connections."""

    def lookup(self, identities: list[bytes]) -> Iterator[Message]:
        """Yield one message for each of some connections."""


class Tracer:
    """Finds the connections of the configured flows and samples their state at each tick.

    ``asked``: number of ticks at which the kernel was queried.
    """

    def __init__(self, config: TracerConfig, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows = tcp_info.Rows()
        #: Ports without a connection that has carried data yet, with their first and last tick.
        self.awaited = {port: (first, last) for port, first, last in config.flows}
        #: The connection that carries the data, by its remote port.
        self.followed: dict[int, bytes] = {}
        self.asked = 0

    def sample(self, tick: int) -> None:
        """Record the state of all connections at a tick."""
        self.asked += 1
        if self.followed:
            self._follow(tick)
        awaited = {port for port, (first, last) in self.awaited.items() if first <= tick <= last}
        if awaited:
            self._await(tick, awaited)

    def _follow(self, tick: int) -> None:
        ports = list(self.followed)
        messages = self.kernel.lookup(list(self.followed.values()))
        for port, message in zip(ports, messages, strict=True):
            info = b"" if message.error else message.tcp_info
            if message.error not in (0, errno.ENOENT):
                raise OSError(message.error, inet_diag.error_text(message.error))
            if info:
                self.rows.add(tick, port, message.state, message.cookie, info)
            else:
                # The connection is closed, or in TIME_WAIT, where it has no tcp_info.
                del self.followed[port]

    def _await(self, tick: int, ports: set[int]) -> None:
        for message in self.kernel.established():
            port = message.remote_port
            if port not in ports:
                continue
            info = message.tcp_info
            self.rows.add(tick, port, message.state, message.cookie, info)
            if tcp_info.bytes_acked(info) > CARRIES_DATA_BYTES:
                self.followed[port] = message.identity
                self.awaited.pop(port, None)


def main() -> None:
    """Trace as the configuration on stdin says."""
    config = TracerConfig.from_json(sys.stdin.buffer.readline())
    kernel = SockDiag(config.family)
    tracer = Tracer(config, kernel)
    list(kernel.established())
    ticks = Ticks(config.last_in_line)
    passed = 0
    for tick in ticks.until_end(ticks.await_start(), config.interval_ns):
        tracer.sample(tick)
        passed = tick + 1
    with FilePath(config.file).open("wb") as file:
        file.writelines(tracer.rows.parts(ticks=passed, asked=tracer.asked))


if __name__ == "__main__":
    main()
