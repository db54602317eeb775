"""The command that compares stacks' behaviour, with the real lab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import pytest

from farpath.lab.artifacts.images import find_images
from tests.support.processes import completed

#: H-TCP's linear growth after the first second, 10 packets per second in the numbers of
#: htcp_alpha_update (net/ipv4/tcp_htcp.c), made 2.
CONSTANT = "factor = 1 + (10 * diff + ((diff / 2) * (diff / 2) / HZ)) / HZ;"
PLANTED = CONSTANT.replace("10 * diff", "2 * diff")
CACHE = FilePath(os.environ.get("FARPATH_CACHE") or FilePath.home() / ".cache" / "farpath")
#: How long builds and runs may take, as a limit for hangs.
HANG_S = 3600


class Ended(NamedTuple):
    """How the command ended; ``runs``: what its report says of each, by name."""

    status: int
    out: str
    err: str
    runs: dict[str, dict[str, Any]]
    report: FilePath


Regress = Callable[..., Ended]


def call_in(directory: FilePath) -> Regress:
    """``farpath regress``, with records and reports in directories of this place."""
    out = directory / "out"
    report = out / "report" / "report.json"

    def call(*options: str) -> Ended:
        report.unlink(missing_ok=True)
        # As Make and people call it: runs are made by processes that import the command again
        farpath = str(FilePath(sys.executable).with_name("farpath"))
        command = [farpath, "regress", *options, f"--out={out}"]
        done = completed(command, timeout=HANG_S)
        report_runs = json.loads(report.read_text())["runs"] if report.exists() else []
        runs = {run["run"]: run for run in report_runs}
        return Ended(done.returncode, done.stdout, done.stderr, runs, report)

    return call


@pytest.fixture
def regress(tmp_path: FilePath) -> Regress:
    """Call ``farpath regress``; records and reports go to a directory of the test's own."""
    return call_in(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Regress:
    """The same with a directory for all tests of a file: a run that was made is not repeated."""
    return call_in(tmp_path_factory.mktemp("regress"))


@pytest.fixture(scope="module")
def linux() -> Iterator[FilePath]:
    """The lab's source once more, whose files are the same ones until they are replaced."""
    version = str(find_images().manifests["kernel"]["source"]).split()[1]
    source = CACHE / "source" / version
    if not source.is_dir():
        pytest.skip(f"the kernel's unpacked source, {source}, is not on this machine")
    # Links reach no further than a file system
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="planted.") as directory:
        tree = FilePath(directory) / "linux"
        subprocess.run(["cp", "-al", str(source), str(tree)], check=True)
        yield tree


def plant(file: FilePath) -> None:
    """Alter the constant, in a file that is no longer the original's.

    Its time is the same each time, by which a tree is known: where the cache has its kernel
    already, it is not built again.
    """
    text, stat = file.read_text(), file.stat()
    assert CONSTANT in text
    file.unlink()
    file.write_text(text.replace(CONSTANT, PLANTED))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))
