"""Server of the responsiveness test: ``python3 -m farpath.uses.responsiveness.server``.

It serves HTTP/2 without TLS (RFC 9113, "prior knowledge") until it is ended.
"""

from __future__ import annotations

import asyncio
import socket

import h2.events

from farpath.uses.responsiveness import LARGE, PORT, SINK, SMALL
from farpath.uses.responsiveness.connection import Connection

BACKLOG = 4096


def _answer(connection: Connection, event: h2.events.Event) -> None:
    if not isinstance(event, h2.events.RequestReceived):
        return
    paths = [value.decode() for name, value in event.headers if name == b":path"]
    if paths == [LARGE]:
        connection.answer(event.stream_id, None)
    elif paths == [SMALL]:
        connection.answer(event.stream_id, b"1")
    elif paths != [SINK]:
        connection.http.send_headers(event.stream_id, [(":status", "404")], end_stream=True)


def _end(_connection: Connection, _reason: str) -> None:
    """Forget a connection that its client has closed."""


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    listener = socket.create_server(
        ("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG
    )
    listener.setblocking(False)
    while True:
        sock, _ = await loop.sock_accept(listener)
        sock.setblocking(False)
        Connection(sock, False, _answer, _end)


if __name__ == "__main__":
    asyncio.run(_serve())
