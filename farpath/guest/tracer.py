"""Tracer: a program that asks a network namespace's kernel for its TCP connections' state.

Run as ``python3 -m farpath.guest.tracer``. Told on stdin, as one line of JSON, what to do
(farpath.spec.trace.Orders), it says "ready"; told on a second line when the schedule begins, in ns
of the monotonic clock, it asks at each tick from then on. SIGTERM has it write its rows at the
next tick, and end.

It must not disturb the run. A reading of the virtual clock takes 256 ns, so from its first
tick to its last it reads none: it waits for a timer, without a timeout, and writes nothing.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Protocol

from farpath.spec.trace import TracerConfig
from farpath.tools import inet_diag, tcp_info
from farpath.tools.inet_diag import Message

#: As long as one of the kernel's dumps may be (netlink_dump in net/netlink/af_netlink.c).
RECEIVE_BYTES = 32_768
#: timerfd_create(2), which the standard library has since Python 3.13 only.
TFD_CLOEXEC = os.O_CLOEXEC
TFD_TIMER_ABSTIME = 1
NS_PER_S = 1_000_000_000
#: iperf3 has two connections to one port, and this much is acknowledged on one only.
CARRIES_DATA_BYTES = 65_536


class Kernel(Protocol):
    """Who tells of TCP connections."""

    def established(self) -> Iterator[Message]:
        """All established connections."""

    def ask(self, identities: list[bytes]) -> Iterator[Message]:
        """Some connections, an answer for each."""


class SockDiag:
    """The kernel, by a netlink socket in this network namespace."""

    def __init__(self, family: int) -> None:
        self.family = family
        kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
        self.socket = socket.socket(socket.AF_NETLINK, kind, inet_diag.NETLINK_SOCK_DIAG)

    def established(self) -> Iterator[Message]:
        """All of them; it looks through the whole table of connections, which takes long."""
        self.socket.send(inet_diag.request(self.family))
        while True:
            for answer in inet_diag.parse_messages(self.socket.recv(RECEIVE_BYTES)):
                if answer.error:
                    raise OSError(answer.error, inet_diag.error_text(answer.error))
                if answer.message_type == inet_diag.NLMSG_DONE:
                    return
                yield answer

    def ask(self, identities: list[bytes]) -> Iterator[Message]:
        """Some of them, looked up; one that is gone is answered with ENOENT."""
        self.socket.send(b"".join(inet_diag.request(self.family, one) for one in identities))
        for _ in identities:
            yield from inet_diag.parse_messages(self.socket.recv(RECEIVE_BYTES))


class Timer:
    """A timer that a read waits for."""

    def __init__(self) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.timerfd_create(time.CLOCK_MONOTONIC, TFD_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")

    def start(self, first_ns: int, interval_ns: int) -> None:
        """Expire at a time of the monotonic clock and at each interval from there."""
        # struct itimerspec: interval, first, each in s and ns
        times = (ctypes.c_long * 4)(*divmod(interval_ns, NS_PER_S), *divmod(first_ns, NS_PER_S))
        if self.libc.timerfd_settime(self.descriptor, TFD_TIMER_ABSTIME, times, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def expirations(self) -> int:
        """Wait until it has expired; how often it has since the last time."""
        return int.from_bytes(os.read(self.descriptor, 8), sys.byteorder)


class Tracer:
    """Which connections the orders mean, and their state at each tick."""

    def __init__(self, orders: TracerConfig, kernel: Kernel) -> None:
        self.kernel = kernel
        self.rows = tcp_info.Rows()
        #: Ports of which no connection has carried data yet, with their first and last tick.
        self.awaited = {port: (first, last) for port, first, last in orders.flows}
        #: The connection that carries the data to a port.
        self.followed: dict[int, bytes] = {}
        self.asked = 0

    def look(self, tick: int) -> None:
        """Take down the state that all connections are in."""
        self.asked += 1
        if self.followed:
            self._follow(tick)
        awaited = {port for port, (first, last) in self.awaited.items() if first <= tick <= last}
        if awaited:
            self._await(tick, awaited)

    def _follow(self, tick: int) -> None:
        ports = list(self.followed)
        answers = self.kernel.ask(list(self.followed.values()))
        for port, answer in zip(ports, answers, strict=True):
            info = b"" if answer.error else answer.tcp_info
            if answer.error not in (0, errno.ENOENT):
                raise OSError(answer.error, inet_diag.error_text(answer.error))
            if info:
                self.rows.add(tick, port, answer.state, answer.cookie, info)
            else:
                # Closed; one in TIME_WAIT has no more state to tell
                del self.followed[port]

    def _await(self, tick: int, ports: set[int]) -> None:
        for answer in self.kernel.established():
            port = answer.remote_port
            if port not in ports:
                continue
            info = answer.tcp_info
            self.rows.add(tick, port, answer.state, answer.cookie, info)
            if tcp_info.bytes_acked(info) > CARRIES_DATA_BYTES:
                self.followed[port] = answer.identity
                self.awaited.pop(port, None)


def main() -> None:
    """Do as the orders say."""
    orders = TracerConfig.from_json(sys.stdin.buffer.readline())
    kernel = SockDiag(orders.family)
    tracer = Tracer(orders, kernel)
    list(kernel.established())
    timer = Timer()
    told_to_end: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: told_to_end.append(number))
    gc.disable()
    if orders.last_in_line:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    print("ready", flush=True)
    timer.start(int(sys.stdin.buffer.readline()), orders.interval_ns)
    tick = -1
    while not told_to_end:
        tick += timer.expirations()
        tracer.look(tick)
    with FilePath(orders.file).open("wb") as file:
        file.writelines(tracer.rows.parts(ticks=tick + 1, asked=tracer.asked))


if __name__ == "__main__":
    main()
