"""The commands that list, compare and export records."""

from __future__ import annotations

import json
import os
from pathlib import Path as FilePath

import pytest

from farpath.base.project import experiment_folder
from farpath.record.description import write_description
from tests.support.campaigns import write_named
from tests.support.command_line import Farpath
from tests.support.program_records import write_programs


@pytest.fixture
def records(tmp_path: FilePath) -> FilePath:
    """Two runs of UDT at CERN, the second made later."""
    directory = tmp_path / "records"
    for seed in (1, 2):
        record = write_named(directory, "cern", "udt", seed)
        file = record.directory / "record.json"
        data = json.loads(file.read_text())
        data["provenance"]["recorded_at"] = f"2026-11-24T10:0{seed}:00+00:00"
        write_description(file, data)
    return directory


def test_records_are_listed_with_the_latest_first(farpath: Farpath, records: FilePath) -> None:
    ended = farpath("list", str(records))
    assert ended.status == 0
    header, latest, first = ended.out.splitlines()
    assert header.startswith("recorded (UTC)       path  RTT ms  Mbit/s  loss ")
    assert latest.startswith("2026-11-24 10:02:00  cern  164 ")
    assert first.startswith("2026-11-24 10:01:00  cern  164 ")
    assert [line.split()[-1] for line in (latest, first)] == ["cern-udt-2", "cern-udt-1"]


def test_the_list_is_json_for_other_programs(farpath: Farpath, records: FilePath) -> None:
    listed = json.loads(farpath("list", str(records), "--json").out)
    latest = listed["records"][0]
    assert (latest["seed"], latest["path"], latest["rtt_ms"]) == (2, "cern", 164)
    assert latest["throughput_mbps"] > 0
    assert len(latest["fingerprint"]) == 64


def test_a_damaged_record_is_left_out_by_name_and_the_others_are_listed(
    farpath: Farpath, records: FilePath
) -> None:
    damaged = records / "cern-udt-1"
    (damaged / "record.json").write_text("{")
    ended = farpath("list", str(records))
    assert len(ended.out.splitlines()) == 2
    assert ended.err.startswith(f"left out: {damaged}")


def test_a_run_shows_its_results_first_and_where_its_path_is_from_with_v(
    farpath: Farpath,
) -> None:
    shipped = experiment_folder("seven-regions") / "records"
    (directory,) = shipped.glob("cern-htcp_2004-120s-2004-seed1-virtual-*")
    lines = farpath("show", str(directory)).out.splitlines()
    assert lines[0].startswith("path cern")
    assert lines[1].strip() == "Each flow"
    assert len(lines) <= 50
    path = "path        480 Mbit/s, 164 ms, 11.16 MB, loss 2e-8, cross-traffic 10 %"
    assert path in lines
    assert not any("Testbed page" in line for line in lines)
    whole = farpath("show", "-v", str(directory)).out
    assert whole == farpath("-v", "show", str(directory)).out
    assert "Testbed page" in whole
    assert path in whole
    assert "Share: of all bits" in whole


def test_programs_are_listed_below_the_runs_and_shown(farpath: Farpath, records: FilePath) -> None:
    directory = records / "exec-164ms-curl-1"
    write_programs(directory, recorded_at="2026-11-24T11:00:00+00:00")
    ended = farpath("list", str(records))
    *_, blank, header, row = ended.out.splitlines()
    assert (ended.status, blank) == (0, "")
    assert header.split()[-3:] == ["seed", "fingerprint", "record"]
    assert row.startswith("2026-11-24 11:00:00  -     164     100     0.0001  curl -w ")
    assert row.split()[-5:-2] == ["28", "10.000", "3"]
    listed = json.loads(farpath("list", str(records), "--json").out)
    (programs,) = listed["programs"]
    assert (programs["status"], programs["took_s"], len(listed["records"])) == (28, 10.0, 2)
    shown = farpath("show", str(directory))
    assert shown.status == 0
    assert "python3 -m http.server 80" in shown.out
    assert "warning: take care" in shown.out
    data = json.loads(farpath("show", str(directory), "--json").out)
    assert data["fingerprint"] == programs["fingerprint"]
    assert data["metrics"]["queues"]["sender"]["drops"] == 40


def test_a_directory_without_records_is_refused_in_one_line(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    for directory, message in ((tmp_path, "holds no record"), (tmp_path / "no", "is no directory")):
        ended = farpath("list", str(directory))
        assert ended.status == 2
        assert ended.err.startswith(f"farpath: {directory}: {message}")
        assert ended.err.count("\n") == 1


def test_records_are_compared_in_the_terminal_on_a_page_and_in_a_figure(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    first, second = records / "cern-udt-1", records / "cern-udt-2"
    out = tmp_path / "out"
    ended = farpath("compare", str(first), str(second), "--out", str(out))
    assert ended.status == 0
    assert f"A: seed 1  ({first})" in ended.out
    assert "B against A" in ended.out
    assert sorted(file.name for file in out.iterdir()) == ["comparison.html", "comparison.png"]


def test_what_cannot_be_compared_is_refused_in_one_line(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    first = str(records / "cern-udt-1")
    for arguments in ([first], [first, str(tmp_path)], [first, first]):
        ended = farpath("compare", *arguments, "--out", str(tmp_path / "out"))
        assert ended.status == 2
        assert ended.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_records_are_exported_and_each_file_is_named(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    chosen = [str(records / f"cern-udt-{seed}") for seed in (1, 2)]
    ended = farpath("export", *chosen, "--format=flent", "--out", str(tmp_path / "out"))
    assert ended.status == 0
    files = [FilePath(line) for line in ended.out.splitlines()]
    assert [file.name for file in files] == ["cern-udt-1.flent.gz", "cern-udt-2.flent.gz"]
    assert all(file.is_file() for file in files)


def test_what_cannot_be_exported_is_refused_in_one_line(
    farpath: Farpath, records: FilePath, tmp_path: FilePath
) -> None:
    first = str(records / "cern-udt-1")
    for arguments, message in (
        ([str(tmp_path)], "is not a complete record"),
        ([first, "--format=xls"], "--format is 'xls': it must be one of csv, flent, json"),
        ([first, first], "two records have this name"),
    ):
        ended = farpath("export", *arguments, "--out", str(tmp_path / "out"))
        assert ended.status == 2
        assert message in ended.err
        assert ended.err.count("\n") == 1


def test_a_directory_with_files_that_wait_for_a_writer_is_listed(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    for name in ("record.json", "exec.json"):
        (tmp_path / name.split(".")[0]).mkdir()
        os.mkfifo(tmp_path / name.split(".")[0] / name)
    for name in ("ping", "queue", "queue_back", "connections"):
        (tmp_path / "exec" / f"{name}.parquet").touch()
    ended = farpath("list", tmp_path)
    assert (ended.status, ended.out) == (2, "")
    assert "exec.json: cannot be read: it is a FIFO, no regular file" in ended.err
    own = tmp_path / "experiments" / "own"
    own.mkdir(parents=True)
    os.mkfifo(own / "experiment.toml")
    ended = farpath("campaign", "--list", "--experiment=own", f"--experiments={own.parent}")
    assert (ended.status, ended.out) == (2, "")
    assert "experiment.toml: cannot be read: it is a FIFO, no regular file" in ended.err
