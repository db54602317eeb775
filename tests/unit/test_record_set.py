"""What a set of records is, and its runs as a table and over seeds."""

from __future__ import annotations

import csv
import dataclasses
import io
from collections.abc import Callable
from pathlib import Path as FilePath

import pytest

from farpath.analysis.record_set import (
    RUNS,
    STUDY,
    Member,
    RecordSet,
    default_view,
    load_record_set,
    make_record_set,
)
from farpath.analysis.run_settings import further_settings
from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest
from farpath.report.figures.runs import flow_means_mbps, labels
from farpath.report.tables.formats import as_csv
from farpath.report.tables.runs import run_tables
from farpath.spec.plan import Plan
from tests.unit.campaigns import run_of, write_named, write_seven_regions


def _plan(**words: str) -> Plan:
    return RunRequest(**words).plan()


def _study(stack: str = "htcp", path: str = "cern", seed: str = "1", **words: str) -> Plan:
    return _plan(path=path, stack=stack, seed=seed, era="2004", **words)


def _member(record: str, **words: str) -> Member:
    run = dataclasses.replace(run_of("Reno"), record=record, fingerprint=record * 8)
    return Member(_plan(**{"rtt": "20ms", "stack": "cubic", "schedule": "together", **words}), run)


def _set(*members: Member) -> RecordSet:
    return make_record_set(FilePath("results"), members)


def test_runs_of_the_2005_test_on_its_paths_with_its_stacks_are_the_study() -> None:
    assert default_view([_study()]) == STUDY
    assert default_view([_study("reno", "ufl"), _study("udt", "caltech", "2")]) == STUDY


@pytest.mark.parametrize(
    "other",
    [
        lambda: _plan(path="cern", stack="htcp"),
        lambda: _study("cubic"),
        lambda: _study("htcp+reno"),
        lambda: _study("fast:alpha=100"),
        lambda: _study(schedule="together"),
        lambda: _study(loss="1%"),
        lambda: _study(drop="every:1000"),
        lambda: _plan(rtt="50ms", era="2004"),
        lambda: _study(region="60s"),
    ],
    ids=["today's hosts", "a later stack", "two stacks", "parameters", "one region", "another path",
         "droppers", "an RTT of one's own", "the same run again"],
)  # fmt: skip
def test_another_run_makes_a_set_plain_runs(other: Callable[[], Plan]) -> None:
    assert default_view([_study(), other()]) == RUNS


def test_a_view_of_no_name_is_refused(tmp_path: FilePath) -> None:
    write_named(tmp_path, "cern", "udt", 1)
    with pytest.raises(BadInputError, match="--view is 'paper': it must be one of study, runs"):
        load_record_set(tmp_path, "paper")


def test_records_in_which_cpu_was_counted_go_with_the_study_alone(tmp_path: FilePath) -> None:
    write_named(tmp_path / "own", "cern", "cubic", 1)
    write_named(tmp_path / "cpu", "cern", "udt", 1)
    with pytest.raises(BadInputError, match="--cpu-records is"):
        load_record_set(tmp_path / "own", None, tmp_path / "cpu")


def test_runs_are_listed_with_their_settings_in_order_and_their_records() -> None:
    records = _set(
        _member("slow", rtt="40ms"),
        _member("pair", stack="reno+bbr", buffer="1MB", loss="1e-4"),
        _member("first", rate="100Mbit"),
    )
    listed, places = run_tables(records)
    shown = [row[:8] for row in listed.text.rows]
    assert shown == [
        ("1", "cubic", "20", "100", "250 kB", "0", "120 s", "1"),
        ("2", "reno + bbr", "20", "450", "1 MB", "0.0001", "120 s", "1"),
        ("3", "cubic", "40", "450", "2.25 MB", "0", "120 s", "1"),
    ]
    assert [row[:2] for row in places.text.rows] == [("1", "first"), ("2", "pair"), ("3", "slow")]
    first = next(csv.DictReader(io.StringIO(as_csv(listed))))
    assert (first["buffer_bytes"], first["rate_bps"], first["path"]) == (
        "250000", "100000000", "custom",
    )  # fmt: skip


def test_runs_that_differ_in_their_seeds_alone_have_a_mean_and_an_interval(
    tmp_path: FilePath,
) -> None:
    for seed in (1, 2):
        write_named(tmp_path, "cern", "cubic", seed)
    write_seven_regions(tmp_path / "other", "cubic", 3, 5.0, kernel="6.1")
    write_named(tmp_path, "ufl", "cubic", 1)
    records = load_record_set(tmp_path)
    assert [group.seeds for group in records.groups] == [(1, 2), (3,), (1,)]
    _, means, _ = run_tables(records)
    (row,) = csv.DictReader(io.StringIO(as_csv(means)))
    each = [member.run.summary.mean_bps / 1e6 for member in records.groups[0].members]
    assert float(row["mean_mbps"]) == pytest.approx(sum(each) / 2)
    assert float(row["mean_mbps_half_width_95"]) > 0
    assert (row["runs"], row["seeds"]) == ("1-2", "2")


def test_two_records_of_one_seed_count_once() -> None:
    records = _set(_member("one"), _member("two"))
    (group,) = records.groups
    assert group.over_seeds(lambda run: run.mean_bps).count == 1
    assert len(run_tables(records)) == 2


def test_seeds_that_change_no_packet_are_said_to_say_nothing() -> None:
    members = [_member("same", seed="1"), _member("same", seed="2")]
    (_, means, _) = run_tables(_set(*members))
    assert "Runs 1-2 are the same packet for packet" in means.text.note


def test_what_else_tells_runs_apart_is_said_of_each() -> None:
    more = further_settings(
        _set(
            _member("usual"),
            _member("sack", sysctl="net.ipv4.tcp_sack=0"),
            _member("old", era="2004", stack="reno", mtu="9000", window="16MiB"),
            _member("drop", drop="every:1000", ip="6", reverse="reno"),
        )
    )
    assert more["usual"] == ""
    assert more["sack"] == "net.ipv4.tcp_sack=0"
    assert more["old"].startswith("MTU 9000, window 16.78 MB, era 2004")
    assert more["drop"] == "path custom-reverse-ipv6-dropping, drop every:1000, reverse reno, IPv6"


def test_labels_of_a_figure_say_only_what_differs() -> None:
    assert labels(_set(_member("a"), _member("b", rtt="40ms", rate="225Mbit"))) == (
        "cubic\nRTT 20 ms, 450 Mbit/s",
        "cubic\nRTT 40 ms, 225 Mbit/s",
    )


def test_flows_share_a_bar_by_what_each_got_over_the_whole_run(tmp_path: FilePath) -> None:
    write_named(tmp_path, "cern", "cubic", 1)
    (member,) = load_record_set(tmp_path).members
    means = flow_means_mbps(member.run.summary)
    # Flow 4 is there in the middle region alone, of two lengths of eight
    assert means == pytest.approx([100, 75, 50, 25], rel=1e-3)
    assert sum(means) == pytest.approx(member.run.summary.mean_bps / 1e6, rel=1e-3)
