"""A suite that is ended on its way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path as FilePath

import pytest

from farpath.uses.regress.suite import trials
from tests.support.processes import interruptible

#: Of a run under way; more than that is a hang.
END_S = 60.0


def _living(session: int) -> list[FilePath]:
    """A session's processes, but for those that only wait to be read (proc_pid_stat(5))."""
    processes = []
    for process in FilePath("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, _, _, of_session = (
                process.joinpath("stat").read_text().rpartition(")")[2].split()[:4]
            )
            if state != "Z" and int(of_session) == session:
                processes.append(process)
    return processes


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_ended_on_its_way_it_leaves_whole_records_and_no_process(
    number: signal.Signals, status: int, tmp_path: FilePath
) -> None:
    records = tmp_path / "records"
    command = [
        sys.executable, "-m", "farpath", "regress", "--update", "--stacks=reno", "--seeds=2",
        f"--out={tmp_path}", f"--baseline={tmp_path / 'new.toml'}",
    ]  # fmt: skip
    suite = subprocess.Popen(
        interruptible(command), stderr=subprocess.DEVNULL, start_new_session=True
    )
    while not list(records.glob("[!.]*/record.json")):
        assert suite.poll() is None
        time.sleep(0.2)
    if number == signal.SIGINT:
        # As a terminal does
        os.killpg(suite.pid, number)
    else:
        suite.send_signal(number)
    assert suite.wait(END_S) == status
    end_s = time.monotonic() + END_S
    while _living(suite.pid) and time.monotonic() < end_s:
        time.sleep(0.2)
    assert not _living(suite.pid)
    assert len(list(records.glob("*/record.json"))) < 2 * len(trials(("reno",), ()))
    assert not [path for path in records.glob(".*") if path.is_dir()]
    assert not (tmp_path / "new.toml").exists()
