"""Traces: which connections are asked, what their answers mean, and the table made of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import CheckFailedError, LabFailedError
from farpath.mechanisms.trace import trace_table
from farpath.mechanisms.trace.mechanism import check_trace
from farpath.record.record import Samples
from farpath.spec import trace
from farpath.spec.plan import Plan
from tests.support.plans import with_trace
from tests.support.traces import samples_like, write_raw_trace


def test_a_trace_has_the_data_connections_rows_in_units_of_their_names(
    tracing: Plan, tmp_path: FilePath
) -> None:
    write_raw_trace(tmp_path, tracing)
    tcp_trace = trace_table.from_raw(tmp_path, tracing)
    assert tcp_trace is not None
    frame = tcp_trace.frame
    assert list(frame.columns) == list(trace_table.COLUMNS)
    assert (tcp_trace.ticks, tcp_trace.asked) == ({"sender": 1001}, {"sender": 1001})
    second = frame[frame["flow"] == "flow2"]
    assert len(frame) == 996 + 496
    assert second["t_s"].tolist()[:2] == [5.05, 5.06]
    row = second.iloc[0].to_dict()
    wanted = {
        "ca_state": "recovery", "cwnd_packets": 505, "ssthresh_packets": -1,
        "in_flight_packets": 67, "mss_bytes": 1448, "pacing_rate_bps": 8000,
        "delivery_rate_bps": 4000, "app_limited": 1, "min_rtt_us": 164_000, "snd_wnd_bytes": 7,
    }  # fmt: skip
    assert {name: row[name] for name in wanted} == wanted


def test_a_run_without_a_trace_has_none(tracing: Plan, tmp_path: FilePath) -> None:
    assert trace_table.from_raw(tmp_path, with_trace(tracing, 0.0)) is None
    assert trace.hosts(with_trace(tracing, 0.0)) == []


def test_a_missing_or_broken_trace_is_a_failed_lab(tracing: Plan, tmp_path: FilePath) -> None:
    with pytest.raises(LabFailedError, match="left no trace"):
        trace_table.from_raw(tmp_path, tracing)
    write_raw_trace(tmp_path, tracing)
    file = tmp_path / f"sender{trace.SUFFIX}"
    whole = file.read_bytes()
    for broken in (whole[:-9], b"", b"{}\n" + whole, b'{"ticks": 1, "asked": 1}\n'):
        file.write_bytes(broken)
        with pytest.raises(LabFailedError, match="trace"):
            trace_table.from_raw(tmp_path, tracing)


def test_a_good_trace_passes_its_check(tracing: Plan, samples: Samples, tmp_path: FilePath) -> None:
    write_raw_trace(tmp_path, tracing, ticks=1012)
    tcp_trace = trace_table.from_raw(tmp_path, tracing)
    assert check_trace(tcp_trace, samples_like(samples, tracing).flows, tracing) == []
    assert check_trace(None, samples.flows, tracing) == []


@pytest.mark.parametrize(
    ("ticks", "requests", "bytes_per_s", "message"),
    [
        (1000, 1000, 1e6, "1,000 of 1,000 ticks, not 1,001"),
        (1001, 990, 1e6, "990 of 1,001 ticks"),
        (1001, 1001, 9e6, "flow1 ends with 10.0 MB acknowledged, but its receiver took 90.0 MB"),
    ],
)
def test_a_trace_with_ticks_or_bytes_missing_fails_the_run(
    tracing: Plan, samples: Samples, tmp_path: FilePath,
    ticks: int, requests: int, bytes_per_s: float, message: str,
) -> None:  # fmt: skip
    write_raw_trace(tmp_path, tracing, ticks, requests)
    tcp_trace = trace_table.from_raw(tmp_path, tracing)
    with pytest.raises(CheckFailedError, match=message):
        check_trace(tcp_trace, samples_like(samples, tracing, bytes_per_s).flows, tracing)


def test_a_late_machine_in_real_time_is_a_warning(
    tracing: Plan, samples: Samples, tmp_path: FilePath
) -> None:
    real = dataclasses.replace(
        tracing, settings=dataclasses.replace(tracing.settings, clock="wall")
    )
    write_raw_trace(tmp_path, real, 1001, 998)
    tcp_trace = trace_table.from_raw(tmp_path, real)
    (warning,) = check_trace(tcp_trace, samples_like(samples, real).flows, real)
    assert "the trace of sender lacks 3 of 1,001 ticks" in warning
