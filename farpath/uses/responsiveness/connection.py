"""An HTTP/2 connection that hands the kernel little at a time, for client and server.

h2 (python-hyper) makes and reads the frames of RFC 9113. Between h2 and the socket only bytes that
the kernel has refused are kept, so that a small message waits behind the packets of the path and
not behind data that its own host holds: ``TCP_NOTSENT_LOWAT`` bounds these to 5 ms of the
connection's rate (draft-ietf-ippm-responsiveness-09, "Client-Side Influence").
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import h2.config
import h2.connection
import h2.events
import h2.settings

#: Bytes that a host may hold unsent: 5 ms at the connection's rate, at least a packet's payload.
HELD_S = 0.005
LEAST_HELD_BYTES, FIRST_HELD_BYTES = 1_448, 16_384
#: Largest payload of a frame (SETTINGS_MAX_FRAME_SIZE, RFC 9113, section 6.5.2).
FRAME_BYTES = 16_384
#: Flow control of HTTP/2 that limits no path: windows of streams and of the connection
#: (RFC 9113, section 6.9.1).
WINDOW_BYTES = 2**31 - 1
READ_BYTES = 1 << 18
#: Seconds between two looks at the rate of a connection.
RATE_EVERY_S = 0.5
_ZEROS = bytes(FRAME_BYTES)


class Connection:
    """An HTTP/2 connection over a connected, non-blocking socket.

    ``on_event`` gets each event of h2. ``received_bytes``, ``sent_bytes``: payload of DATA frames;
    the kernel holds the sent ones. ``on_end`` gets the reason when the connection ends.
    """

    def __init__(
        self,
        sock: socket.socket,
        is_client: bool,
        on_event: Callable[[Connection, h2.events.Event], None],
        on_end: Callable[[Connection, str], None],
    ) -> None:
        self.sock = sock
        self.on_event, self.on_end = on_event, on_end
        self.loop = asyncio.get_running_loop()
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=is_client))
        self.received_bytes = self.sent_bytes = 0
        self.endless: list[int] = []
        self._unsent = b""
        self._is_waiting = self._is_closed = False
        self._rate_since = (self.loop.time(), 0)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._hold(FIRST_HELD_BYTES)
        self.http.local_settings = h2.settings.Settings(
            client=is_client,
            initial_values={h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: WINDOW_BYTES},
        )
        self.http.initiate_connection()
        self.http.increment_flow_control_window(WINDOW_BYTES - 65_535)
        self.loop.add_reader(sock.fileno(), self._read)
        self.flush()

    def request(self, method: str, path: str, *, with_body: bool = False) -> int:
        """Send a request; return its stream. ``with_body``: data without end follow."""
        stream = self.http.get_next_available_stream_id()
        headers = [(":method", method), (":path", path), (":scheme", "http"), (":authority", "a")]
        self.http.send_headers(stream, headers, end_stream=not with_body)
        if with_body:
            self.endless.append(stream)
        self.flush()
        return stream

    def answer(self, stream: int, body: bytes | None) -> None:
        """Answer a request with a body; without one data without end follow."""
        self.http.send_headers(stream, [(":status", "200")])
        if body is None:
            self.endless.append(stream)
        else:
            self.http.send_data(stream, body, end_stream=True)
        self.flush()

    def flush(self) -> None:
        """Hand h2's frames to the kernel; refused bytes follow later."""
        self._unsent += self.http.data_to_send()
        self._send()

    def close(self) -> None:
        """Close the connection at once; data on the way is reset."""
        if not self._is_closed:
            self._is_closed = True
            self.loop.remove_reader(self.sock.fileno())
            self._wait(wanted=False)
            self.sock.close()

    def _send(self) -> None:
        if self._is_closed:
            return
        if self._unsent:
            try:
                count = self.sock.send(self._unsent)
            except BlockingIOError:
                count = 0
            except OSError as error:
                self._end(str(error))
                return
            self._unsent = self._unsent[count:]
        self._wait(wanted=bool(self._unsent or self.endless))

    def _wait(self, *, wanted: bool) -> None:
        """Ask for an event when the kernel holds less than it may, or stop asking."""
        if wanted and not self._is_waiting:
            self.loop.add_writer(self.sock.fileno(), self._go_on)
        elif not wanted and self._is_waiting:
            self.loop.remove_writer(self.sock.fileno())
        self._is_waiting = wanted

    def _go_on(self) -> None:
        """Send the next frame, of each stream without end in turn."""
        if not self._unsent and self.endless:
            stream = self.endless.pop(0)
            self.endless.append(stream)
            window = self.http.local_flow_control_window(stream)
            count = min(FRAME_BYTES, self._held_bytes, window)
            if count <= 0:
                # The other end widens its windows before they are used up
                self._wait(wanted=False)
                return
            self.http.send_data(stream, _ZEROS[:count])
            self.sent_bytes += count
            self._look_at_rate()
        self.flush()

    def _look_at_rate(self) -> None:
        (since_s, bytes_then), now_s = self._rate_since, self.loop.time()
        if now_s - since_s >= RATE_EVERY_S:
            per_s = (self.sent_bytes - bytes_then) / (now_s - since_s)
            self._rate_since = (now_s, self.sent_bytes)
            self._hold(max(LEAST_HELD_BYTES, round(per_s * HELD_S)))

    def _hold(self, count: int) -> None:
        self._held_bytes = count
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, count)

    def _read(self) -> None:
        try:
            data = self.sock.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(str(error))
            return
        if not data:
            self._end("the other end has closed the connection")
            return
        for event in self.http.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                self.received_bytes += len(event.data)
                if length := event.flow_controlled_length:
                    self.http.acknowledge_received_data(length, event.stream_id)
            if isinstance(event, h2.events.ConnectionTerminated):
                self._end(f"the other end reports HTTP/2's error {event.error_code}")
                return
            self.on_event(self, event)
            if self._is_closed:
                return
        self.flush()

    def _end(self, reason: str) -> None:
        self.close()
        self.on_end(self, reason)
