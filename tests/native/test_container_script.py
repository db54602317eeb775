"""images/container where no engine is: it says what is wrong, and a process takes over."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import completed

SCRIPT = PROJECT / "images" / "container"


def container(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the script; a variable that is empty is as good as absent."""
    return completed([SCRIPT, *words], env={**os.environ, **environment})


def command(directory: FilePath, name: str, script: str) -> None:
    """A command of that name, in front of all others."""
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{script}\n")
    (directory / name).chmod(0o755)


@pytest.fixture
def front(tmp_path: FilePath) -> FilePath:
    """A directory to be in front of PATH."""
    return tmp_path / "bin"


def path_behind(front: FilePath) -> str:
    return f"{front}:{os.environ['PATH']}"


def only(front: FilePath, tools: tuple[str, ...]) -> str:
    """A PATH with these tools alone."""
    front.mkdir()
    for tool in tools:
        (front / tool).symlink_to(f"/usr/bin/{tool}")
    return str(front)


@pytest.mark.parametrize(
    ("tools", "lack"),
    [
        (("dirname", "python3"), "there is no docker command here"),
        (("dirname",), "there is no Python 3.9 or later here"),
    ],
)
def test_a_machine_without_docker_or_python_runs_the_lab_as_a_process(
    front: FilePath, tools: tuple[str, ...], lack: str
) -> None:
    done = container("runtime", PATH=only(front, tools), LAB_RUNTIME="")
    assert (done.returncode, done.stdout) == (0, "process\n")
    assert done.stderr == f"container: the lab runs as a process: {lack}\n"


def test_without_python_nothing_is_built_and_nothing_is_to_be_removed(front: FilePath) -> None:
    path = only(front, ("dirname",))
    done = container("build", "lab", PATH=path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "install python3; or use LAB_RUNTIME=process" in done.stderr
    assert container("clean", PATH=path).returncode == 0


def test_an_engine_that_does_not_answer_is_said(front: FilePath) -> None:
    command(front, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    done = container("runtime", PATH=path_behind(front), LAB_RUNTIME="")
    assert done.stdout == "process\n"
    assert "no Docker engine answers (Cannot connect to the Docker daemon)" in done.stderr


def test_an_engine_asked_for_that_does_not_answer_is_an_error(front: FilePath) -> None:
    command(front, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    done = container("runtime", PATH=path_behind(front), LAB_RUNTIME="docker")
    assert (done.returncode, done.stdout) == (3, "")
    assert "start it (systemctl start docker), or check DOCKER_HOST" in done.stderr
    assert "LAB_RUNTIME=process" in done.stderr


def test_an_engine_that_refuses_the_user_is_told_apart(front: FilePath) -> None:
    command(front, "docker", "echo 'permission denied while trying to connect' >&2; exit 1")
    done = container("runtime", PATH=path_behind(front), LAB_RUNTIME="docker")
    assert done.returncode == 3
    assert "the Docker engine refuses user" in done.stderr
    assert "usermod -aG docker" in done.stderr


@pytest.mark.parametrize(
    ("compose", "words"),
    [
        ("echo 1.25.0", "docker-compose is 1.25.0, older than 1.29"),
        ("exit 127", "there is no compose"),
    ],
)
def test_an_old_compose_or_none_is_named(front: FilePath, compose: str, words: str) -> None:
    command(front, "docker", '[ "$1" = version ] || exit 1')
    command(front, "docker-compose", compose)
    done = container("runtime", PATH=path_behind(front), LAB_RUNTIME="docker")
    assert done.returncode == 3
    assert words in done.stderr
    assert "compose plugin (v2) or docker-compose 1.29" in done.stderr


@pytest.mark.parametrize("version", ["1.29.2", "2.40.0", "v2.26.1"])
def test_a_compose_that_is_new_enough_is_taken(front: FilePath, version: str) -> None:
    command(front, "docker", '[ "$1" = version ] || exit 1')
    command(front, "docker-compose", f"echo {version}")
    assert container("runtime", PATH=path_behind(front), LAB_RUNTIME="").stdout == "docker\n"


@pytest.mark.parametrize("stack", ["./tcp_mine.c", "/home/me/tcp_mine.c:gain=2"])
def test_a_module_of_ones_own_is_compiled_here_so_the_lab_is_a_process(
    front: FilePath, stack: str
) -> None:
    command(front, "docker", '[ "$1" = version ] || [ "$1" = compose ]')
    done = container("runtime", PATH=path_behind(front), LAB_RUNTIME="", STACK=stack)
    assert done.stdout == "process\n"
    assert f"STACK={stack} is compiled with this machine's tools" in done.stderr


def test_what_is_no_image_is_refused(front: FilePath) -> None:
    command(front, "docker", "exit 0")
    done = container("build", "sender/../lab", PATH=path_behind(front))
    assert done.returncode == 2
    assert "'sender/../lab' is no image; allowed: sender kernel lab notebook" in done.stderr
