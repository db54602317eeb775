"""The containerized lab: the same results, no rights, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.project import PROJECT
from tests.containers.conftest import (
    SHORT,
    Make,
    containers_of,
    docker,
    inspect,
    make_experiment,
    result,
)
from tests.containers.conftest import container as in_container
from tests.support.processes import await_true, completed, interruptible

#: A run that is under way as long as a test looks at it.
LONG = ("RTT=164ms", "REGION=120s", "LAB_RUNTIME=docker")
PATIENCE_S = 120.0
#: Whose directory root's container may write to as who owns it.
ORDINARY_USER = 1234
#: What a run of two seconds asks for.
SHORT_OPTIONS = ("--rtt=40ms", "--rate=10Mbit", "--region=5s")


@contextmanager
def under_way(out: FilePath) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A long run whose guest boots or more, and its container."""
    make = subprocess.Popen(
        interruptible(["make", "experiment", f"OUT={out}", *LONG]),
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        await_true(lambda: list(out.glob("*.console.log")), PATIENCE_S)
        (container,) = containers_of(out)
        yield make, container
    finally:
        if left := containers_of(out):
            docker("rm", "--force", *left, check=False)
        make.communicate(timeout=PATIENCE_S)


def half_made(out: FilePath) -> list[FilePath]:
    """What a run leaves that ended early, apart from the console's log."""
    return [path for path in out.glob("*") if not path.name.endswith(".console.log")] + [
        path for path in out.glob(".*") if path.name.startswith(".partial")
    ]


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The short run, which an engine that answers makes in a container."""
    return make_experiment(tmp_path_factory.mktemp("inside") / "results", *SHORT)


def test_a_container_and_a_process_give_the_same_fingerprint(
    inside: subprocess.CompletedProcess[str], make: Make
) -> None:
    outside = result(make(*SHORT, "LAB_RUNTIME=process"))
    assert result(inside)["fingerprint"] == outside["fingerprint"]
    assert result(inside)["metrics"] == outside["metrics"]


def test_an_engine_that_answers_is_used_and_its_second_run_comes_from_the_record(
    inside: subprocess.CompletedProcess[str],
) -> None:
    assert "the lab runs in a container: a Docker engine answers" in inside.stderr
    assert not result(inside)["cached"]
    out = FilePath(result(inside)["record"]).parent
    assert out.name == "results"
    again = result(make_experiment(out, *SHORT))
    assert again["cached"]
    assert again["record"] == result(inside)["record"]


def test_a_record_says_that_a_container_made_it_and_from_which_commit(
    inside: subprocess.CompletedProcess[str],
) -> None:
    data = (FilePath(result(inside)["record"]) / "record.json").read_text()
    assert '"runtime": "docker"' in data
    head = completed(["git", "rev-parse", "HEAD"], cwd=PROJECT, check=True)
    assert head.stdout.strip() in data


def test_the_lab_has_no_capability_no_network_and_is_who_owns_the_results(out: FilePath) -> None:
    out.mkdir()
    if os.getuid() == 0:
        os.chown(out, ORDINARY_USER, ORDINARY_USER)
    with under_way(out) as (_, container):
        inspected = inspect(container)
        status = docker("exec", container, "cat", "/proc/1/status")
    host: dict[str, Any] = inspected["HostConfig"]
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert not host["Privileged"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"]
    assert host["Init"]
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert inspected["Config"]["User"] == f"{out.stat().st_uid}:{out.stat().st_gid}"
    assert out.stat().st_uid != 0
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert int(fields["CapBnd"], 16) == 0
    assert int(fields["CapEff"], 16) == 0
    assert fields["NoNewPrivs"] == "1"


@pytest.mark.nightly
def test_a_killed_container_leaves_no_half_record_and_its_successor_runs(
    make: Make, out: FilePath
) -> None:
    with under_way(out) as (process, container):
        docker("kill", container)
        output = process.communicate(timeout=PATIENCE_S)[1]
        assert process.returncode == 2, output
    await_true(lambda: not containers_of(out), PATIENCE_S)
    assert not list(out.glob("*/record.json"))
    assert result(make(*SHORT))["fingerprint"]
    assert not list(out.glob(".partial-*")), "the next run sweeps what the killed one left"


@pytest.mark.nightly
def test_an_interrupted_container_leaves_nothing(out: FilePath) -> None:
    with under_way(out) as (process, _):
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode != 0
    await_true(lambda: not containers_of(out), PATIENCE_S)
    assert not half_made(out)


@pytest.mark.nightly
def test_a_new_folder_in_tmp_is_this_machines_and_not_the_containers() -> None:
    out = FilePath(f"/tmp/farpath-test-{uuid.uuid4().hex}")
    try:
        for _ in range(2):
            done = in_container("farpath", "run", *SHORT_OPTIONS, f"--out={out}", "--json")
            assert FilePath(result(done)["record"]).parent == out
        assert result(done)["cached"]
    finally:
        shutil.rmtree(out, ignore_errors=True)


def test_tmp_itself_is_refused_in_a_sentence() -> None:
    done = in_container("farpath", "run", *SHORT_OPTIONS, "--out=/tmp")
    assert done.returncode == 2
    assert "a container has a /tmp of its own" in done.stderr
    assert not done.stdout


@pytest.mark.nightly
def test_two_runs_for_one_place_do_not_meet_even_in_two_containers(
    make: Make, out: FilePath
) -> None:
    with under_way(out):
        second = make(*LONG)
        assert second.returncode == 2
        assert "is making this record" in second.stderr


@pytest.mark.nightly
def test_two_containers_at_once_give_what_one_gives(
    inside: subprocess.CompletedProcess[str], tmp_path: FilePath
) -> None:
    outputs = [tmp_path / "one", tmp_path / "two"]
    runs = [
        subprocess.Popen(
            ["make", "experiment", *SHORT, f"OUT={output}", "LAB_RUNTIME=docker"],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for output in outputs
    ]
    ends = [(run.communicate(timeout=600), run.returncode) for run in runs]
    fingerprints = {result(inside)["fingerprint"]}
    for (stdout, stderr), status in ends:
        done = subprocess.CompletedProcess([], status, stdout, stderr)
        fingerprints.add(result(done)["fingerprint"])
    assert len(fingerprints) == 1


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (("RTT=abc",), "RTT is 'abc'"),
        (("STACK=./nothing.c", "LAB_RUNTIME=docker"), "compiled with this machine's tools"),
        (("KERNEL_SRC=/nowhere", "LAB_RUNTIME=docker"), "built with this machine's tools"),
        (("LAB_RUNTIME=podman",), "it must be docker or process"),
    ],
)
def test_bad_input_is_one_line(make: Make, variables: tuple[str, ...], words: str) -> None:
    done = make(*variables)
    assert done.returncode == 2
    (error_line,) = [line for line in done.stderr.splitlines() if words in line]
    assert error_line.startswith(("farpath: ", "container: "))
    assert "Traceback" not in done.stderr


def run_alone(*options: str) -> subprocess.CompletedProcess[str]:
    """A short experiment with the image alone, under options of docker's own."""
    words = ["run", "--path=caltech", "--region=5s", "--rate=20Mbit", "--out=/tmp/results"]
    return completed(
        ["docker", "run", "--rm", "--init", *options, "farpath/lab", *words], timeout=300
    )


def test_without_a_place_that_allows_execution_the_remedy_is_named() -> None:
    done = run_alone("--tmpfs=/tmp:noexec,mode=1777")
    assert done.returncode == 3, done.stderr
    assert "/dev/shm is mounted noexec" in done.stderr
    assert "/tmp is mounted noexec" in done.stderr


def forbidding(directory: FilePath, *calls: str) -> str:
    """An option of docker's that forbids system calls."""
    profile = directory / "profile.json"
    rule = {"names": calls, "action": "SCMP_ACT_ERRNO"}
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule]}))
    return f"--security-opt=seccomp={profile}"


@pytest.mark.parametrize("calls", [("seccomp",), ("ptrace", "seccomp")])
def test_a_machine_that_forbids_what_the_guest_needs_is_named(
    tmp_path: FilePath, calls: tuple[str, ...]
) -> None:
    done = run_alone("--tmpfs=/tmp:exec,mode=1777", forbidding(tmp_path, *calls))
    assert done.returncode == 3, done.stderr
    assert "this machine forbids" in done.stderr


def test_a_machine_that_forbids_ptrace_alone_runs_the_lab(tmp_path: FilePath) -> None:
    done = run_alone("--tmpfs=/tmp:exec,mode=1777", forbidding(tmp_path, "ptrace"))
    assert done.returncode == 0, done.stderr
