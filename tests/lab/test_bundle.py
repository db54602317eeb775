"""The bundle on a machine with nothing: Debian's essential packages, no network, no root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.project import PROJECT
from tests.support.processes import completed

USER = 1000
#: Five virtual seconds
SHORT = ("run", "--rtt=164ms", "--region=5s", "--schedule=together", "--json")
#: Binds this machine's devices and processes into a root, makes the folder of the bundle
#: read-only if it is named, and runs a command there as an ordinary user.
IN_ROOT = """
root=$1 user=$2 bundle=$3
shift 3
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
if [ -n "$bundle" ]; then
    mount --bind "$root/$bundle" "$root/$bundle"
    mount -o remount,bind,ro "$root/$bundle"
fi
exec chroot $user "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/home/user \
    sh -c 'umask 077; cd ~; exec "$@"' sh "$@"
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


def result(done: subprocess.CompletedProcess[str]) -> Any:
    """The JSON object that a run printed last."""
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def output(*command: str | FilePath) -> str:
    done = completed(command, cwd=PROJECT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    """The root of a machine with nothing but a bundle in a user's home."""
    root = tmp_path_factory.mktemp("machine") / "root"
    bare = FilePath(output(PROJECT / "images" / "rootfs", "bare")) / "rootfs"
    shutil.copytree(bare, root, symlinks=True)
    bundle = FilePath(output("make", "--silent", "bundle").splitlines()[-1])
    home = root / "home" / "user"
    home.mkdir()
    shutil.copy(bundle, home / "bundle.tar.gz")
    (root / "tmp").chmod(0o1777)
    if os.geteuid() == 0:
        os.chown(home, USER, USER)
    return root


@pytest.fixture(scope="module")
def run(machine: FilePath) -> Run:
    """Runs a command on that machine; ``bundle``: what of it is read-only."""
    rootless = [] if os.geteuid() == 0 else ["--map-root-user"]
    namespaces = ["unshare", "--mount", "--net", *rootless]
    if subprocess.run([*namespaces, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine allows no namespaces (unshare) to this user")
    user = "" if rootless else f"--userspec={USER}:{USER}"

    def run(*command: str, bundle: str = "") -> subprocess.CompletedProcess[str]:
        return completed([*namespaces, "sh", "-ec", IN_ROOT, "sh", machine, user, bundle, *command])

    return run


@pytest.fixture(scope="module")
def bundle(run: Run) -> str:
    """Where the bundle stands there, unpacked with a strict umask and used once."""
    done = run("tar", "xzf", "bundle.tar.gz")
    assert done.returncode == 0, done.stderr
    (name,) = run("sh", "-c", "ls -d farpath-*").stdout.split()
    used = run(f"{name}/farpath", "stacks")
    assert used.returncode == 0, used.stderr
    assert "htcp" in used.stdout
    return f"home/user/{name}"


@pytest.fixture(scope="module")
def bundle_run(run: Run, bundle: str) -> Any:
    """A short run on that machine, of a bundle that cannot be written."""
    return result(run(f"/{bundle}/farpath", *SHORT, bundle=bundle))


def test_a_bundle_has_the_fingerprint_of_the_clone_and_its_record_that_name(
    bundle_run: Any, tmp_path: FilePath
) -> None:
    clone_run = json.loads(
        output(PROJECT / ".venv/bin/farpath", *SHORT, f"--out={tmp_path}").splitlines()[-1]
    )
    assert bundle_run["fingerprint"] == clone_run["fingerprint"]
    assert bundle_run["metrics"] == clone_run["metrics"]
    assert FilePath(bundle_run["record"]).name == FilePath(clone_run["record"]).name


def test_its_second_run_comes_from_the_record_which_it_shows(
    bundle_run: Any, run: Run, bundle: str
) -> None:
    assert result(run(f"/{bundle}/farpath", *SHORT, bundle=bundle))["cached"]
    ended = run(f"/{bundle}/farpath", "show", bundle_run["record"], bundle=bundle)
    assert ended.returncode == 0, ended.stderr
    assert bundle_run["fingerprint"] in ended.stdout
    drawn = run(f"/{bundle}/farpath", "draw", "--rtt=50ms", "--out=topology.png", bundle=bundle)
    assert drawn.returncode == 0, drawn.stderr


def test_it_writes_only_results_and_its_cache(bundle_run: Any, machine: FilePath, run: Run) -> None:
    record = json.loads((machine / "home/user" / bundle_run["record"] / "record.json").read_text())
    assert record["provenance"]["runtime"] == "bundle"
    done = run("find", ".", "-path", "./farpath-*", "-prune", "-o", "-type", "d", "-print")
    top = {"/".join(path.split("/")[:3]) for path in done.stdout.split()} - {"."}
    assert top <= {
        "./results",
        f"./results/{record_name(bundle_run)}",
        "./.cache",
        "./.cache/farpath",
    }
    # User Mode Linux keeps a folder for the names of its guests
    assert {path.name for path in (machine / "tmp").iterdir()} <= {".uml"}


def record_name(ended: Any) -> str:
    return FilePath(ended["record"]).name


def test_what_would_have_to_be_compiled_is_refused_in_one_line(run: Run, bundle: str) -> None:
    source = "printf 'int x;' >tcp_mine.c; exec \"$@\""
    done = run("sh", "-c", source, "sh", f"/{bundle}/farpath", "run", "--stack=./tcp_mine.c")
    assert done.returncode == 3
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("farpath:")]
    assert "use a clone of the project" in line
    assert "Traceback" not in done.stderr
