"""An endpoint of the QUIC interop runner over aioquic, a library of Python.

    pip install aioquic
    farpath interop 'aioquic=machine:python3 aioquic_endpoint.py'

The runner gives ROLE, TESTCASE, REQUESTS, SSLKEYLOGFILE and QLOGDIR; files are in /www, /downloads
and /certs. Files come by HTTP/0.9 (``hq-interop``), and in the case http3 by HTTP/3.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived
from aioquic.quic.logger import QuicFileLogger
from aioquic.tls import CipherSuite

SUPPORTED = {
    *("handshake", "transfer", "chacha20", "retry", "resumption", "zerortt", "http3"),
    "multiconnect",
}
NOT_SUPPORTED = 127
WWW, DOWNLOADS, PORT = Path("/www"), Path("/downloads"), 443
#: Streams that a client opens at once, for which no limit of a server is too low.
AT_ONCE = 100


def configuration(case: str, *, is_client: bool) -> QuicConfiguration:
    """Return the settings of an endpoint in a case."""
    keys = Path(os.environ["SSLKEYLOGFILE"]).open("a")  # noqa: SIM115 - until the process ends
    made = QuicConfiguration(
        is_client=is_client,
        alpn_protocols=H3_ALPN if case == "http3" else ["hq-interop"],
        quic_logger=QuicFileLogger(os.environ["QLOGDIR"]),
        secrets_log_file=keys,
    )
    if case == "chacha20":
        made.cipher_suites = [CipherSuite.CHACHA20_POLY1305_SHA256]
    if is_client:
        made.load_verify_locations("/certs/ca.pem")
    else:
        made.load_cert_chain("/certs/cert.pem", "/certs/priv.key")
    return made


class Endpoint(QuicConnectionProtocol):
    """A connection of either side, by HTTP/0.9 or HTTP/3."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.h3: H3Connection | None = None
        self.received: dict[int, bytearray] = {}
        self.ended: dict[int, asyncio.Future[None]] = {}

    def use_h3(self) -> None:
        """Speak HTTP/3 from now on."""
        self.h3 = self.h3 or H3Connection(self._quic)

    def quic_event_received(self, event: QuicEvent) -> None:
        """Take data of a stream."""
        if type(event).__name__ == "ProtocolNegotiated" and event.alpn_protocol in H3_ALPN:
            self.use_h3()
        if self.h3:
            for one in self.h3.handle_event(event):
                if isinstance(one, HeadersReceived):
                    self.headers(one)
                elif isinstance(one, DataReceived):
                    self.data(one.stream_id, one.data, one.stream_ended)
        elif isinstance(event, StreamDataReceived):
            self.data(event.stream_id, event.data, event.end_stream)

    def headers(self, event: HeadersReceived) -> None:
        """Take the headers of HTTP/3: a server answers."""
        if not self._quic.configuration.is_client:
            path = dict(event.headers)[b":path"].decode()
            content = (WWW / Path(path).name).read_bytes()
            assert self.h3
            self.h3.send_headers(event.stream_id, [(b":status", b"200")])
            self.h3.send_data(event.stream_id, content, end_stream=True)
            self.transmit()
        elif event.stream_ended:
            self.data(event.stream_id, b"", True)

    def data(self, stream: int, data: bytes, ended: bool) -> None:
        """Take data; a server of HTTP/0.9 answers a whole request."""
        self.received.setdefault(stream, bytearray()).extend(data)
        if not ended:
            return
        if self._quic.configuration.is_client:
            self.ended[stream].set_result(None)
        elif not self.h3:
            path = self.received[stream].decode().split()[1]
            content = (WWW / Path(path).name).read_bytes()
            self._quic.send_stream_data(stream, content, end_stream=True)
            self.transmit()

    async def get(self, url: str) -> None:
        """Write the file of an address into the directory of downloads."""
        parts = urlsplit(url)
        stream = self._quic.get_next_available_stream_id()
        self.ended[stream] = asyncio.get_running_loop().create_future()
        if self.h3:
            self.h3.send_headers(
                stream,
                [
                    (b":method", b"GET"),
                    (b":scheme", b"https"),
                    (b":authority", parts.netloc.encode()),
                    (b":path", parts.path.encode()),
                ],
                end_stream=True,
            )
        else:
            self._quic.send_stream_data(stream, f"GET {parts.path}\r\n".encode(), end_stream=True)
        self.transmit()
        await self.ended[stream]
        (DOWNLOADS / Path(parts.path).name).write_bytes(self.received.pop(stream))


async def download(urls: Sequence[str], settings: QuicConfiguration, **named: Any) -> None:
    """Get files over one connection, at most ``AT_ONCE`` of them together."""
    parts = urlsplit(urls[0])
    is_early = named.pop("is_early", False)
    async with connect(
        *(parts.hostname, parts.port or PORT),
        configuration=settings,
        create_protocol=Endpoint,
        wait_connected=not is_early,
        **named,
    ) as connection:
        assert isinstance(connection, Endpoint)
        if settings.alpn_protocols == H3_ALPN:
            connection.use_h3()
        for start in range(0, len(urls), AT_ONCE):
            await asyncio.gather(*map(connection.get, urls[start : start + AT_ONCE]))


async def be_client(case: str, urls: Sequence[str]) -> None:
    """Get all files as the case demands."""
    settings = configuration(case, is_client=True)
    if case == "multiconnect":
        for url in urls:
            await download([url], configuration(case, is_client=True))
        return
    if case not in ("resumption", "zerortt"):
        await download(urls, settings)
        return
    tickets: list[Any] = []
    await download(urls[:1], settings, session_ticket_handler=tickets.append)
    again = configuration(case, is_client=True)
    again.session_ticket = tickets[-1]
    await download(urls[1:], again, is_early=case == "zerortt")


async def be_server(case: str) -> None:
    """Answer until SIGTERM, at which the logs of connections that are still open are written."""
    tickets: dict[bytes, Any] = {}
    settings = configuration(case, is_client=False)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await serve(
        *("::", PORT),
        configuration=settings,
        create_protocol=Endpoint,
        retry=case == "retry",
        session_ticket_fetcher=tickets.get,
        session_ticket_handler=lambda ticket: tickets.update({ticket.ticket: ticket}),
    )
    await ended.wait()
    logger = settings.quic_logger
    assert logger
    for trace in list(logger._traces):
        logger.end_trace(trace)


def main() -> int:
    """Be the endpoint that the environment asks for; return its status."""
    case = os.environ["TESTCASE"]
    if case not in SUPPORTED:
        return NOT_SUPPORTED
    if os.environ["ROLE"] == "server":
        asyncio.run(be_server(case))
    else:
        asyncio.run(be_client(case, os.environ["REQUESTS"].split()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
