"""The lab in containers: the real engine, the real images."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import completed

#: An experiment of 40 virtual seconds that carries little.
SHORT = ("RTT=40ms", "RATE=20Mbit", "REGION=5s", "JSON=1")
#: How long a command may take, as a limit for hangs: it may build all images.
HANG_S = 5400
Make = Callable[..., subprocess.CompletedProcess[str]]


def docker(*words: str, check: bool = True) -> str:
    """What a docker command prints."""
    done = completed(["docker", *words], timeout=300)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.strip()


def inspect(thing: str) -> Any:
    """What docker inspect says of a container or an image."""
    return json.loads(docker("inspect", thing))[0]


def container(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs images/container."""
    return completed(
        [PROJECT / "images" / "container", *words],
        env={**os.environ, **environment},
        timeout=HANG_S,
    )


def containers_of(out: FilePath) -> list[str]:
    """The containers that write into a directory, running or not."""
    return docker("ps", "-aq", "--filter", f"label=farpath.out={out}").split()


@pytest.fixture(scope="session", autouse=True)
def engine() -> None:
    """A Docker engine that answers, without which nothing here can run."""
    done = container("build", "lab", "sender")
    if done.returncode == 3 and "engine" in done.stderr:
        pytest.skip(f"no Docker engine answers here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def out(tmp_path: FilePath) -> FilePath:
    """Where records go."""
    return tmp_path / "results"


def make_experiment(
    out: FilePath, *variables: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs ``make experiment`` with variables, which writes to a directory."""
    return completed(
        ["make", "experiment", f"OUT={out}", *variables],
        cwd=PROJECT,
        env={**os.environ, **environment},
        timeout=600,
    )


@pytest.fixture
def make(out: FilePath) -> Iterator[Make]:
    """The same for the test's own place; its containers are gone afterwards."""
    yield partial(make_experiment, out)
    if left := containers_of(out):
        docker("rm", "--force", *left)


def result(done: subprocess.CompletedProcess[str]) -> Any:
    """The JSON object that a run printed last."""
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])
