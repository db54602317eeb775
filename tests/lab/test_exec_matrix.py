"""A program over several paths, as a step of continuous integration runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path as FilePath
from xml.etree import ElementTree

import pytest
import yaml

from farpath.base.project import PROJECT
from tests.support.command_line import Farpath

#: A client that passes if the way there and back takes less than 100 ms.
CLIENT = """
import socket, sys, time
began_s = time.monotonic()
socket.create_connection(("server", 8080)).close()
took_ms = (time.monotonic() - began_s) * 1e3
print(round(took_ms), "ms")
sys.exit("too far" if took_ms > 100 else 0)
"""
SERVER = "python3 -m http.server 8080"


def test_the_action_runs_each_path_and_keeps_results_for_the_service(tmp_path: FilePath) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    steps = yaml.safe_load((PROJECT / "action.yml").read_text())["runs"]["steps"]
    (step,) = [step for step in steps if step.get("id") == "run"]
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    command = (
        f"exec --rtt=0,50ms,200ms --rate=100Mbit --junit=far.xml --server='{SERVER}' "
        f"-- {sys.executable} client.py"
    )
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{FilePath(sys.executable).parent}:{os.environ['PATH']}",
            "COMMAND": command,
            "RECORDS": "records",
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        capture_output=True,
        text=True,
    )
    assert (done.returncode, outputs.read_text()) == (1, "status=1\n"), done.stderr
    for row in (("0", "pass", "0.000"), ("50ms", "pass", "0.050"), ("200ms", "fail: status 1")):
        assert any(all(word in line for word in row) for line in summary.read_text().splitlines())
    (suite,) = ElementTree.parse(tmp_path / "far.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == (
        "3",
        "1",
        "0",
    )
    (failure,) = suite.iter("failure")
    assert failure.text is not None
    assert "200 ms" in failure.text
    assert "too far" in failure.text
    assert len(list((tmp_path / "records").glob("exec-*/exec.json"))) == 3


def test_several_seeds_are_runs_of_their_own_and_a_lab_that_fails_is_an_error(
    farpath: Farpath, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = farpath(
        *("exec", "--json", "--rtt=20ms", "--seeds=2", "--junit=far.xml", "--out=records"),
        *("--collect=back", "--", "sh", "-c", "echo $(date +%s) > back/file; exit 7"),
    )
    assert ended.status == 1
    runs = json.loads(ended.out)["runs"]
    assert [(run["seed"], run["status"], run["result"]) for run in runs] == [
        (1, 7, "fail: status 7"),
        (2, 7, "fail: status 7"),
    ]
    assert sorted(str(file.relative_to(tmp_path)) for file in tmp_path.glob("back/*/file")) == [
        "back/1/file",
        "back/2/file",
    ]
    ended = farpath(
        *("exec", "--rtt=20ms", "--loss=0,1%", "--junit=far.xml", "--out=records"),
        *("--server=sh -c 'exit 9'", "--", "true"),
    )
    assert ended.status == 4
    (suite,) = ElementTree.parse(tmp_path / "far.xml").getroot()
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("0", "2")
