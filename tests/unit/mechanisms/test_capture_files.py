"""A capture that was cut short is no capture, and one that lacks packets says so."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.mechanisms.capture import capture_files as captures
from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan
from tests.support.captures import write_two_packets

PLAN = RunRequest(rtt="50ms", stack="cubic", time="10s", capture="receiver").plan()


def test_packets_in_a_file_and_those_it_lacks_are_counted(tmp_path: FilePath) -> None:
    (tmp_path / "captures").mkdir()
    write_two_packets(tmp_path / "captures" / "receiver.pcapng", missed=3)
    captured = captures.from_raw(tmp_path, PLAN)
    assert captured["receiver"].as_dict() == {
        "port": "receiver-eth0", "snap_bytes": 128, "packets": 2, "missed": 3,
    }  # fmt: skip
    assert captures.missed_packets(captured) == [
        "the capture of receiver lacks 3 packets of 5: there were more than it had room for"
    ]


def test_a_file_that_is_missing_or_cut_short_fails_the_run(tmp_path: FilePath) -> None:
    with pytest.raises(LabFailedError, match="the lab left no capture of receiver"):
        captures.from_raw(tmp_path, PLAN)
    file = tmp_path / "captures" / "receiver.pcapng"
    file.parent.mkdir()
    write_two_packets(file)
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(LabFailedError, match=r"receiver\.pcapng: the capture was cut short"):
        captures.from_raw(tmp_path, PLAN)


def test_a_run_without_captures_has_none(tmp_path: FilePath) -> None:
    plan: Plan = dataclasses.replace(PLAN, captures=())
    assert captures.from_raw(tmp_path, plan) == {}
