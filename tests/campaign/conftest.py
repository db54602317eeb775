"""A small experiment and its campaign, conducted once, interrupted and resumed on the way."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import pytest

from farpath.lab.artifacts.images import find_images
from farpath.lab.provenance import record_name
from farpath.record.record import RECORD_FILE
from farpath.runs.experiment import load_experiment
from tests.support.processes import interruptible

NAME = "small"
TEXT = """\
title = "Two short runs"
[[runs]]
path = "narrow"
stack = ["reno_2004", "htcp_2004"]
region = "5s"
era = "2004"
[runs.minutes]
htcp_2004 = 7
others = 5
"""
#: A path without other traffic, on which a run is a matter of seconds
PATH = """\
name = "narrow"
title = "A narrow path"
rtt_ms = 20
rate_bps = 20_000_000
buffer_bytes = 152_000
loss = 1e-4
mtu_bytes = 1500
window_bytes = 1_048_576
[sysctl]
"net.core.rmem_max" = "2097152"
"net.core.wmem_max" = "2097152"
"net.ipv4.tcp_rmem" = "4096 87380 2097152"
"net.ipv4.tcp_wmem" = "4096 65536 2097152"
"net.ipv4.tcp_mem" = "33554432 33554432 33554432"
[sources]
rtt_ms = "this test"
rate_bps = "this test"
buffer_bytes = "this test"
loss = "this test"
mtu_bytes = "this test"
window_bytes = "this test"
sysctl = "this test"
"""
#: How long a test waits for what must come, as a limit for hangs.
HANG_S = 900


@dataclass(frozen=True)
class Campaign:
    """The small experiment's campaign in a directory."""

    experiments: FilePath
    out: FilePath

    def command(self, *more: str, report: bool = False) -> list[str]:
        """The command that conducts it, without a report unless told."""
        return [
            *(sys.executable, "-m", "farpath", "campaign", f"--experiment={NAME}"),
            *(f"--experiments={self.experiments}", f"--out={self.out}"),
            *([] if report else ["--no-report"]),
            *more,
        ]

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        """Conduct it to its end."""
        return subprocess.run(self.command(*more), capture_output=True, text=True, timeout=HANG_S)

    @property
    def places(self) -> list[FilePath]:
        """Where its runs' records belong, the longest run first."""
        images = find_images()
        runs = load_experiment(NAME, self.experiments).runs()
        return [self.out / record_name(run.plan, images) for run in runs]

    def copy(self, out: FilePath) -> Campaign:
        """The same in another directory, with all its records."""
        shutil.copytree(self.out, out)
        return Campaign(self.experiments, out)


def wait_for(there: FilePath | Sequence[FilePath]) -> None:
    """Wait until one of these files is there."""
    files = [there] if isinstance(there, FilePath) else there
    end_s = time.monotonic() + HANG_S
    while not any(file.exists() for file in files):
        assert time.monotonic() < end_s, f"none of {files} came"
        time.sleep(0.05)


def wait_for_lock(handle: int) -> None:
    """Take a lock that another process is about to let go of."""
    end_s = time.monotonic() + HANG_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            assert time.monotonic() < end_s, "the lock is still held"
            time.sleep(0.05)


@pytest.fixture(scope="session")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    """A folder of experiments that holds the small one."""
    folder = tmp_path_factory.mktemp("experiments")
    (folder / NAME).mkdir()
    (folder / NAME / "experiment.toml").write_text(TEXT)
    (folder / NAME / "paths").mkdir()
    (folder / NAME / "paths" / "narrow.toml").write_text(PATH)
    return folder


@dataclass(frozen=True)
class Story:
    """A campaign that was interrupted after its first run, then conducted to its end.

    ``status`` and ``said``: of the interrupted call; ``left``: what lay there then.
    ``first_s``: when the first record was written; ``resumed``: the second call.
    """

    campaign: Campaign
    status: int
    said: str
    left: list[str]
    first_ns: int
    resumed: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def story(experiments: FilePath, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The small campaign with all its records, and how it came to them."""
    campaign = Campaign(experiments, tmp_path_factory.mktemp("campaign") / "records")
    first, second = campaign.places
    command = interruptible(campaign.command("--cores=1"))
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(first / RECORD_FILE)
    wait_for(campaign.out / f".{second.name}.lock")
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=HANG_S)
    left = sorted(file.name for file in campaign.out.iterdir())
    first_ns = (first / RECORD_FILE).stat().st_mtime_ns
    return Story(campaign, process.returncode, said, left, first_ns, campaign.run())
