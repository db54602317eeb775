"""Tables of runs: their settings, and means over seeds."""

from __future__ import annotations

import csv
import io
from pathlib import Path as FilePath

import pytest

from farpath.metrics.record_set import load_record_set
from farpath.report.table import as_csv
from farpath.report.tables.run_table import run_tables
from tests.support.campaigns import write_named, write_seven_regions
from tests.support.record_sets import member, record_set


def test_runs_are_listed_with_their_settings_in_order_and_their_records() -> None:
    records = record_set(
        member("slow", rtt="40ms"),
        member("pair", stack="reno+bbr", buffer="1MB", loss="1e-4"),
        member("first", rate="100Mbit"),
    )
    listed, directories = run_tables(records)
    rows = [row[:8] for row in listed.lines]
    assert rows == [
        ("1", "cubic", "20", "100", "250 kB", "0", "120 s", "1"),
        ("2", "reno + bbr", "20", "450", "1 MB", "0.0001", "120 s", "1"),
        ("3", "cubic", "40", "450", "2.25 MB", "0", "120 s", "1"),
    ]
    assert [row[:2] for row in directories.lines] == [
        ("1", "first"),
        ("2", "pair"),
        ("3", "slow"),
    ]
    first = next(csv.DictReader(io.StringIO(as_csv(listed))))
    assert (first["buffer_bytes"], first["rate_bps"], first["path"]) == (
        "250000",
        "100000000",
        "custom",
    )


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
    assert float(row["throughput_mbps"]) == pytest.approx(sum(each) / 2)
    assert float(row["throughput_mbps_half_width_95"]) > 0
    assert float(row["smoothed_rtt_p99_ms"]) == pytest.approx(164)
    assert (row["runs"], row["seeds"]) == ("1-2", "2")


def test_two_records_of_one_seed_count_once() -> None:
    records = record_set(member("one"), member("two"))
    (group,) = records.groups
    assert group.over_seeds(lambda member: member.run.summary.mean_bps).count == 1
    assert len(run_tables(records)) == 2


def test_seeds_that_change_no_packet_are_said_to_say_nothing() -> None:
    members = [member("same", seed="1"), member("same", seed="2")]
    (_, means, _) = run_tables(record_set(*members))
    assert "Runs 1-2 are the same packet for packet" in means.note


def test_seeds_that_hardly_change_one_flow_have_their_means_and_one_sentence() -> None:
    members = [
        member(f"{rtt}-{seed}", rtt=rtt, seed=seed)
        for rtt in ("20ms", "30ms", "40ms")
        for seed in ("1", "2")
    ]
    lossy = [member(f"lossy-{seed}", rtt="25ms", loss="1e-3", seed=seed) for seed in ("1", "2")]
    (_, means, _) = run_tables(record_set(*members, *lossy))
    of_fairness = means.header.index("F min")
    assert [row[of_fairness - 3] for row in means.lines] == [
        "2, hardly random", "2", "2, hardly random", "2, hardly random"
    ]  # fmt: skip
    assert means.note.count("Nothing in runs 1-2, 5-8 is random") == 1
