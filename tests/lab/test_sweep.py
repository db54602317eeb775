"""farpath sweep and farpath league, in the real lab."""

from __future__ import annotations

import csv
import json
from pathlib import Path as FilePath

import pytest

from farpath.metrics.share import fair_shares, joint_means_bps
from farpath.record.record import load_record
from tests.support.command_line import Farpath

pytestmark = pytest.mark.lab


def test_a_sweep_writes_a_row_for_each_run_and_continues_where_it_was(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    options = ["--rate=20Mbit", "--time=5s", "--stack=reno,cubic", f"--out={tmp_path / 'results'}"]
    options.append(f"--report={tmp_path / 'report'}")
    first = farpath("sweep", *options, "--rtt=10ms")
    assert first.status == 0
    assert "2, of which 0 were recorded before" in first.out
    larger = farpath("sweep", *options, "--rtt=10ms,40ms", "--json")
    assert larger.status == 0
    report = json.loads(larger.out)
    with (tmp_path / "report" / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    runs = [("reno", 10), ("cubic", 10), ("reno", 40), ("cubic", 40)]
    assert [(row["stack"], float(row["rtt_ms"])) for row in rows] == runs
    assert [run["record"] for run in report["runs"]] == [row["record"] for row in rows]
    assert all(15 < float(row["throughput_mbps"]) < 20 for row in rows)
    assert FilePath(report["figure"]).read_bytes().startswith(b"\x89PNG")
    again = farpath("sweep", *options, "--rtt=10ms,40ms")
    assert "4, of which 4 were recorded before" in again.out


def test_a_league_writes_what_each_stack_had_beside_each_other_one(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    options = ["--rtt=20ms", "--rate=20Mbit", "--buffer=1xBDP", "--time=6s", "--stack=reno,bbr"]
    options.append("--draws=1")
    options += [f"--out={tmp_path / 'results'}", f"--report={tmp_path / 'report'}"]
    made = farpath("league", *options)
    assert made.status == 0
    with (tmp_path / "report" / "league.csv").open() as file:
        rows = list(csv.DictReader(file))
    shares = {(row["stack"], row["other"]): float(row["share"]) for row in rows}
    # A share is what searches and studies call so, without the start
    (row,) = (row for row in rows if (row["stack"], row["other"]) == ("reno", "bbr"))
    record = load_record(tmp_path / "results" / row["record"])
    means_bps = joint_means_bps(record.samples, record.plan.schedule)
    assert float(row["share"]) == pytest.approx(fair_shares(means_bps)[0])
    assert float(row["throughput_mbps"]) == pytest.approx(means_bps[0] / 1e6)
    # Both flows of a run share a line that they fill
    assert shares["reno", "bbr"] + shares["bbr", "reno"] == pytest.approx(2)
    assert shares["bbr", "reno"] > 1
    assert all(0.8 < float(row["utilisation"]) < 1 for row in rows)
    assert "League table" in made.out
    with (tmp_path / "report" / "pairs.csv").open() as file:
        harms = {
            (row["stack"], row["other"]): float(row["harm_throughput"])
            for row in csv.DictReader(file)
        }
    # Of two flows of a stack each has about half of what one has alone, and Reno less beside BBR
    assert harms["bbr", "bbr"] == pytest.approx(0.5, abs=0.1)
    assert harms["reno", "bbr"] > 0.5 > harms["bbr", "reno"]
    assert (tmp_path / "report" / "league.png").read_bytes().startswith(b"\x89PNG")
    assert "League of 2 stacks" in (tmp_path / "report" / "league.html").read_text()
