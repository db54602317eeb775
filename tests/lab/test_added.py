"""Parts of folders of their own run in the guest: a mechanism, a program and a topology."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.project import PROJECT
from tests.support import added_mechanism, added_program, added_topology

CALL = """
from farpath.cli.app import main
main()
"""


def farpath(find: str, folder: FilePath, *options: str) -> subprocess.CompletedProcess[str]:
    """Farpath run with what a directory adds; ``find``: the code that finds it."""
    command = [sys.executable, "-c", find + CALL, str(folder), "run", f"--out={folder}/run"]
    command += ["--rtt=20ms", "--time=5s", *options]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def record_of(folder: FilePath) -> dict[str, Any]:
    """The record of the run in a directory."""
    (file,) = (folder / "run").rglob("record.json")
    data: dict[str, Any] = json.loads(file.read_text())
    return data


@pytest.mark.parametrize(("time_s", "status"), [(3, 0), (200, 5)])
def test_its_device_sets_what_the_plan_asks_and_a_read_back_that_differs_fails_the_run(
    tmp_path: FilePath, time_s: int, status: int
) -> None:
    added_mechanism.add_keepalive(tmp_path)
    ended = farpath(added_mechanism.FIND, tmp_path, f"--keepalive={time_s}s")
    assert ended.returncode == status, ended.stderr
    if status:
        assert "asks after 100 s, not 200" in ended.stderr
        return
    data = record_of(tmp_path)
    for readback in (data["readback"]["before"], data["readback"]["after"]):
        assert set(readback["keepalive"].values()) == {"3"}
    assert {"sender", "receiver"} <= set(data["readback"]["after"]["keepalive"])
    assert data["readback"]["hosts_kept"] == len(data["readback"]["after"]["keepalive"])


def test_a_topology_is_built_in_both_sites_and_read_back(tmp_path: FilePath) -> None:
    added_topology.add_fork(tmp_path)
    options = ("--topology=fork", "--stack=reno+htcp", "--rate=50Mbit")
    ended = farpath(added_topology.FIND, tmp_path, *options)
    assert ended.returncode == 0, ended.stderr
    record = record_of(tmp_path)
    assert record["plan"]["topology"] == "fork"
    readback = record["readback"]["after"]
    assert {"s2-eth2"} == {one["dev"] for one in readback["qdiscs"] if one["kind"] == "bottleneck"}
    assert {"sender", "sender2", "pinger", "receiver"} == set(readback["routes"])


def test_the_ends_of_a_program_s_flows_start_as_its_folder_says(tmp_path: FilePath) -> None:
    added_program.add_capped(tmp_path)
    options = ("--stack=capped", "--rate=100Mbit", "--json")
    ended = farpath(added_program.FIND, tmp_path, *options)
    assert ended.returncode == 0, ended.stderr
    assert record_of(tmp_path)["plan"]["stacks"][0]["program"] == "capped"
    (flow,) = json.loads(ended.stdout)["metrics"]["flows"]
    print(f"{flow['throughput_bps'] / 1e6:.2f} Mbit/s of payload")
    # Without the cap it has nearly all of the 100 Mbit/s
    assert flow["throughput_bps"] == pytest.approx(added_program.CAP_BPS, rel=0.1)
