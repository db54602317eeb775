"""The wheels on a machine with nothing but Debian's Python: no compiler, no root, no network."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from farpath import __version__
from farpath.base.c_source import file_code
from farpath.base.project import PROJECT
from tests.support.processes import completed

USER = 1000
#: xz's preset: of the archive nothing but its size depends on it.
FAST = "0"
#: Five virtual seconds
SHORT = ("run", "--rtt=164ms", "--region=5s", "--schedule=together", "--json")
FARPATH = "/home/user/venv/bin/farpath"
#: What pip needs of this machine to find its index.
OF_NETWORK = ("resolv.conf", "hosts", "pip.conf", "ssl/certs/ca-certificates.crt")
#: Binds this machine's devices and processes into a root and runs a command there as an ordinary
#: user with a strict umask.
IN_ROOT = """
root=$1 user=$2
shift 2
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount -t tmpfs -o noexec,mode=1777 tmpfs "$root/mnt"
exec chroot $user "$root" /usr/bin/env HOME=/home/user PATH=/usr/bin:/bin \
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
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[FilePath, FilePath]:
    """The wheels of farpath and of its lab."""
    directory = tmp_path_factory.mktemp("wheels")
    engine, lab = output(PROJECT / "images/wheel/make", directory, FAST).splitlines()
    return FilePath(engine), FilePath(lab)


@pytest.fixture(scope="module")
def machine(
    wheels: tuple[FilePath, FilePath], tmp_path_factory: pytest.TempPathFactory
) -> FilePath:
    """The root of a machine with nothing but the wheels in a user's home."""
    root = tmp_path_factory.mktemp("machine") / "root"
    bare = FilePath(output(PROJECT / "images" / "rootfs", "bare")) / "rootfs"
    shutil.copytree(bare, root, symlinks=True)
    for name in OF_NETWORK:
        if (file := FilePath("/etc", name)).is_file():
            shutil.copy(file, root / "etc" / name)
    home = root / "home" / "user"
    home.mkdir()
    for wheel in wheels:
        shutil.copy(wheel, home)
    (root / "tmp").chmod(0o1777)
    if os.geteuid() == 0:
        os.chown(home, USER, USER)
    return root


def namespaces(*more: str) -> list[str]:
    rootless = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--mount", *more, *rootless]
    if subprocess.run([*command, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine allows no namespaces (unshare) to this user")
    return command


def in_root(machine: FilePath, command: tuple[str, ...], *more: str) -> list[Any]:
    user = f"--userspec={USER}:{USER}" if os.geteuid() == 0 else ""
    return [*namespaces(*more), "sh", "-ec", IN_ROOT, "sh", machine, user, *command]


@pytest.fixture(scope="module")
def run(machine: FilePath) -> Run:
    """Runs a command on that machine, where farpath is installed, without a network."""
    pip = f"venv/bin/pip install --no-compile --find-links=. 'farpath[lab]=={__version__}'"
    install = ("sh", "-ec", f"python3 -m venv venv; {pip}")
    done = completed(in_root(machine, install))
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return completed(in_root(machine, command, "--net"), env={"PATH": os.environ["PATH"]})

    return run


@pytest.fixture(scope="module")
def short_run(run: Run) -> Any:
    """A short run on that machine, the first, which unpacks the lab."""
    done = run(FARPATH, *SHORT)
    assert done.stderr.count("unpacking the lab once") == 1
    return result(done)


@pytest.fixture(scope="module")
def unpacked(short_run: Any, machine: FilePath) -> FilePath:
    """Where the lab of that machine is."""
    (place,) = (machine / "home/user/.cache/farpath/wheel").iterdir()
    return place


def record_of(machine: FilePath, ended: Any) -> Any:
    return json.loads((machine / "home/user" / ended["record"] / "record.json").read_text())


def test_a_run_has_the_fingerprint_the_identity_and_the_name_of_the_clone_s(
    short_run: Any, machine: FilePath, tmp_path: FilePath
) -> None:
    clone = json.loads(
        output(PROJECT / ".venv/bin/farpath", *SHORT, f"--out={tmp_path}").splitlines()[-1]
    )
    assert short_run["fingerprint"] == clone["fingerprint"]
    assert short_run["metrics"] == clone["metrics"]
    assert FilePath(short_run["record"]).name == FilePath(clone["record"]).name
    here, there = (record_of(machine, ended)["provenance"] for ended in (clone, short_run))
    assert there["source_sha256"] == here["source_sha256"]
    assert (there["runtime"], there["git_commit"]) == ("wheel", here["git_commit"])


def test_nothing_is_written_but_results_and_the_cache(
    short_run: Any, machine: FilePath, run: Run
) -> None:
    assert result(run(FARPATH, *SHORT))["cached"]
    home = {path.name for path in (machine / "home/user").iterdir() if path.suffix != ".whl"}
    assert home <= {"venv", "results", ".cache", ".config"}
    # User Mode Linux keeps a folder for the names of its guests
    assert {path.name for path in (machine / "tmp").iterdir()} <= {".uml"}


def test_the_version_names_the_wheel_and_where_it_is_unpacked(
    unpacked: FilePath, run: Run, machine: FilePath
) -> None:
    said = run(FARPATH, "--version").stdout
    place = f"/{unpacked.relative_to(machine)}"
    assert said.startswith(f"farpath {__version__}, commit ")
    assert said.endswith(f" of the wheel farpath-lab {__version__}, in {place}\n")


def test_a_program_of_the_machine_runs_over_the_path(short_run: Any, run: Run) -> None:
    client = "import socket; socket.create_connection(('server', 80)).recv(1)"
    server = "import socket; socket.create_server(('', 80)).accept()[0].send(b'1')"
    done = run(
        *(FARPATH, "exec", "--rtt=200ms", f'--server=python3 -c "{server}"'),
        *("--", "python3", "-c", client),
    )
    assert done.returncode == 0, done.stderr
    assert "exec: status 0 after 0.4" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--stack=./tcp_mine.c"),
        ("run", "--stack=quic_quinn"),
        ("run", "--kernel=7.3"),
        ("regress", "--base=linux-source-7.3"),
    ],
    ids=lambda words: words[-1],
)
def test_what_would_have_to_be_compiled_is_refused_in_one_line(
    short_run: Any, run: Run, words: tuple[str, ...]
) -> None:
    done = run("sh", "-c", 'echo "int x;" >tcp_mine.c; exec "$@"', "sh", FARPATH, *words)
    assert done.returncode == 3, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("farpath:")]
    assert "use a clone of the project" in line
    assert "Traceback" not in done.stderr


def test_a_cache_without_programs_is_refused_in_one_line(short_run: Any, run: Run) -> None:
    done = run("env", "FARPATH_CACHE=/mnt/cache", FARPATH, *SHORT, "--out=other")
    assert done.returncode == 3
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("farpath:")]
    assert "mounted noexec: set FARPATH_CACHE to a directory on another file system" in line


@pytest.fixture
def without_libstdcxx(machine: FilePath) -> Iterator[None]:
    """That machine without the library that NumPy's wheels need."""
    library = machine / "usr/lib/x86_64-linux-gnu/libstdc++.so.6"
    kept = library.rename(library.with_name("kept"))
    yield
    kept.rename(library)


# bench imports pandas first, whose error has NumPy's as its cause, and after two minutes of runs
@pytest.mark.parametrize(
    "words",
    [("run", "--rtt=50ms"), pytest.param(("bench",), marks=pytest.mark.nightly)],
    ids=lambda words: words[0],
)
def test_a_machine_without_libstdcxx_is_told_its_package_in_one_line(
    without_libstdcxx: None, run: Run, words: tuple[str, ...]
) -> None:
    done = run(FARPATH, *words)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith(
        "farpath: this machine has no libstdc++.so.6, which a Python package needs: install "
        "libstdc++6 (Debian, Ubuntu, openSUSE) or libstdc++ (Fedora)\n"
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("platform", "found"), [("manylinux_2_17_x86_64", True), ("musllinux_1_2_x86_64", False)]
)
def test_pip_takes_the_lab_for_glibc_and_refuses_it_for_musl(
    wheels: tuple[FilePath, FilePath], tmp_path: FilePath, platform: str, found: bool
) -> None:
    of_machine = ("--only-binary=:all:", f"--platform={platform}", "--python-version=3.11")
    places = ("--no-index", f"--find-links={wheels[1].parent}", f"--dest={tmp_path}")
    pip = (sys.executable, "-m", "pip", "--isolated", "download", "--no-deps")
    done = completed([*pip, *of_machine, *places, "farpath_lab"])
    assert (done.returncode == 0) == found, done.stderr
    assert ("No matching distribution found for farpath_lab" in done.stderr) != found
    assert [file.name for file in tmp_path.iterdir()] == [wheels[1].name] * found


@pytest.fixture
def container(run: Run, machine: FilePath) -> Iterator[str]:
    """An image of Docker's with that machine's files, without those of its user."""
    if subprocess.run(["docker", "info"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no Docker engine answers here")
    name = "farpath/wheel-test"
    pack = f"tar --create --exclude='./home/*' --directory '{machine}' . | docker import - {name}"
    subprocess.run(["sh", "-c", pack], check=True, capture_output=True)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)


@pytest.mark.nightly
def test_a_container_without_any_right_has_the_same_fingerprint(
    container: str, short_run: Any, machine: FilePath
) -> None:
    rights = ("--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none")
    user = (f"--user={USER}:{USER}", "--workdir=/home/user", "--env=HOME=/home/user")
    files = f"--volume={machine}/home/user:/home/user"
    ended = completed(
        ["docker", "run", "--rm", *rights, *user, files, container, FARPATH, *SHORT, "--force"]
    )
    assert result(ended)["fingerprint"] == short_run["fingerprint"]


def test_the_engine_s_wheel_has_all_of_the_package_that_is_no_page_or_record(
    wheels: tuple[FilePath, FilePath],
) -> None:
    packages = ("farpath", "topologies", "benchmarks", "experiments")
    tracked = output("git", "ls-files", "--", *packages).splitlines()
    wanted = {
        name
        for name in tracked
        if not name.endswith((".md", ".yaml"))
        and "records/" not in name
        and (PROJECT / name).exists()
    }
    assert wanted - set(zipfile.ZipFile(wheels[0]).namelist()) == set()


def test_the_lab_s_wheel_lists_what_its_archive_holds(
    wheels: tuple[FilePath, FilePath], unpacked: FilePath
) -> None:
    with zipfile.ZipFile(wheels[1]) as wheel:
        files = wheel.read("farpath_lab/files.tsv").decode().splitlines()
        packages = wheel.read("farpath_lab/packages.tsv").decode().splitlines()
        licences = {FilePath(name).name for name in wheel.namelist() if "/licences/" in name}
    held = {
        str(file.relative_to(unpacked)): file.stat().st_size
        for file in (unpacked / "parts").rglob("*")
        if file.is_file() and not file.is_symlink()
    }
    assert {name: int(size) for size, _, name in (line.split("\t") for line in files)} == held
    listed = [line.split("\t") for line in packages]
    for part in ("lab", "sender"):
        root = unpacked / "build" / part / "rootfs"
        manifest = json.loads((root.parent / "manifest.json").read_text())
        installed = manifest["packages"]
        installed.pop("udtperf", None)
        assert {row[1]: row[2] for row in listed if row[0] == part} == installed
        copyrights = [root / "usr/share/doc" / package / "copyright" for package in installed]
        assert [str(file) for file in copyrights if not file.exists()] == []
    texts = unpacked / "build/lab/rootfs/usr/share/common-licenses"
    assert {file.name for file in texts.iterdir()} < licences


def test_the_lab_s_wheel_has_the_source_of_kernel_modules_and_udtperf(
    wheels: tuple[FilePath, FilePath], unpacked: FilePath, tmp_path: FilePath
) -> None:
    with zipfile.ZipFile(wheels[1]) as wheel:
        wheel.extractall(tmp_path)
    package = tmp_path / "farpath_lab"
    kernel = json.loads((unpacked / "build/kernel/manifest.json").read_text())
    rows = [line.split("\t") for line in (package / "packages.tsv").read_text().splitlines()]
    assert f"{rows[0][1]} {rows[0][2]}" == kernel["source"]
    assert rows[1][1] == "libudt-dev"
    config = (package / "kernel.config").read_bytes()
    assert hashlib.sha256(config).hexdigest() == kernel["config_hash"]
    sources = {file.stem: file for file in (package / "images/kernel").rglob("*.c")}
    modules = json.loads((unpacked / "build/stacks/manifest.json").read_text())["modules"]
    for name, module in modules.items():
        code = hashlib.sha256(file_code(sources[name])).hexdigest()
        assert code == module["source_hash"], name
    scripts = set(output("git", "ls-files", "--", "images").splitlines())
    present = {str(file.relative_to(package)) for file in (package / "images").rglob("*")}
    hidden = {name for name in scripts if FilePath(name).name.startswith(".")}
    gone = {name for name in scripts if not (PROJECT / name).exists()}
    assert scripts - hidden - gone - present == set()
    assert "For three years" in (package / "README.md").read_text()


def test_the_list_of_a_release_names_all_packages_sources_and_modules_of_its_wheels(
    wheels: tuple[FilePath, FilePath], unpacked: FilePath, tmp_path: FilePath
) -> None:
    file = tmp_path / "farpath.cdx.json"
    output(sys.executable, PROJECT / "images/wheel/sbom.py", *wheels, file)
    text = file.read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    listed = json.loads(text)
    farpath = listed["metadata"]["component"]
    (lab,) = [one for one in listed["components"] if one["name"] == "farpath-lab"]
    for component, wheel in zip((farpath, lab), wheels, strict=True):
        (digest,) = component["hashes"]
        assert digest["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    versions = {
        part["name"]: {one["name"]: one["version"] for one in part["components"]}
        for part in lab["components"]
    }
    build = unpacked / "build"
    manifests = {
        part: json.loads((build / part / "manifest.json").read_text())
        for part in ("kernel", "lab", "sender", "stacks")
    }
    manifests["sender"]["packages"].pop("udtperf", None)
    for part in ("lab", "sender"):
        assert versions[part] == manifests[part]["packages"]
    assert versions["kernel"] == dict([manifests["kernel"]["source"].split()])
    udtperf = FilePath(output(PROJECT / "images/udtperf/build"), "manifest.json")
    udt = json.loads(udtperf.read_text())["libudt-dev"]
    assert versions["udtperf"] == {"libudt-dev": udt}
    assert versions["modules"].keys() == manifests["stacks"]["modules"].keys()
    locked = (PROJECT / "images/python/base.txt").read_text()
    python = {one["name"]: one["version"] for one in listed["components"] if one is not lab}
    assert python == dict(re.findall(r"^([\w.-]+)==(\S+)", locked, re.MULTILINE))
