"""The command line: a user's mistake is one line and an exit status, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import NamedTuple

import pytest

from farpath import cli, run
from farpath.errors import CheckFailedError, LabFailedError
from farpath.lab import images
from farpath.record import Record

PROJECT = FilePath(__file__).parents[2]


class Ended(NamedTuple):
    """How a command ended."""

    status: int | str | None
    out: str
    err: str


Farpath = Callable[..., Ended]


@pytest.fixture
def farpath(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Farpath]:
    """Run farpath in this process."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # typer replaces it

    def call(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["farpath", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Ended(ended.value.code, *capsys.readouterr())

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the images were built; nothing can boot them."""
    monkeypatch.setattr(run, "find_images", lambda: None)
    monkeypatch.setattr(run, "place_name", lambda _plan, _images: "record")


BAD = {
    "RTT that is no time": ["--rtt=abc"],
    "negative RTT": ["--rtt=-5ms"],
    "RTT without unit": ["--rtt=0"],
    "RTT of nothing": ["--rtt=0ms"],
    "RTT of an hour": ["--rtt=1h"],
    "RTT that is a size": ["--rtt=5MB"],
    "empty RTT": ["--rtt="],
    "no rate": ["--rate=0"],
    "rate above the largest": ["--rate=1Tbit/s"],
    "rate that is no number": ["--rate=nan"],
    "loss above one": ["--loss=2"],
    "negative loss": ["--loss=-1%"],
    "buffer below two frames": ["--buffer=1"],
    "MTU below the smallest": ["--mtu=1"],
    "region without unit": ["--region=0"],
    "region of nothing": ["--region=0s"],
    "region of part of a second": ["--region=5.5s"],
    "unknown stack": ["--stack=quic"],
    "unknown path": ["--path=mars"],
    "path that is a file elsewhere": ["--path=../paths/cern"],
    "path and RTT that contradict": ["--path=cern", "--rtt=50ms"],
    "seed that is no number": ["--seed=x"],
    "seed of nothing": ["--seed=0"],
    "seed above the largest": ["--seed=2147483648"],
    "lab that is not offered": ["--lab=host"],
    "clock that is not offered": ["--clock=sundial"],
    "induced loss": ["--drop=every:1000"],
}
#: A word that the one line must hold: which variable, what was got, what to do.
NAMED = {
    "RTT that is no time": ("RTT", "'abc'", "164ms"),
    "rate above the largest": ("RATE", "'1Tbit/s'", "10000000000 bit/s"),
    "unknown stack": ("STACK", "'quic'", "htcp"),
    "unknown path": ("PATH_NAME", "'mars'", "cern"),
    "path and RTT that contradict": ("RTT", "50 ms", "cern", "164 ms"),
    "lab that is not offered": ("LAB", "'host'", "virtual"),
    "clock that is not offered": ("CLOCK", "'sundial'", "virtual, cpu, wall"),
    "induced loss": ("DROP", "'every:1000'", "LOSS"),
    "seed that is no number": ("SEED", "'x'", "2147483647"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_and_status_2(farpath: Farpath, what: str) -> None:
    ended = farpath("run", *BAD[what])
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("farpath: ")
    assert ended.err.count("\n") == 1
    for word in NAMED.get(what, ()):
        assert word in ended.err


@pytest.mark.parametrize("arguments", [["--rtt=abc"], ["--bogus=1"], ["--rtt"], ["5"]])
def test_a_process_with_bad_input_ends_with_status_2_without_a_traceback(
    arguments: list[str],
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from farpath.cli import main; main()", "run", *arguments],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_missing_images_are_status_3_and_name_make_setup(
    farpath: Farpath, monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setattr(run, "find_images", lambda: images.find_images(tmp_path))
    ended = farpath("run", f"--out={tmp_path / 'results'}")
    assert ended.status == 3
    last = ended.err.splitlines()[-1]
    assert last.startswith("farpath: the lab's kernel is not built")
    assert "make setup" in last
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("below", ["", "/below"])
def test_a_file_as_place_for_records_is_status_2(
    farpath: Farpath, tmp_path: FilePath, below: str
) -> None:
    (tmp_path / "file").write_text("mine")
    ended = farpath("run", f"--out={tmp_path}/file{below}")
    assert ended.status == 2
    assert ended.err.splitlines()[-1].startswith(f"farpath: {tmp_path}/file{below} cannot be")
    assert "OUT" in ended.err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.usefixtures("built")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_for_records_that_may_not_be_written_is_status_2(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    tmp_path.chmod(0o500)
    ended = farpath("run", f"--out={tmp_path / 'results'}")
    tmp_path.chmod(0o700)
    assert ended.status == 2
    assert "OUT" in ended.err.splitlines()[-1]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("error", "status"), [(LabFailedError, 4), (CheckFailedError, 5)], ids=["lab", "check"]
)
def test_a_failed_run_has_its_status_its_console_and_leaves_no_record(
    farpath: Farpath,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: FilePath,
    error: type[LabFailedError] | type[CheckFailedError],
    status: int,
) -> None:
    def fail(*_arguments: object) -> float:
        raise error("it went wrong", "first line\nsecond line")

    monkeypatch.setattr(run, "_fill", fail)
    ended = farpath("run", f"--out={tmp_path / 'results'}")
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.splitlines()[-3:] == [
        "farpath: it went wrong",
        "  | first line",
        "  | second line",
    ]
    assert list((tmp_path / "results").iterdir()) == []


def test_a_directory_that_is_no_record_is_refused(farpath: Farpath, tmp_path: FilePath) -> None:
    for directory in (tmp_path, tmp_path / "none"):
        ended = farpath("show", str(directory))
        assert ended.status == 2
        assert ended.err.startswith(f"farpath: {directory}")
        assert ended.err.count("\n") == 1


def test_a_record_is_shown_with_its_tables_and_places(farpath: Farpath, record: Record) -> None:
    ended = farpath("show", str(record.directory))
    assert ended.status == 0
    assert "Table 1" in ended.out
    assert "Table 2" in ended.out
    assert record.fingerprint in ended.out
    assert str(record.directory / "page.html") in ended.out
    assert "warning: take care" in ended.out


def test_a_record_as_json_is_one_object_on_stdout(farpath: Farpath, record: Record) -> None:
    ended = farpath("show", "--json", str(record.directory))
    shown = json.loads(ended.out)
    assert (ended.status, ended.err) == (0, "")
    assert shown["record"] == str(record.directory)
    assert shown["fingerprint"] == record.fingerprint
    assert shown["metrics"]["stack"] == "htcp"


def test_a_changed_record_is_status_5(farpath: Farpath, record: Record) -> None:
    record.samples.ping.assign(rtt_ms=1.0).to_parquet(record.directory / "ping.parquet")
    ended = farpath("show", str(record.directory))
    assert ended.status == 5
    assert "the record was changed" in ended.err
    assert ended.err.count("\n") == 1


def test_the_lists_name_every_stack_and_path(farpath: Farpath) -> None:
    assert "H-TCP" in farpath("stacks").out
    named = {line.split()[0] for line in farpath("paths").out.splitlines()}
    assert named >= {"caltech", "cern", "ufl"}
