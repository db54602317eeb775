"""The endpoint ``tcp``: files by HTTP/1.1 over TLS and the kernel's TCP, as QUIC's have them.

It has the environment of the interop runner: ``ROLE``, ``TESTCASE``, ``REQUESTS``. All files that a
case asks for at once are asked for at once, each over a connection; cases of QUIC's own parts are
not supported, which the status 127 says.
"""

from __future__ import annotations

import http.server
import os
import socket
import ssl
import sys
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SUPPORTED = ("handshake", "transfer", "multiconnect")
NOT_SUPPORTED = 127
PORT = 443
#: Connections at once, and bytes that are read at once.
AT_ONCE, PART_BYTES = 6, 1 << 16


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers with the files of /www."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments, directory="/www")  # type: ignore[arg-type]

    def log_message(self, *_arguments: object) -> None:
        """Write nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A server over TLS; each connection shakes hands in a thread of its own."""

    address_family = socket.AF_INET6  # which takes connections of IPv4 too
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("::", PORT), Handler)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain("/certs/cert.pem", "/certs/priv.key")

    def finish_request(self, request: object, client_address: object) -> None:
        """Shake hands, and answer."""
        with self.context.wrap_socket(request, server_side=True) as wrapped:  # type: ignore[arg-type]
            super().finish_request(wrapped, client_address)


def serve() -> None:
    """Answer for ever."""
    Server().serve_forever()


def fetch(url: str) -> None:
    """Write the file of an address into /downloads."""
    context = ssl.create_default_context(cafile="/certs/ca.pem")
    target = Path("/downloads", Path(urllib.parse.urlsplit(url).path).name)
    with urllib.request.urlopen(url, context=context) as answer, target.open("wb") as file:
        while part := answer.read(PART_BYTES):
            file.write(part)


def main() -> int:
    """Be the endpoint that the environment asks for; return its status."""
    if os.environ["TESTCASE"] not in SUPPORTED:
        return NOT_SUPPORTED
    if os.environ["ROLE"] == "server":
        serve()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(fetch, os.environ["REQUESTS"].split()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
