"""The baseline that comes with the project, of the lab's own kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest

from farpath.lab.artifacts.images import find_images
from farpath.lab.artifacts.kernels import processor_level, release_of
from farpath.regress.baseline import baseline_file, nearest_baseline, read_baseline
from farpath.regress.suite import trials
from tests.regress.conftest import Regress

RUNS = "--only=htcp/one-loss,cubic/timeout,reno/loss-response,hstcp_lp/slow-start,udt/reordering"


@pytest.fixture
def release() -> str:
    """What the lab's kernel calls itself."""
    return release_of(find_images())


@pytest.fixture
def level() -> int:
    """This machine's level of x86-64."""
    return processor_level(FilePath("/proc/cpuinfo").read_text())


@pytest.fixture
def busy_cores() -> Iterator[None]:
    """A program that only computes for each core, beside the suite's run on each."""
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command) for _ in os.sched_getaffinity(0)]
    yield
    for each in busy:
        each.kill()
        each.wait()


def test_it_knows_every_run_of_the_suite(release: str, level: int) -> None:
    file = nearest_baseline(release, level)
    assert file is not None
    assert set(read_baseline(file).runs) == {trial.name for trial in trials()}


def test_on_busy_cores_the_lab_is_identical_to_it(
    regress: Regress, release: str, level: int, busy_cores: None
) -> None:
    ended = regress(RUNS)
    print(ended.out)
    states = {run["state"] for run in ended.runs.values()}
    if baseline_file(release, level).exists():
        assert states == {"identical"}
        assert ended.status == 0, ended.err
    else:
        # Another point release or processor: what differs is to be read, and may be meant
        assert ended.status in (0, 1), ended.err
