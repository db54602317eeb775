"""A synthetic run whose throughputs, RTTs and queue are known by hand."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from typing import Any

from farpath.planning.planner import make_plan
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow, Schedule
from tests.support.paths import LONG

#: Bytes that flow 1 gets in each of its seconds while alone and while in company.
ALONE, SHARED = 50_000_000, 25_000_000
#: How long after a flow's start its connection begins, and the clock at the schedule's start.
BEGIN_S, CLOCK_NS = 0.25, 70_000_000_000


def _report(streams: list[dict[str, Any]]) -> str:
    return json.dumps({"start": {}, "intervals": [{"streams": [s]} for s in streams], "end": {}})


def _write_flow(raw: FilePath, flow: Flow, taken_bytes: list[int], drained_bytes: int) -> None:
    """iperf3's two reports: whole seconds, then 0.2 s of what was still on its way."""
    seconds = range(len(taken_bytes))
    sender = [
        {"start": k, "end": k + 1, "bytes": taken_bytes[k], "retransmits": k % 2,
         "snd_cwnd": 1_000_000 + k, "snd_wnd": 16_000_000, "rtt": 164_000 + k}
        for k in seconds
    ]  # fmt: skip
    receiver: list[dict[str, Any]] = [
        {"start": k, "end": k + 1, "bytes": taken_bytes[k]} for k in seconds
    ]
    end = len(taken_bytes)
    receiver.append({"start": end, "end": end + 0.2, "bytes": drained_bytes})
    (raw / f"{flow.name}-sender.out").write_text(_report(sender))
    (raw / f"{flow.name}-receiver.out").write_text(_report(receiver))
    # The control connection, then the one that carries data
    accepted_ns = [CLOCK_NS + round((flow.start_s + at_s) * 1e9) for at_s in (0.1, BEGIN_S)]
    lines = "".join(f"accepted {ns}\n" for ns in accepted_ns)
    (raw / f"{flow.name}-receiver.err").write_text(lines)
    (raw / f"{flow.name}-schedule-start.txt").write_text(str(CLOCK_NS))


def write_pings(raw: FilePath, count: int) -> None:
    """Every ping takes 164 ms and the third is lost; ping drifts by 1 ms each time."""
    lines = [
        f"[{1e9 + 1.001 * (seq - 1) + 0.164:.6f}] 64 bytes from 10.0.0.2: "
        f"icmp_seq={seq} ttl=64 time=164.000 ms"
        for seq in range(1, count + 1)
        if seq != 3
    ]
    lines.append(f"{count} packets transmitted, {count - 1} received, 1% packet loss, time 0ms")
    (raw / "ping.out").write_text("\n".join(lines) + "\n")


def write_queue(
    raw: FilePath,
    count: int,
    file: str = "queue.txt",
    waiting: int = 1,
    drops: int = 2,
    sent_bytes: int = 0,
) -> None:
    """A sample each second: ``waiting``, ``drops`` and ``sent_bytes`` are by what they rise."""
    lines = []
    for k in range(count + 1):
        root = {"kind": "bottleneck", "root": True, "backlog": 1514 * waiting * k,
                "qlen": waiting * k, "drops": 5 + drops * k, "bytes": 7 + sent_bytes * k,
                "packets": 0}  # fmt: skip
        lines.append(f"{k:.6f} {json.dumps([root])}\n")
    (raw / file).write_text("".join(lines))


def synthetic_plan() -> Plan:
    """Flow 1 for 40 s, flow 2 within it from 5 s to 35 s: three regions."""
    flows = (
        Flow("flow1", "sender", "receiver", "htcp", 0.0, 40.0, 5201),
        Flow("flow2", "sender", "receiver", "htcp", 5.0, 35.0, 5202),
    )
    schedule = Schedule("two-flows", flows, 40.0, 5.0)
    return make_plan(LONG, schedule, 1, "virtual")


def write_raw_output(raw: FilePath, plan: Plan) -> None:
    """The output of the tools that a guest leaves after the synthetic run."""
    first, second = plan.schedule.flows
    _write_flow(raw, first, [ALONE] * 5 + [SHARED] * 30 + [ALONE] * 5, 7_000_000)
    _write_flow(raw, second, [SHARED] * 30, 1_000_000)
    write_pings(raw, 40)
    write_queue(raw, 40)
