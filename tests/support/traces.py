"""What a tracer leaves of a run, and samples that agree with it."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

from farpath.record.record import Samples
from farpath.spec import trace
from farpath.spec.plan import Plan
from farpath.tools import tcp_info as tcpinfo
from tests.support.sock_diag import packed_tcp_info


def write_raw_trace(
    raw: FilePath, plan: Plan, ticks: int | None = None, requests: int | None = None
) -> None:
    """What a tracer leaves of two flows, each of two connections, 1 MB a second."""
    rows = tcpinfo.Rows()
    for flow in plan.schedule.flows:
        for tick in range(int(flow.start_s * 100) + 5, int(flow.stop_s * 100) + 1):
            acked = int((tick / 100 - flow.start_s) * 1e6)
            control = packed_tcp_info(bytes_acked=300, snd_cwnd=10, snd_mss=1448)
            data = packed_tcp_info(
                bytes_acked=acked, snd_cwnd=tick, snd_mss=1448, ca_state=3, unacked=90,
                sacked=20, lost=5, retrans=2, snd_ssthresh=tcpinfo.INFINITE_SSTHRESH,
                pacing_rate=1000, delivery_rate=500, flags=0xFF, min_rtt=164_000, snd_wnd=7,
            )  # fmt: skip
            rows.add(tick, flow.port, 1, 2 * flow.port, control)
            rows.add(tick, flow.port, 1, 2 * flow.port + 1, data)
    wanted = trace.ticks(plan.schedule.duration_s, plan.settings.trace_interval_s)
    about = {"ticks": ticks or wanted, "asked": requests or ticks or wanted}
    (raw / f"sender{trace.SUFFIX}").write_bytes(b"".join(rows.parts(**about)))


def samples_like(samples: Samples, plan: Plan, bytes_per_s: float = 1e6) -> Samples:
    """Samples whose receivers took so much each second."""
    rows = [
        (flow.name, flow.start_s + k, 1.0, 8 * bytes_per_s, 8 * bytes_per_s, 0, 1, 1, 1)
        for flow in plan.schedule.flows
        for k in range(1, int(flow.stop_s - flow.start_s) + 1)
    ]
    frame = type(samples.flows)(rows, columns=list(samples.flows.columns))
    return dataclasses.replace(samples, flows=frame)
