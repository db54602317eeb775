"""The tracer: which connections it asks for, and when it looks for others."""

from __future__ import annotations

import socket

import numpy as np

from farpath.mechanisms.trace import rows as trace_rows
from farpath.mechanisms.trace.guest.tracer import CARRIES_DATA_BYTES, Tracer
from farpath.spec.trace import TracerConfig
from tests.support.sock_diag import FIRST, SECOND, Connections, diag_message, packed_tcp_info


def tracer_config(*flows: tuple[int, int, int]) -> TracerConfig:
    return TracerConfig(10_000_000, flows, "file", socket.AF_INET, last_in_line=True)


def rows_of(tracer: Tracer) -> list[tuple[int, int, int]]:
    """Tick, port and cookie of each row taken down."""
    _, blocks = trace_rows.parse(b"".join(tracer.rows.parts(ticks=1, asked=1)))
    return [
        (int(row["tick"]), int(row["port"]), int(row["cookie"])) for row in np.hstack([*blocks])
    ]


def test_the_connection_that_carries_data_is_followed_to_its_end_without_another_dump() -> None:
    kernel = Connections()
    tracer = Tracer(tracer_config((FIRST, 2, 9)), kernel)
    control = diag_message(FIRST, 1, packed_tcp_info(bytes_acked=400))
    slow, fast = (
        diag_message(FIRST, 2, packed_tcp_info(bytes_acked=CARRIES_DATA_BYTES + n)) for n in (0, 1)
    )
    said = {
        1: [control], 2: [], 3: [control], 4: [control, slow], 5: [control, fast],
        6: [control, fast], 7: [control, fast], 8: [control], 9: [control],
    }  # fmt: skip
    for tick, messages in said.items():
        kernel.messages = messages
        tracer.sample(tick)
    # Ticks 2 to 5 looked for it; 6 and 7 asked for it alone; at 8 it was gone
    assert kernel.dumps == 4
    assert rows_of(tracer) == [
        (3, FIRST, 1), (4, FIRST, 1), (4, FIRST, 2), (5, FIRST, 1), (5, FIRST, 2),
        (6, FIRST, 2), (7, FIRST, 2),
    ]  # fmt: skip
    assert tracer.asked == 9


def test_other_connections_are_left_alone_and_a_flow_is_looked_for_in_its_time() -> None:
    kernel = Connections()
    kernel.messages = [diag_message(port, port, packed_tcp_info()) for port in (FIRST, SECOND, 22)]
    tracer = Tracer(tracer_config((FIRST, 0, 1), (SECOND, 1, 2)), kernel)
    for tick in range(4):
        tracer.sample(tick)
    assert rows_of(tracer) == [(0, FIRST, FIRST), (1, FIRST, FIRST), (1, SECOND, SECOND),
                               (2, SECOND, SECOND)]  # fmt: skip
    assert kernel.dumps == 3
