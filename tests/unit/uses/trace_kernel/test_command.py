"""``farpath trace-kernel`` where no lab is needed: what it refuses, and what it writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path as FilePath

import pytest

from farpath.uses.trace_kernel.measure import MOST_EVENTS, KernelTrace
from farpath.uses.trace_kernel.question import parse
from farpath.uses.trace_kernel.report import report
from farpath.uses.trace_kernel.tracepoints import Event
from tests.support.command_line import Farpath
from tests.support.networks import short_plan

SENT = Event(1_500, 0, 7, "iperf3", "softirq", "tcp", "tcp_probe", "snd_cwnd=10")
TRACE = KernelTrace(
    [SENT, replace(SENT, site=1), replace(SENT, system="sock", name="sock_send_length")],
    ["sender", "receiver"],
    epoch_ns=1_000,
    flows=short_plan().schedule.all_flows,
    lost=[0, 0],
    fingerprint="ab" * 32,
    expected="ab" * 32,
    kernel="Linux 7.2.12",
)


@pytest.mark.parametrize("option", ["--events=tcp", "--from=2", "--to=0s"])
def test_what_it_cannot_read_is_refused_in_one_line(
    farpath: Farpath, tmp_path: FilePath, option: str
) -> None:
    ended = farpath("trace-kernel", tmp_path, option)
    assert ended.status == 2
    assert len(ended.err.splitlines()) == 1
    assert option.partition("=")[0] in ended.err


def test_events_are_counted_by_site_and_the_fingerprint_is_compared() -> None:
    made = report(TRACE, parse("tcp:*"), "trace.txt", "trace.json")
    assert "as recorded: tracepoints moved no packet" in made.text
    assert made.data["events"] == {
        "sock:sock_send_length": {"sender": 1, "receiver": 0},
        "tcp:tcp_probe": {"sender": 1, "receiver": 1},
    }
    assert made.data["as_recorded"] is True
    timeline = json.loads(str(made.files["trace.json"]))
    assert timeline["otherData"]["fingerprint"] == TRACE.fingerprint
    assert len(str(made.files["trace.txt"]).splitlines()) == 3


def test_a_run_that_tracepoints_made_another_is_said_to_be_one() -> None:
    other = replace(TRACE, fingerprint="cd" * 32)
    made = report(other, parse("tcp:*"), "trace.txt", "trace.json")
    assert "the run is another one" in made.text
    assert made.data["as_recorded"] is False


def test_events_that_are_left_out_are_counted_with_what_to_do() -> None:
    made = report(replace(TRACE, lost=[0, 12_345]), parse("tcp:*"), "trace.txt", "trace.json")
    assert "12,345 further events at the site of receiver are left out" in made.text
    assert f"at most {MOST_EVENTS:,}" in made.text
    assert "--from and --to" in made.text


def test_a_time_without_events_is_said_to_have_none() -> None:
    made = report(replace(TRACE, events=[]), parse("skb:kfree_skb"), "trace.txt", "trace.json")
    assert "no event of skb:kfree_skb came" in made.text
