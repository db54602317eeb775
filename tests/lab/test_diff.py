"""The first packet in which two runs of the lab differ."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.runs.again import Repeated, repeat
from farpath.uses.diff.compare import Comparison, as_dict, compare_repeated
from farpath.uses.diff.page import render_diff
from farpath.uses.diff.question import question
from farpath.uses.diff.report import text

RENO, CUBIC = (f"rtt=20ms rate=20Mbit time=5s stack={stack}" for stack in ("reno", "cubic"))
NAMES = {"a": "A", "b": "B"}


@pytest.fixture(scope="module")
def reno(tmp_path_factory: pytest.TempPathFactory) -> Repeated:
    """A flow of Reno, with captures at all places."""
    (made,) = repeat([question(RENO, RENO, None, None).a], place=tmp_path_factory.mktemp("reno"))
    return made


def _compared(reno: Repeated, other: str, place: FilePath) -> Comparison:
    asked = question(RENO, other, None, None)
    (made,) = repeat([asked.b], place=place)
    assert made.record.directory != reno.record.directory
    return compare_repeated(asked, NAMES, {"a": reno, "b": made})


def test_of_two_equal_runs_no_packet_differs(reno: Repeated, tmp_path: FilePath) -> None:
    compared = _compared(reno, RENO, tmp_path)
    assert compared.places == ("sender", "receiver", "bottleneck", "pinger")
    assert min(compared.counts["a"].values()) > 5
    assert compared.first is None
    assert text(compared).endswith("no packet differs")


def test_two_stacks_part_where_cubic_leaves_slow_start(reno: Repeated, tmp_path: FilePath) -> None:
    compared = _compared(reno, CUBIC, tmp_path)
    found = as_dict(compared)
    # A program's microseconds are elsewhere from the first packet on; TCP parts later
    assert found["first"]["time_ns"] < 1_000_000
    parted = found["first_decision"]
    assert (parted["place"], parted["way"], parted["first_in"]) == ("sender", "leaves", "a")
    assert parted["a"]["flow"] == "flow1"
    assert parted["a"]["seq"] == parted["b"]["seq"]
    assert parted["twin_is_same_packet"]
    assert len(found["before"]) == 12
    # HyStart has set CUBIC's threshold: tcp_cubic.c, hystart_update
    held = {run: found["held"][run]["samples"]["after"] for run in NAMES}
    assert held["a"]["ssthresh_packets"] is None
    assert held["b"]["ssthresh_packets"] == held["b"]["cwnd_packets"] < held["a"]["cwnd_packets"]
    instant = parted["time_ns"] / 1e9
    assert found["held"]["a"]["samples"]["before"]["t_s"] <= instant <= held["a"]["t_s"]
    said = text(compared)
    assert f"farpath debug {reno.record.directory} --at={instant:.9f}s" in said
    page = render_diff(compared)
    assert "Time-sequence plots" in page
    assert "connect-src 'none'" in page
