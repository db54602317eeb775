"""What the programs of short flows leave, written by hand."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from farpath.planning.request import RunRequest
from farpath.spec.arrivals import arrivals
from farpath.spec.plan import Plan
from farpath.spec.protocol import SHORT_FLOWS_FILE

#: How long every flow takes, and which number has not ended.
TAKEN_NS, OPEN = 100_500_000, 3


def short_flow_plan(background: str = "tcp:10%", **words: str) -> Plan:
    """The plan of a run of 5 s beside short flows."""
    texts = {"rtt": "50ms", "rate": "100Mbit", "stack": "reno", "schedule": "together"} | words
    return RunRequest(**texts, background=background, region="5s").plan()


def write_short_flows(raw: Path, plan: Plan) -> None:
    """The lines of both programs: flow ``OPEN`` has half of its bytes, and one more segment."""
    client, server = [], []
    for one in arrivals(plan):
        start_ns = round(one.start_s * 1e9) + 700
        is_open = one.number == OPEN
        end_ns = -1 if is_open else start_ns + TAKEN_NS
        received = one.size_bytes // 2 if is_open else one.size_bytes
        client.append(f"{one.number} {start_ns} {end_ns} {received}\n")
        server.append(f"{one.number} {int(is_open)} cubic\n")
    # Flows end in another order than they start
    (raw / SHORT_FLOWS_FILE.format(host="client")).write_text("".join(client[::-1]))
    (raw / SHORT_FLOWS_FILE.format(host="server")).write_text("".join(server))


def completion_bounds_s(plan: Plan, size_bytes: int) -> tuple[float, float]:
    """Bounds of a flow's completion on an idle path: slow start from the initial window.

    That has 10 segments (RFC 6928), or those of the era. One round trip for the handshake, one for
    the request and the first window, and one for each further window, which is twice the last (RFC
    5681, section 3.1). The last window's frames leave the bottleneck one after another; before it,
    a window's first two frames do, since an acknowledgement may wait for the second. What remains
    is a millisecond. A fourth window would exceed the window that a client offers at first.
    """
    segments, windows = -(-size_bytes // (plan.path.mtu_bytes - 52)), 1
    window = plan.era.initial_window_packets or 10
    while segments > window:
        segments, windows, window = segments - window, windows + 1, 2 * window
    frame_s = 8 * plan.path.frame_bytes / plan.path.rate_bps
    least_s = (1 + windows) * plan.path.rtt_ms / 1e3
    return least_s, least_s + (segments + 2 * windows) * frame_s + 1e-3


def ended(frame: pd.DataFrame) -> pd.DataFrame:
    """The flows whose last byte had come when the schedule ended."""
    return frame[frame["completion_s"].notna()]
