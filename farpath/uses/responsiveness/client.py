"""Client of the responsiveness test: ``python3 -m farpath.uses.responsiveness.client METHOD``.

``METHOD`` is JSON of ``farpath.uses.responsiveness.measure.Method``. stdout has the result as one
JSON object, stderr a line for each interval.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import sys

import h2.events

from farpath.uses.responsiveness import LARGE, PORT, SINK, SMALL
from farpath.uses.responsiveness.connection import Connection
from farpath.uses.responsiveness.measure import (
    BOTH,
    DOWN,
    FOREIGN,
    HANDSHAKE,
    LOADED,
    UP,
    Interval,
    Method,
    Probe,
    Responsiveness,
    RpmProgress,
    result_of,
)

SERVER = "server"
#: Probes of the idle path before any load, and the time between two of them in s.
IDLE_PROBES, IDLE_EVERY_S = 10, 0.1


class Test:
    """The test of one method; ``run`` makes it."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.loop = asyncio.get_running_loop()
        self.address = socket.getaddrinfo(SERVER, PORT, type=socket.SOCK_STREAM)[0]
        self.chance = random.Random(f"responsiveness {method.seed}")
        self.start_s = self.loop.time()
        self.load: list[Connection] = []
        self.probes: list[Probe] = []
        self.waiting: dict[tuple[Connection, int], asyncio.Future[float]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.failed: asyncio.Future[None] = self.loop.create_future()

    async def run(self) -> Responsiveness:
        """Probe the idle path, load it and probe it until the result is stable or time is over.

        Raises ConnectionError if a connection that carries load ends.
        """
        for _ in range(IDLE_PROBES):
            await self._probe_new()
            await asyncio.sleep(IDLE_EVERY_S)
        # The clock of a loaded path begins with its first load
        now_s = self.loop.time()
        shift_s, self.start_s = now_s - self.start_s, now_s
        idle = [
            Probe(probe.start_s - shift_s, probe.end_s - shift_s, probe.times_ms)
            for probe in self.probes
        ]
        self.probes = []
        work = self.loop.create_task(self._load_and_probe())
        await asyncio.wait((work, self.failed), return_when=asyncio.FIRST_COMPLETED)
        if self.failed.done():
            self.failed.result()
        return result_of(work.result(), idle, self.probes)

    async def _load_and_probe(self) -> RpmProgress:
        progress, before_bytes = RpmProgress(self.method), 0
        prober = self.loop.create_task(self._probe_steadily(progress))
        await self._add_load()
        while True:
            end_s = self.start_s + (len(progress.intervals) + 1) * self.method.interval_s
            await asyncio.sleep(end_s - self.loop.time())
            carried_bytes = sum(one.received_bytes + one.sent_bytes for one in self.load)
            interval = progress.add(len(self.load), carried_bytes - before_bytes, self.probes)
            before_bytes = carried_bytes
            _tell(interval)
            if progress.ended:
                prober.cancel()
                return progress
            if len(self.load) < self.method.most_connections:
                await self._add_load()

    async def _add_load(self) -> None:
        """Add a connection that carries load; if both directions do, one for each in turn."""
        turn = (DOWN, UP)[len(self.load) % 2]
        direction = turn if self.method.direction == BOTH else self.method.direction
        connection = await self._connect()
        if direction == DOWN:
            connection.request("GET", LARGE)
        else:
            connection.request("POST", SINK, with_body=True)
        self.load.append(connection)

    async def _probe_steadily(self, progress: RpmProgress) -> None:
        """Start pairs of probes, as many in a second as the last interval's goodput allows."""
        while True:
            goodput_bps = progress.intervals[-1].goodput_bps if progress.intervals else 0.0
            await asyncio.sleep(1 / self.method.pairs_per_s(goodput_bps))
            for probe in (self._probe_new(), self._probe_loaded()):
                task = self.loop.create_task(probe)
                self.tasks.add(task)
                task.add_done_callback(self._probed)

    def _probed(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self.failed.done():
            self.failed.set_exception(error)

    async def _connect(self) -> Connection:
        family, kind, _, _, address = self.address
        sock = socket.socket(family, kind)
        sock.setblocking(False)
        await self.loop.sock_connect(sock, address)
        return Connection(sock, True, self._on_event, self._on_end)

    async def _probe_new(self) -> None:
        """Ask for a byte on a connection of its own."""
        start_s = self.loop.time()
        connection = await self._connect()
        connected_s = self.loop.time()
        end_s = await self._answer(connection)
        connection.close()
        times_ms = {HANDSHAKE: 1e3 * (connected_s - start_s), FOREIGN: 1e3 * (end_s - connected_s)}
        self.probes.append(Probe(start_s - self.start_s, end_s - self.start_s, times_ms))

    async def _probe_loaded(self) -> None:
        """Ask for a byte on one of the connections that carry load."""
        if not self.load:
            return
        start_s = self.loop.time()
        end_s = await self._answer(self.chance.choice(self.load))
        times_ms = {LOADED: 1e3 * (end_s - start_s)}
        self.probes.append(Probe(start_s - self.start_s, end_s - self.start_s, times_ms))

    async def _answer(self, connection: Connection) -> float:
        """Ask for a byte; return when all of it had come."""
        answered: asyncio.Future[float] = self.loop.create_future()
        stream = connection.request("GET", SMALL)
        self.waiting[connection, stream] = answered
        return await answered

    def _on_event(self, connection: Connection, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.StreamEnded | h2.events.StreamReset):
            assert event.stream_id is not None
            answered = self.waiting.pop((connection, event.stream_id), None)
            if answered and not answered.done():
                answered.set_result(self.loop.time())

    def _on_end(self, connection: Connection, reason: str) -> None:
        if not self.failed.done():
            self.failed.set_exception(ConnectionError(reason))


def _tell(interval: Interval) -> None:
    rpm = "" if interval.rpm is None else f", {interval.rpm:.0f} RPM"
    sys.stderr.write(
        f"responsiveness: {interval.end_s:g} s, connections {interval.connections}, "
        f"{interval.goodput_bps / 1e6:.1f} Mbit/s{rpm}\n"
    )
    sys.stderr.flush()


async def _run(method: Method) -> Responsiveness:
    return await Test(method).run()


def main() -> None:
    """Make the test that the command line names, and print its result."""
    result = asyncio.run(_run(Method(**json.loads(sys.argv[1]))))
    json.dump(result.as_dict(), sys.stdout)


if __name__ == "__main__":
    main()
