"""Fixtures of the unit tests: a synthetic run and settings of a kernel."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.mechanisms.trace import trace_table
from farpath.planning.planner import make_plan
from farpath.record.record import Record, Samples, samples_from_raw, write_record
from farpath.spec.plan import Plan
from farpath.spec.schedule import staggered
from farpath.tools import congestion_control, sysctl
from tests.support.paths import LONG
from tests.support.plans import BUSY, with_trace
from tests.support.synthetic_run import synthetic_plan, write_raw_output
from tests.support.traces import samples_like, write_raw_trace


@pytest.fixture
def plan() -> Plan:
    """The synthetic run's plan."""
    return synthetic_plan()


@pytest.fixture
def raw_dir(tmp_path: FilePath, plan: Plan) -> FilePath:
    """The tools' output of the synthetic run."""
    raw = tmp_path / "guest-raw"
    raw.mkdir()
    write_raw_output(raw, plan)
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


@pytest.fixture
def kernel(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> dict[str, FilePath]:
    """Some of a kernel's settings, as files of their own that stand for /proc/sys."""
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


@pytest.fixture
def tracing() -> Plan:
    """A plan of two flows with a trace each 10 ms."""
    return with_trace(
        make_plan(LONG, staggered(["reno", "cubic"], 5.0), seed=1, clock="virtual"), 0.01
    )


@pytest.fixture
def traced(tracing: Plan, samples: Samples, tmp_path: FilePath) -> Record:
    """A record with a trace."""
    raw = tmp_path / "traced-raw"
    raw.mkdir()
    write_raw_trace(raw, tracing)
    tcp_trace = trace_table.from_raw(raw, tracing)
    like = samples_like(samples, tracing)
    assert tcp_trace
    parts = [tcp_trace.part]
    directory = tmp_path / "traced"
    return write_record(directory, tracing, like, {}, {"before": {}}, [], raw, parts=parts)


@pytest.fixture
def busy(plan: Plan) -> Plan:
    """The plan of the samples, its path with background traffic."""
    return dataclasses.replace(plan, path=dataclasses.replace(plan.path, background=BUSY))


@pytest.fixture
def out(tmp_path: FilePath) -> FilePath:
    """A place for records."""
    directory = tmp_path / "results"
    directory.mkdir()
    return directory
