"""The front door where nothing was installed: a container of bare Debian is the machine.

It has git, make and Docker's client, the archives of this machine, a clone of the project, and
the cache of this machine, so that no kernel is compiled again; what installs, finds and starts
is all the project's own. Root has it, and a visitor without sudo; with Python and the engine's
socket, and without both; with an image of Debian at hand, as after a pull, and without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from tests.containers.conftest import container, docker
from tests.support.processes import completed

IMAGE = "farpath/bare"
#: The same with Python, without which no container is used.
WITH_PYTHON = "farpath/bare-python"
BASE = "farpath/debian:trixie-slim"
#: The same image by a name that images/container does not look for.
SPARE = "farpath/bare-base"
SOCKET = FilePath("/var/run/docker.sock")
CACHE = FilePath(
    os.environ.get("FARPATH_CACHE")
    or FilePath(os.environ.get("XDG_CACHE_HOME") or FilePath.home() / ".cache") / "farpath"
)
EXPERIMENT = ("make", "experiment", "RTT=164ms", "REGION=5s")
#: Images that are made on the bare machine are its own, beside those of other tests.
IMAGES = "farpath-bare"
#: The heading of a table of a run's results.
RESULTS = "Each region, in which the same flows send"
#: A limit for hangs: packages come from an archive elsewhere.
LIMIT_S = 1200


def has_image(name: str) -> bool:
    return bool(docker("images", "--quiet", name))


@pytest.fixture(scope="module", autouse=True)
def machines() -> Iterator[None]:
    """The images of the bare machine; what is made on it is gone afterwards."""
    if not has_image(SPARE):
        if not has_image(BASE):
            done = container("base")
            assert done.returncode == 0, done.stderr
        docker("tag", BASE, SPARE)
    assert container("machine").returncode == 0
    images = PROJECT / "images"
    file = PROJECT / "tests/containers/bare/Dockerfile"
    for target, name in (("bare", IMAGE), ("python", WITH_PYTHON)):
        subprocess.run(
            [
                *("docker", "build", f"--file={file}", f"--build-arg=BASE_IMAGE={SPARE}"),
                *(f"--target={target}", "--tag", name, str(images)),
            ],
            check=True,
            capture_output=True,
            timeout=LIMIT_S,
        )
    yield
    docker("rmi", "--force", *(f"{IMAGES}/{each}" for each in ("lab", "kernel")), check=False)


@contextmanager
def only_image(name: str | None) -> Iterator[None]:
    """Among what images/container looks for, that image of Debian, or none, is at hand."""
    before = has_image(BASE)
    if before and name is None:
        docker("rmi", "--no-prune", BASE)
    elif name is not None:
        docker("tag", SPARE, name)
    try:
        yield
    finally:
        if before:
            docker("tag", SPARE, BASE)
        elif name is not None:
            docker("rmi", "--no-prune", name)


@pytest.fixture
def clone(tmp_path: FilePath) -> FilePath:
    """A clone of the project at a place that is the same in the bare machine."""
    directory = tmp_path / "farpath"
    subprocess.run(["git", "clone", "--quiet", PROJECT, directory], check=True, timeout=LIMIT_S)
    subprocess.run(["chmod", "-R", "a+rwX", tmp_path], check=True)
    for folder in tmp_path.parents:
        if folder.stat().st_uid == os.getuid() and folder != FilePath("/"):
            folder.chmod(folder.stat().st_mode | 0o111)
    return directory


def on_bare_machine(
    clone: FilePath, *command: str, options: tuple[str, ...] = (), machine: str = WITH_PYTHON
) -> subprocess.CompletedProcess[str]:
    """Runs a command in the clone on a machine that is gone afterwards."""
    return completed(
        [
            *("docker", "run", "--rm", "--init", f"--volume={clone}:{clone}"),
            *(f"--workdir={clone}", f"--env=FARPATH_IMAGES={IMAGES}", *options, machine, *command),
        ],
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S,
    )


def with_cache(directory: FilePath = CACHE) -> tuple[str, ...]:
    return (f"--volume={directory}:{directory}", f"--env=FARPATH_CACHE={directory}")


def with_engine() -> tuple[str, ...]:
    return (f"--volume={SOCKET}:{SOCKET}", f"--group-add={SOCKET.stat().st_gid}")


def test_root_gets_the_table_without_python_and_with_it_in_a_container_and_the_command(
    clone: FilePath,
) -> None:
    """One machine for both: what the first run has installed takes a minute."""
    script = f"""
        {" ".join(EXPERIMENT)} OUT=of-a-process
        # As if a container were the first: its images lack some packages, and there is no command
        rm -r .venv
        apt-get -qq remove -y umoci skopeo
        {" ".join(EXPERIMENT)} OUT=records
        .venv/bin/farpath show records/cern-*
        stat -c %u records/*
    """
    options = (*with_cache(), *with_engine())
    with only_image(None):
        done = on_bare_machine(clone, "bash", "-ec", script, options=options, machine=IMAGE)
    assert done.returncode == 0, done.stderr[-3000:]
    as_process, in_container = done.stderr.split("container: the lab runs in a container")
    assert "the lab runs as a process: there is no Python 3.9" in as_process
    assert ": a Docker engine answers" in in_container
    for said in (as_process, in_container):
        assert "host-packages: installing" in said
    assert done.stdout.count(RESULTS) == 3
    assert done.stdout.splitlines()[-1] == "0", "the record belongs to the caller"


@pytest.mark.parametrize("engine", [False, True])
def test_a_visitor_without_sudo_is_told_the_one_command_before_anything_is_begun(
    clone: FilePath, engine: bool
) -> None:
    # Under a name of which no image was made
    options = ("--user=visitor", "--env=FARPATH_IMAGES=nothing", *(with_engine() if engine else ()))
    with only_image(None):
        done = on_bare_machine(
            clone, *EXPERIMENT, options=options, machine=WITH_PYTHON if engine else IMAGE
        )
    assert done.returncode == 2
    assert "packages are missing and there is no sudo; as root, run: apt-get install" in done.stderr
    assert ("cannot be pulled" in done.stderr) == engine
    for begun in ("kernel:", "rootfs", "venv:", "udtperf:"):
        assert begun not in done.stderr


def test_a_visitor_with_an_engine_and_an_image_of_debian_needs_nothing_installed(
    clone: FilePath, tmp_path: FilePath
) -> None:
    cache = tmp_path / "cache"
    for part in ("kernel", "modules"):
        shutil.copytree(CACHE / part, cache / part, symlinks=True)
    subprocess.run(["chmod", "-R", "a+rwX", cache], check=True)
    options = ("--user=visitor", *with_cache(cache), *with_engine())
    with only_image(BASE):
        done = on_bare_machine(clone, "images/container", "build", "kernel", options=options)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "this machine lacks tools (" in done.stderr
    assert f"container: made {IMAGES}/kernel" in done.stderr


def test_a_base_that_cannot_be_pulled_is_named(clone: FilePath) -> None:
    done = on_bare_machine(
        *(clone, "images/container", "build", "sender"),
        options=(
            *("--user=visitor", "--env=BASE_IMAGE=127.0.0.1:1/nothing:here"),
            *with_engine(),
        ),
    )
    assert done.returncode == 3
    assert "BASE_IMAGE=127.0.0.1:1/nothing:here is not here and cannot be pulled" in done.stderr
