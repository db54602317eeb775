"""A mechanism that is a folder of its own: its device runs in the guest, and is read back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from tests.support.added_mechanism import FIND, add_keepalive

SCRIPT = f"""{FIND}
from farpath.cli.app import main
main()
"""


@pytest.mark.parametrize(("time_s", "status"), [(3, 0), (200, 5)])
def test_its_device_sets_what_the_plan_asks_and_a_read_back_that_differs_fails_the_run(
    tmp_path: FilePath, time_s: int, status: int
) -> None:
    add_keepalive(tmp_path)
    options = ("run", "--rtt=20ms", "--time=5s", f"--keepalive={time_s}s", f"--out={tmp_path}/run")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), *options]
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stderr
    if status:
        assert "asks after 100 s, not 200" in ended.stderr
        return
    (file,) = (tmp_path / "run").rglob("record.json")
    data = json.loads(file.read_text())
    for readback in (data["readback"]["before"], data["readback"]["after"]):
        assert set(readback["keepalive"].values()) == {"3"}
    assert {"sender", "receiver"} <= set(data["readback"]["after"]["keepalive"])
    assert data["readback"]["hosts_kept"] == len(data["readback"]["after"]["keepalive"])
