"""Whatever ends a run, one line says what and nothing is left behind."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path as FilePath

import pytest

from farpath.lab import virtual
from farpath.lab.images import find_images
from farpath.lab.watchdog import Patience
from tests.paths import SHORT as SHORT_PATH
from tests.processes import await_true, interruptible

from .conftest import single_flow

FARPATH = [sys.executable, "-m", "farpath.cli"]
LONG = ["run", "--path", "caltech", "--region", "60s", "--rate", "50Mbit/s"]
SHORT = ["run", "--path", "caltech", "--region", "5s", "--rate", "50Mbit/s"]


class Running:
    """A farpath process of its own temporary directory, run until told otherwise."""

    def __init__(self, directory: FilePath, arguments: list[str]) -> None:
        self.temporary = directory / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self.out = directory / "results"
        self.process = subprocess.Popen(
            interruptible([*FARPATH, *arguments, "--out", str(self.out)]),
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def guest_pids(self) -> list[int]:
        """Processes of a guest of this directory, first the guest's kernel."""
        found = []
        for process in FilePath("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.temporary):
                    found.append(int(process.name))
        return sorted(found)

    def await_traffic(self) -> None:
        """Wait until the first virtual second of the schedule is over."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "real time" in line:
                return
        pytest.fail(f"the run ended early with status {self.process.wait()}")

    def shares(self) -> list[FilePath]:
        """Directories that host and guest share."""
        return [place for place in self.temporary.glob("farpath-*") if (place / "code").exists()]

    def await_tidy(self) -> None:
        """Nothing of the run is left: no process, no shared directory."""
        await_true(lambda: not self.guest_pids() and not self.shares())

    def records(self) -> list[str]:
        """What stands in the results' directory, console logs aside."""
        return [p.name for p in self.out.iterdir() if not p.name.endswith((".log", ".lock"))]


@pytest.fixture
def start(tmp_path: FilePath) -> Iterator[Callable[..., Running]]:
    """Start farpath; whatever still runs at the end is killed."""
    started = []

    def begin(arguments: list[str]) -> Running:
        started.append(Running(tmp_path, arguments))
        return started[-1]

    yield begin
    for running in started:
        running.process.kill()
        running.process.communicate()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_stopped_run_leaves_no_process_no_directory_and_no_record(
    start: Callable[..., Running], number: signal.Signals, status: int
) -> None:
    running = start(LONG)
    running.await_traffic()
    assert running.guest_pids()
    assert running.shares()
    running.process.send_signal(number)
    assert running.process.wait() == status
    running.await_tidy()
    assert list(running.out.iterdir()) == []


def test_a_killed_run_leaves_no_process_and_the_next_one_sweeps_its_record(
    start: Callable[..., Running],
) -> None:
    killed = start(LONG)
    killed.await_traffic()
    killed.process.kill()
    killed.process.wait()
    killed.await_tidy()
    following = start(SHORT)
    assert following.process.wait() == 0
    assert [name for name in following.records() if name.startswith(".partial")] == []


def test_a_flow_that_ends_slowly_is_not_taken_for_hanging(tmp_path: FilePath) -> None:
    # iperf3 asks the time in a loop until a quarter of a second has passed, in 5 s of CPU
    path = dataclasses.replace(SHORT_PATH, rate_bps=2_000_000, buffer_bytes=62_500)
    plan = single_flow("reno", 2.0, path)
    events: list[str] = []
    with virtual.play(
        plan,
        find_images(),
        tmp_path / "console.log",
        lambda event: events.append(event["event"]),
        Patience(real_s=30.0, cpu_s=1.0),
    ):
        assert events[-1] == "done"


def test_a_fifo_where_the_console_log_goes_is_refused(start: Callable[..., Running]) -> None:
    refused = start(SHORT)
    _, said = refused.process.communicate()
    assert refused.process.returncode == 0, said
    (record,) = refused.records()
    os.mkfifo(refused.out / f"{record}.console.log")
    again = start([*SHORT, "--force"])
    _, said = again.process.communicate()
    assert again.process.returncode == 2
    assert said.splitlines()[-1].endswith(
        f"{record}.console.log is no regular file: remove it, or give another place with OUT"
    )


def test_a_guest_killed_half_way_fails_with_its_console_and_leaves_no_record(
    start: Callable[..., Running],
) -> None:
    running = start(LONG)
    running.await_traffic()
    os.kill(running.guest_pids()[0], signal.SIGKILL)
    _, said = running.process.communicate()
    assert running.process.returncode == 4
    assert "the guest ended early" in said
    assert "Traceback" not in said
    running.await_tidy()
    assert running.records() == []


def test_two_runs_for_one_place_are_refused_naming_the_first(
    start: Callable[..., Running],
) -> None:
    first = start(LONG)
    first.await_traffic()
    second = start(LONG)
    _, said = second.process.communicate()
    assert second.process.returncode == 2
    assert str(first.process.pid) in said


def test_a_second_run_is_shown_from_its_record_and_force_runs_it_again(
    start: Callable[..., Running],
) -> None:
    answers = []
    for more in ([], [], ["--force"]):
        running = start([*SHORT, "--json", *more])
        printed, said = running.process.communicate()
        assert running.process.returncode == 0, said
        answers.append(json.loads(printed.splitlines()[-1]))
    assert [answer["cached"] for answer in answers] == [False, True, False]
    assert len({answer["fingerprint"] for answer in answers}) == 1
    assert len({answer["record"] for answer in answers}) == 1


def test_an_image_that_is_not_built_is_named_with_the_remedy(tmp_path: FilePath) -> None:
    from farpath.errors import MachineLacksError
    from farpath.lab.images import find_images

    with pytest.raises(MachineLacksError, match="make setup"):
        find_images(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_is_named_and_leaves_no_record(tmp_path: FilePath) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small], check=True)
    try:
        done = subprocess.run(
            [*FARPATH, *SHORT, "--out", str(small / "results")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3, done.stderr
        assert "no space left" in done.stderr
        assert list((small / "results").glob("caltech*/record.json")) == []
        assert list((small / "results").glob(".partial*")) == []
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a noexec file system needs root")
def test_memory_on_a_noexec_file_system_is_passed_over(tmp_path: FilePath) -> None:
    from farpath.lab.machine import memory_directory

    place = tmp_path / "noexec"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", place], check=True)
    try:
        old = tempfile.tempdir
        os.environ["TMPDIR"], before = str(place), os.environ.get("TMPDIR")
        assert memory_directory(1 << 20) != place
    finally:
        tempfile.tempdir = old
        os.environ.pop("TMPDIR")
        if before:
            os.environ["TMPDIR"] = before
        subprocess.run(["umount", place], check=True)
