"""A synthetic run whose throughputs, RTTs and queue are known by hand, and the command line."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import pytest

from farpath.cli import app
from farpath.planning.planner import make_plan
from farpath.record.record import Record, Samples, samples_from_raw, write_record
from farpath.spec.plan import Plan
from farpath.spec.schedule import Flow, Schedule
from tests.paths import LONG

DATA = FilePath(__file__).parent.parent / "data"
#: Bytes that flow 1 gets in each of its seconds while alone and while in company.
ALONE, SHARED = 50_000_000, 25_000_000


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


def _write_pings(raw: FilePath, count: int) -> None:
    """Every ping takes 164 ms and the third is lost; ping drifts by 1 ms each time."""
    lines = [
        f"[{1e9 + 1.001 * (seq - 1) + 0.164:.6f}] 64 bytes from 10.0.0.2: "
        f"icmp_seq={seq} ttl=64 time=164.000 ms"
        for seq in range(1, count + 1)
        if seq != 3
    ]
    lines.append(f"{count} packets transmitted, {count - 1} received, 1% packet loss, time 0ms")
    (raw / "ping.out").write_text("\n".join(lines) + "\n")


def _write_queue(raw: FilePath, count: int) -> None:
    lines = []
    for k in range(count + 1):
        root = {"kind": "tbf", "root": True, "backlog": 1514 * k, "qlen": k, "drops": 5 + 2 * k,
                "bytes": 0, "packets": 0}  # fmt: skip
        lines.append(f"{k:.6f} {json.dumps([root])}\n")
    (raw / "queue.txt").write_text("".join(lines))


@pytest.fixture
def plan() -> Plan:
    """Flow 1 for 40 s, flow 2 within it from 5 s to 35 s: three regions."""
    flows = (
        Flow("flow1", "sender", "receiver", "htcp", 0.0, 40.0, 5201),
        Flow("flow2", "sender", "receiver", "htcp", 5.0, 35.0, 5202),
    )
    schedule = Schedule("two-flows", flows, 40.0, 5.0)
    return make_plan(LONG, schedule, 1, "virtual")


@pytest.fixture
def raw_dir(tmp_path: FilePath, plan: Plan) -> FilePath:
    """The tools' output of the synthetic run."""
    raw = tmp_path / "guest-raw"
    raw.mkdir()
    first, second = plan.schedule.flows
    _write_flow(raw, first, [ALONE] * 5 + [SHARED] * 30 + [ALONE] * 5, 7_000_000)
    _write_flow(raw, second, [SHARED] * 30, 1_000_000)
    _write_pings(raw, 40)
    _write_queue(raw, 40)
    return raw


@pytest.fixture
def samples(raw_dir: FilePath, plan: Plan) -> Samples:
    """The synthetic run's samples."""
    return samples_from_raw(raw_dir, plan)


@pytest.fixture
def record(tmp_path: FilePath, plan: Plan, samples: Samples, raw_dir: FilePath) -> Record:
    """The synthetic run's record on disk."""
    provenance = {"kernel": {"release": "6.0 <test>"}}
    return write_record(
        tmp_path / "record", plan, samples, provenance, {"before": {}}, ["take care"], raw_dir
    )


@pytest.fixture(scope="session")
def data_dir() -> FilePath:
    """Captured output of the real tools."""
    return DATA


@pytest.fixture
def kernel(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> dict[str, FilePath]:
    """Some of a kernel's settings, as files of their own that stand for /proc/sys."""
    from farpath.tools import congestion_control, sysctl

    folder = tmp_path / "sysctl"
    folder.mkdir()
    values = {
        "net.ipv4.tcp_mem": "1 2 3",
        "net.core.netdev_max_backlog": "1000",
        congestion_control.AVAILABLE: "reno cubic htcp",
        congestion_control.ALLOWED: "reno cubic",
    }
    files = {name: folder / name for name in values}
    for name, value in values.items():
        files[name].write_text(value + "\n")
    monkeypatch.setattr(sysctl, "_setting", lambda name: folder / name)
    return files


class Ended(NamedTuple):
    """How a command ended."""

    status: int | str | None
    out: str
    err: str


Farpath = Callable[..., Ended]


@pytest.fixture
def farpath(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Farpath]:
    """Run farpath in this process."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer replaces it

    def call(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["farpath", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            app.main()
        return Ended(ended.value.code, *capsys.readouterr())

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)
