"""``farpath trace-kernel``: a recorded run again, with tracepoints, which move no packet."""

from __future__ import annotations

import json
import re
from pathlib import Path as FilePath

import pytest

from farpath.lab.run import run
from farpath.record.record import Record, load_record
from tests.support.command_line import Farpath
from tests.support.networks import short_plan

#: It compiles the kernel once more.
pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of a run in which the bottleneck drops packets, with a trace of the connection."""
    out = tmp_path_factory.mktemp("recorded")
    plan = short_plan(stack="reno", rtt="20ms", rate="20Mbit", region="5s", trace="10ms")
    return load_record(run(plan, out, False, lambda _event: None).directory)


def test_events_are_those_of_the_recorded_packets(
    recorded: Record, tmp_path: FilePath, farpath: Farpath
) -> None:
    ended = farpath(
        *("trace-kernel", recorded.directory, "--events=tcp:tcp_retransmit_skb,sock:*"),
        *(f"--out={tmp_path}", "--json"),
    )
    assert ended.status == 0, ended.err
    found = json.loads(ended.out)
    assert found["fingerprint"] == recorded.fingerprint
    assert recorded.trace is not None
    retransmitted = int(recorded.trace["retransmits"].iloc[-1])
    assert retransmitted > 0
    assert found["events"]["tcp:tcp_retransmit_skb"] == {"sender": retransmitted, "receiver": 0}
    lines = (tmp_path / "trace.txt").read_text().splitlines()
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    states = [line for line in lines if "inet_sock_set_state" in line]
    assert any("newstate=TCP_ESTABLISHED" in line for line in states)
    timeline = json.loads((tmp_path / "trace.json").read_text())
    assert timeline["otherData"]["as_recorded"] is True


def test_a_kernel_with_more_code_draws_the_same_random_numbers(
    tmp_path: FilePath, farpath: Farpath
) -> None:
    plan = short_plan(stack="bbr+bbr3", rtt="20ms", rate="20Mbit", queue="fq_codel", region="5s")
    directory = run(plan, tmp_path / "records", False, lambda _event: None).directory
    ended = farpath("trace-kernel", directory, "--events=tcp:tcp_probe", f"--out={tmp_path}")
    assert ended.status == 0, ended.err
    assert "as recorded: tracepoints moved no packet" in ended.out


def test_an_interval_has_its_events_alone_and_curves_of_the_window(
    recorded: Record, tmp_path: FilePath, farpath: Farpath
) -> None:
    ended = farpath(
        *("trace-kernel", recorded.directory, "--events=tcp:tcp_probe", "--from=2s"),
        *("--to=2.2s", f"--out={tmp_path}"),
    )
    assert ended.status == 0, ended.err
    assert "as recorded: tracepoints moved no packet" in ended.out
    lines = (tmp_path / "trace.txt").read_text().splitlines()
    assert all(2.0 <= float(line.split()[0]) < 2.2 for line in lines)
    windows = {int(found) for line in lines for found in re.findall(r"snd_cwnd=(\d+)", line)}
    assert recorded.trace is not None
    times = recorded.trace["t_s"]
    traced = recorded.trace[(times >= 2.0) & (times < 2.2)]["cwnd_packets"]
    # The trace has each 10 ms, this each segment
    assert set(traced) <= windows
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert any(row["ph"] == "C" and row["name"].startswith("flow1 port") for row in rows)


def test_an_event_that_the_kernel_does_not_have_is_refused(
    recorded: Record, farpath: Farpath
) -> None:
    ended = farpath("trace-kernel", recorded.directory, "--events=tcp:tcp_prob")
    assert ended.status == 2
    assert "did you mean tcp_probe?" in ended.err
