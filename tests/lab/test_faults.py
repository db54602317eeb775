"""Whatever ends a run, one line says what and nothing is left behind."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

import pytest

from tests.support.processes import await_true, completed, interruptible

FARPATH = [sys.executable, "-m", "farpath"]
LONG = ["run", "--path", "caltech", "--region", "60s", "--rate", "50Mbit/s"]
SHORT = ["run", "--path", "caltech", "--region", "5s", "--rate", "50Mbit/s"]
BRIEF = [*SHORT, "--schedule", "together", "--stack", "reno"]
#: Moments are drawn from it; each of so many kills is at another.
SEED, KILLS = 2026, 4


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
        """Processes of a guest of this directory, first the guest's kernel, which starts them.

        Numbers of processes begin again with small ones, so that their start decides.
        """
        found = []
        for process in FilePath("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.temporary):
                    _, _, fields = (process / "stat").read_text().rpartition(") ")
                    # starttime of proc(5), of which the state is the third field
                    found.append((int(fields.split()[19]), int(process.name)))
        return [pid for _, pid in sorted(found)]

    def is_gone(self) -> bool:
        """Whether no process of its guest is left."""
        return not self.guest_pids()

    def await_traffic(self) -> None:
        """Wait until the first virtual second of the schedule is over."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if re.search(r": \d+ of \d+ virtual s", line):
                return
        pytest.fail(f"the run ended early with status {self.process.wait()}")

    def janitors(self) -> list[int]:
        """Processes that would tidy up after this one."""
        children = FilePath(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        own = [int(word) for word in children.read_text().split()]
        return [
            pid
            for pid in own
            if b"farpath-janitor" in FilePath(f"/proc/{pid}/cmdline").read_bytes()
        ]

    def shares(self) -> list[FilePath]:
        """Directories that host and guest share."""
        return [path for path in self.temporary.glob("farpath-*") if (path / "code").exists()]

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
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "ended by SIGTERM"),
        (signal.SIGHUP, 129, "ended by SIGHUP"),
    ],
)
def test_a_stopped_run_leaves_no_process_no_directory_and_no_record(
    start: Callable[..., Running], number: signal.Signals, status: int, said: str
) -> None:
    running = start(LONG)
    running.await_traffic()
    assert running.guest_pids()
    assert running.shares()
    running.process.send_signal(number)
    _, output = running.process.communicate()
    assert running.process.returncode == status
    assert output.endswith(f"farpath: {said}; nothing half made is left\n")
    running.await_tidy()
    assert list(running.out.iterdir()) == []


def test_a_second_run_for_one_place_is_refused_and_one_after_a_kill_sweeps_its_record(
    start: Callable[..., Running],
) -> None:
    killed = start(LONG)
    killed.await_traffic()
    second = start(LONG)
    _, output = second.process.communicate()
    assert second.process.returncode == 2
    assert str(killed.process.pid) in output
    killed.process.kill()
    killed.process.wait()
    killed.await_tidy()
    following = start(BRIEF)
    assert following.process.wait() == 0
    assert [name for name in following.records() if name.startswith(".partial")] == []


def test_a_fifo_where_the_console_log_goes_is_refused(
    start: Callable[..., Running], usual: dict[str, Any], tmp_path: FilePath
) -> None:
    record = FilePath(usual["record"]).name
    (tmp_path / "results").mkdir()
    os.mkfifo(tmp_path / "results" / f"{record}.console.log")
    refused = start(BRIEF)
    _, output = refused.process.communicate()
    assert refused.process.returncode == 2
    assert output.splitlines()[-1].endswith(
        f"{record}.console.log is not a regular file: remove it, "
        "or give another directory with --out"
    )


def test_killed_at_any_moment_a_run_leaves_nothing_after_the_next_command(
    start: Callable[..., Running], tmp_path: FilePath
) -> None:
    moments = random.Random(SEED)
    for _ in range(KILLS):
        killed = start([*LONG, "--stack=reno"])
        time.sleep(moments.uniform(0.3, 4.0))
        # Its janitor too, as when a machine's memory is used up
        for process in [killed.process.pid, *killed.janitors()]:
            os.kill(process, signal.SIGKILL)
        killed.process.communicate()
        await_true(killed.is_gone)
    following = start(BRIEF)
    _, output = following.process.communicate()
    assert following.process.returncode == 0, output
    following.await_tidy()
    assert list(following.temporary.iterdir()) == []
    hidden = [path.name for path in following.out.glob(".*") if not path.name.endswith(".lock")]
    assert hidden == []
    assert len(list(following.out.glob("*/record.json"))) == 1


def test_a_run_is_the_same_in_other_surroundings_and_its_record_is_its_callers(
    tmp_path: FilePath, usual: dict[str, Any]
) -> None:
    """Another time zone, locale, priority, mask and number of cores."""
    core = str(min(os.sched_getaffinity(0)))
    script = 'umask 077; exec nice -n 5 taskset --cpu-list "$0" "$@"'
    done = completed(
        [
            *("sh", "-c", script, core, *FARPATH, *BRIEF),
            *("--json", "--out", str(tmp_path / "results")),
        ],
        env={**os.environ, "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
        check=True,
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["fingerprint"] == usual["fingerprint"]
    files = [FilePath(answer["record"]), *FilePath(answer["record"]).rglob("*")]
    assert all(file.stat().st_uid == os.geteuid() and file.stat().st_mode & 0o400 for file in files)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the brief run prints in the tests' own surroundings."""
    out = tmp_path_factory.mktemp("usual")
    done = completed([*FARPATH, *BRIEF, "--json", "--out", str(out)], check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def with_mounts(
    script: str, directory: FilePath, out: FilePath
) -> subprocess.CompletedProcess[str]:
    """The brief run after a script's mounts in a mount namespace of its own; $1 is a place."""
    directory.mkdir()
    command = [
        "unshare",
        "--mount",
        "sh",
        "-ec",
        f'{script}; shift; exec "$@"',
        "sh",
        str(directory),
    ]
    return completed([*command, *FARPATH, *BRIEF, "--json", "--out", str(out)])


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a read-only file system needs root")
def test_a_read_only_place_for_records_is_named(tmp_path: FilePath) -> None:
    directory = tmp_path / "place"
    done = with_mounts('mount -t tmpfs -o ro tmpfs "$1"', directory, directory / "results")
    assert done.returncode == 2, done.stderr
    assert "cannot be written (Read-only file system)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting small file systems needs root")
def test_places_too_small_for_the_guests_memory_are_passed_over(
    tmp_path: FilePath, usual: dict[str, Any]
) -> None:
    small = 'mount -t tmpfs -o size=16m,mode=1777 tmpfs "$1"; mount --bind "$1" /dev/shm'
    directory = tmp_path / "place"
    done = with_mounts(f'{small}; export TMPDIR="$1"', directory, tmp_path / "results")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["fingerprint"] == usual["fingerprint"]


def test_a_guest_killed_half_way_fails_with_its_console_and_leaves_no_record(
    start: Callable[..., Running],
) -> None:
    running = start(LONG)
    running.await_traffic()
    os.kill(running.guest_pids()[0], signal.SIGKILL)
    _, output = running.process.communicate()
    assert running.process.returncode == 4
    assert "the guest at the site of sender ended early" in output
    assert "Traceback" not in output
    running.await_tidy()
    assert running.records() == []


def test_a_second_run_is_shown_from_its_record_and_force_runs_it_again_and_tells_a_difference(
    start: Callable[..., Running], usual: dict[str, Any], tmp_path: FilePath
) -> None:
    record = tmp_path / "results" / FilePath(usual["record"]).name
    shutil.copytree(usual["record"], record)
    answers: list[dict[str, Any]] = []
    said = []
    for more in ([], ["--force"]):
        if more:
            # As if the run had had other packets
            description = record / "record.json"
            forged = {**json.loads(description.read_text()), "fingerprint": "0" * 64}
            description.write_text(json.dumps(forged))
        running = start([*BRIEF, "--json", *more])
        printed, output = running.process.communicate()
        assert running.process.returncode == 0, output
        answers.append(json.loads(printed.splitlines()[-1]))
        said.append("with another fingerprint" in output)
    assert [answer["cached"] for answer in (usual, *answers)] == [False, True, False]
    assert {answer["fingerprint"] for answer in answers} == {usual["fingerprint"]}
    assert {answer["record"] for answer in answers} == {str(record)}
    assert said == [False, True]


def test_an_image_that_is_not_built_is_named_with_the_remedy(tmp_path: FilePath) -> None:
    from farpath.base.errors import MachineLacksError
    from farpath.lab.artifacts.images import find_images

    with pytest.raises(MachineLacksError, match="make setup"):
        find_images(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_is_named_and_leaves_no_record(tmp_path: FilePath) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", small], check=True)
    try:
        done = completed([*FARPATH, *BRIEF, "--out", str(small / "results")])
        assert done.returncode == 3, done.stderr
        assert "no space left" in done.stderr
        assert list((small / "results").glob("caltech*/record.json")) == []
        assert list((small / "results").glob(".partial*")) == []
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a noexec file system needs root")
def test_memory_on_a_noexec_file_system_is_passed_over(tmp_path: FilePath) -> None:
    from farpath.lab.machine import memory_directory

    directory = tmp_path / "noexec"
    directory.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", directory], check=True)
    try:
        old = tempfile.tempdir
        os.environ["TMPDIR"], before = str(directory), os.environ.get("TMPDIR")
        assert memory_directory(1 << 20) != directory
    finally:
        tempfile.tempdir = old
        os.environ.pop("TMPDIR")
        if before:
            os.environ["TMPDIR"] = before
        subprocess.run(["umount", directory], check=True)
