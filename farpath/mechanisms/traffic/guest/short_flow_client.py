"""Client of the short flows: a program that starts each flow at its time and notes its end.

It is run as ``python3 -S -m`` with this module, in the namespace of its host, and reads its
configuration from stdin as one line of JSON: the plan, from which it draws the flows, the
server's address, the schedule's start in ns of the monotonic clock, and the file of its lines
(``farpath.tools.short_flows``). It ends with the schedule.

A flow is a connection of its own, as a browser's request of HTTP/1.0: the client connects and
asks for the bytes, and the server sends them and closes. It begins with the call of connect(2) and
ends when the last byte has arrived. Between two events the program waits for a timer, so that it
does not read the clock, which takes time.
"""

from __future__ import annotations

import errno
import gc
import json
import resource
import select
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.timer import NS_PER_S, Timer
from farpath.spec.arrivals import SERVER_PORT, Arrival, arrivals
from farpath.spec.plan import Plan
from farpath.tools.short_flows import REQUEST, UNFINISHED

#: Bytes after which the kernel wakes the client, and which it then reads at once.
WAKE_BYTES = 16_384
#: Connections that may be open at once, if the machine allows so many.
MOST_CONNECTIONS = 1 << 18
#: struct linger that makes close(2) abort a connection.
_LINGER = struct.pack("ii", 1, 0)


def abort(connection: socket.socket) -> None:
    """Make a connection's close send a reset, so that nothing of it stays on the path."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)


def allow_connections() -> None:
    """Raise this process's limit of open files as far as the machine allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_CONNECTIONS, MOST_CONNECTIONS))
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Transfer:
    """A flow that has started; ``left_bytes`` have not arrived yet."""

    def __init__(
        self, number: int, size_bytes: int, start_ns: int, connection: socket.socket
    ) -> None:
        self.number = number
        self.size_bytes = self.left_bytes = size_bytes
        self.start_ns = start_ns
        self.connection = connection
        self.asked = False


class Client:
    """Starts flows at their times and writes a line for each to a file.

    ``epoch_ns``: the schedule's start by the monotonic clock.
    """

    def __init__(self, plan: Plan, address: str, epoch_ns: int, file: IO[str]) -> None:
        self.address = address
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.epoch_ns = epoch_ns
        self.end_ns = epoch_ns + round(plan.schedule.duration_s * NS_PER_S)
        self.file = file
        self.buffer = bytearray(WAKE_BYTES * 16)
        self.transfers: dict[int, Transfer] = {}
        self.coming: Iterator[Arrival] = arrivals(plan)
        self.next: Arrival | None = None
        self.timer = Timer()
        self.poll = select.epoll()
        self.poll.register(self.timer.descriptor, select.EPOLLIN)

    def run(self) -> None:
        """Run all flows until the schedule's end; those that are open then are aborted."""
        self._await_next()
        while True:
            for descriptor, _ in self.poll.poll():
                if descriptor != self.timer.descriptor:
                    self._go_on(self.transfers[descriptor])
                elif not self._start_due():
                    for transfer in list(self.transfers.values()):
                        self._end(transfer, UNFINISHED)
                    return

    def _start_ns(self, arrival: Arrival) -> int:
        return self.epoch_ns + round(arrival.start_s * NS_PER_S)

    def _await_next(self) -> None:
        """Set the timer to the next flow's start, or to the schedule's end."""
        self.next = next(self.coming, None)
        self.timer.start(self._start_ns(self.next) if self.next else self.end_ns)

    def _start_due(self) -> bool:
        """Start the next flow, and others whose time has come; False at the schedule's end."""
        self.timer.expirations()
        if self.next is None:
            return False
        now_ns = self._start(self.next)
        while (arrival := next(self.coming, None)) and self._start_ns(arrival) <= now_ns:
            now_ns = self._start(arrival)
        self.next = arrival
        self.timer.start(self._start_ns(arrival) if arrival else self.end_ns)
        return True

    def _start(self, arrival: Arrival) -> int:
        """Start a flow; return its start in ns of the monotonic clock."""
        connection = socket.socket(self.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        now_ns = time.monotonic_ns()
        status = connection.connect_ex((self.address, SERVER_PORT))
        if status not in (0, errno.EINPROGRESS):
            raise OSError(status, f"flow {arrival.number} cannot connect to {self.address}")
        transfer = Transfer(arrival.number, arrival.size_bytes, now_ns, connection)
        self.transfers[connection.fileno()] = transfer
        self.poll.register(connection, select.EPOLLOUT)
        return now_ns

    def _go_on(self, transfer: Transfer) -> None:
        try:
            if transfer.asked:
                self._read(transfer)
            else:
                self._ask(transfer)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno not in (errno.ETIMEDOUT, errno.EHOSTUNREACH):
                raise
            # The path has lost every attempt.
            self._end(transfer, UNFINISHED)

    def _ask(self, transfer: Transfer) -> None:
        transfer.connection.send(REQUEST.pack(transfer.number, transfer.size_bytes))
        transfer.asked = True
        self._wake_after(transfer)
        self.poll.modify(transfer.connection, select.EPOLLIN)

    def _wake_after(self, transfer: Transfer) -> None:
        """Let the kernel wake this process for the last byte, and before once for many packets."""
        least = min(WAKE_BYTES, transfer.left_bytes)
        transfer.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, least)

    def _read(self, transfer: Transfer) -> None:
        """Discard what has arrived: with MSG_TRUNC the kernel does not copy it (tcp(7))."""
        count = transfer.connection.recv_into(self.buffer, 0, socket.MSG_TRUNC)
        transfer.left_bytes -= count
        if transfer.left_bytes <= 0:
            self._end(transfer, time.monotonic_ns())
        elif not count:
            raise ConnectionError(f"flow {transfer.number} ended {transfer.left_bytes} bytes short")
        elif transfer.left_bytes < WAKE_BYTES:
            self._wake_after(transfer)

    def _end(self, transfer: Transfer, end_ns: int) -> None:
        """Write the flow's line and close its connection; without its last byte, abort it."""
        connection = transfer.connection
        if end_ns == UNFINISHED:
            abort(connection)
        else:
            end_ns -= self.epoch_ns
        received = transfer.size_bytes - transfer.left_bytes
        start_ns = transfer.start_ns - self.epoch_ns
        self.file.write(f"{transfer.number} {start_ns} {end_ns} {received}\n")
        del self.transfers[connection.fileno()]
        connection.close()


def main(kind: type[Client] = Client) -> None:
    """Run the flows that the configuration on stdin says, with a client of this kind."""
    config = json.loads(sys.stdin.buffer.readline())
    plan = Plan.from_dict(config["plan"])
    gc.disable()
    allow_connections()
    with FilePath(config["file"]).open("w", encoding="ascii") as file:
        kind(plan, config["address"], config["epoch_ns"], file).run()


if __name__ == "__main__":
    main()
