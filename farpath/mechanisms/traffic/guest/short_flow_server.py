"""Server of the short flows: a program that sends each client the bytes that it asks for.

It is run as ``python3 -S -m`` with this module, in the namespace of its host, and reads its
configuration (``farpath.tools.short_flows.ServerConfig``) from stdin as one line. It serves all
connections in one process until stdin ends.
"""

from __future__ import annotations

import gc
import select
import socket
import sys
from pathlib import Path as FilePath
from typing import IO

from farpath.mechanisms.traffic.guest.short_flow_client import abort, allow_connections
from farpath.tools.short_flows import INFO_BYTES, REQUEST, ServerConfig, retransmits

#: Connections that wait to be accepted; the kernel cuts it to net.core.somaxconn.
BACKLOG = 65_535
#: Bytes that are handed to a connection at once.
BLOCK_BYTES = 1 << 18
#: Longest name of a congestion control (TCP_CA_NAME_MAX in include/net/tcp.h).
NAME_BYTES = 16


class Reply:
    """A connection, the flow that it carries, and how much of it the kernel has not taken yet."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.number = -1
        self.left_bytes = 0


class Server:
    """Accepts connections and answers them; writes a line for each to a file."""

    def __init__(self, config: ServerConfig, file: IO[str]) -> None:
        self.file = file
        family = socket.AF_INET6 if config.ipv6 else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        name = config.congestion.encode()
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
        self.listener.bind(("", config.port))
        self.listener.listen(BACKLOG)
        self.payload = memoryview(bytes(BLOCK_BYTES))
        self.replies: dict[int, Reply] = {}
        self.poll = select.epoll()
        self.poll.register(self.listener, select.EPOLLIN)
        self.poll.register(sys.stdin, select.EPOLLIN)

    def serve(self) -> None:
        """Serve until stdin ends; connections that are open then are aborted."""
        end, listening = sys.stdin.fileno(), self.listener.fileno()
        ended = False
        while not ended:
            for descriptor, _ in self.poll.poll():
                if descriptor == end:
                    ended = True
                elif descriptor == listening:
                    self._accept()
                else:
                    self._go_on(self.replies[descriptor])
        for reply in list(self.replies.values()):
            self._close(reply, aborted=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except BlockingIOError:
                return
            connection.setblocking(False)
            self.replies[connection.fileno()] = Reply(connection)
            self.poll.register(connection, select.EPOLLIN)

    def _go_on(self, reply: Reply) -> None:
        try:
            if reply.left_bytes:
                self._send(reply)
            elif not (request := reply.connection.recv(REQUEST.size)):
                self._close(reply)
            else:
                reply.number, reply.left_bytes = REQUEST.unpack(request)
                self._send(reply)
        except BlockingIOError:
            return
        except OSError:
            # The client has aborted the connection, or the path has lost it.
            self._close(reply, aborted=True)

    def _send(self, reply: Reply) -> None:
        """Hand the kernel what it takes; after the last byte, wait for the client's end."""
        while reply.left_bytes:
            try:
                reply.left_bytes -= reply.connection.send(self.payload[: reply.left_bytes])
            except BlockingIOError:
                self.poll.modify(reply.connection, select.EPOLLOUT)
                return
        reply.connection.shutdown(socket.SHUT_WR)
        self.poll.modify(reply.connection, select.EPOLLIN)

    def _close(self, reply: Reply, *, aborted: bool = False) -> None:
        """Write the flow's line and close its connection."""
        connection = reply.connection
        if reply.number >= 0:
            info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_BYTES)
            name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, NAME_BYTES)
            control = name.partition(b"\0")[0].decode()
            self.file.write(f"{reply.number} {retransmits(info)} {control}\n")
        del self.replies[connection.fileno()]
        if aborted:
            abort(connection)
        connection.close()


def main() -> None:
    """Serve as the configuration on stdin says."""
    config = ServerConfig.from_json(sys.stdin.buffer.readline())
    gc.disable()
    allow_connections()
    with FilePath(config.file).open("w", encoding="ascii") as file:
        Server(config, file).serve()


if __name__ == "__main__":
    main()
