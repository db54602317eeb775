"""The images sender, kernel, lab and notebook, each built again when its parts have changed."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from machine import NoBase, base_image, image_field, import_image, write_machine
from messages import (
    IMAGES,
    PROJECT,
    Refused,
    do,
    output_of,
    say,
    status_of,
    variable,
)

PREFIX = os.environ.setdefault("FARPATH_IMAGES", "farpath")
TOOLS = f"{PREFIX}/tools"
CACHE = Path(
    variable("FARPATH_CACHE")
    or Path(variable("XDG_CACHE_HOME") or Path.home() / ".cache") / "farpath"
).absolute()
BUILD_BYTES = 4 * 2**30
BEGAN_S = time.monotonic()

#: What an image is assembled from, as targets of the Makefile.
PARTS = {
    "sender": ["rootfs-sender"],
    "kernel": ["stacks"],
    "lab": ["stacks", "rootfs-lab", "rootfs-sender", "rootfs-unpacker", "python"],
    "notebook": ["stacks", "rootfs-lab", "rootfs-sender", "rootfs-unpacker", "python-notebook"],
}
#: Files of the project that go into each image, with the folder of its name.
SOURCES = [
    *("images/container", "images/docker", "images/lib", "images/host-packages", "images/rootfs"),
    *("images/sender", "images/udtperf", "images/lab/assemble"),
]
SOURCES_OF_LAB = [
    *("images/kernel", "images/lab", "images/python", "images/unpacker", "images/own-image"),
    *("farpath", "topologies", "benchmarks", "experiments", "pyproject.toml", "LICENSE"),
]
MORE_SOURCES = {
    "kernel": ["images/kernel"],
    "lab": SOURCES_OF_LAB,
    "notebook": SOURCES_OF_LAB,
}
NO_SOURCES = ("*.pyc", "*.ko", "*.o", "*.mod*", ".*.cmd")
RECORDS = re.compile(r"experiments/.*/[^/]*records/")


def build(target: str) -> None:
    """Make an image that is not current; raises Refused."""
    if target not in PARTS:
        raise Refused(2, f"'{target}' is no image; allowed: {' '.join(PARTS)}")
    key = _key(target)
    if _is_current(target, key):
        return
    _need_engine_space()
    say(f"building the image {PREFIX}/{target} (the first one takes minutes, for the kernel)")
    _make_parts(PARTS[target])
    with _lock(CACHE / "container/lock"):
        if not _is_current(target, key):
            _assemble(target, key)
    size_bytes = int(image_field(f"{PREFIX}/{target}", "{{.Size}}"))
    seconds = round(time.monotonic() - BEGAN_S)
    say(f"made {PREFIX}/{target}, {size_bytes / 1e6:.0f}MB ({seconds} s)")


def commit() -> str:
    """The project's commit, with a mark if files differ from it."""
    return (
        output_of("git", "-C", PROJECT, "describe", "--always", "--abbrev=40", "--dirty")
        or "unknown"
    )


def _key(target: str) -> str:
    """A digest of everything of the project that goes into an image."""
    digest = hashlib.sha256(f"{target} {variable('KERNEL_VERSION')}\n".encode())
    places = {f"images/{target}", *SOURCES, *MORE_SOURCES.get(target, [])}
    for name in sorted({name for place in places for name in _files(place)}):
        content = hashlib.sha256((PROJECT / name).read_bytes()).hexdigest()
        digest.update(f"{content}  {name}\n".encode())
    return digest.hexdigest()[:16]


def _files(place: str) -> Iterator[str]:
    """The files of the project that are a place or stand in it."""
    if (PROJECT / place).is_file():
        yield place
    for folder, _, names in os.walk(PROJECT / place):
        for name in names:
            file = os.path.join(os.path.relpath(folder, PROJECT), name)
            ignored = any(fnmatch(name, pattern) for pattern in NO_SOURCES)
            if not ignored and not RECORDS.match(file) and not os.path.islink(PROJECT / file):
                yield file


def _is_current(target: str, key: str) -> bool:
    return image_field(f"{PREFIX}/{target}", '{{index .Config.Labels "farpath.key"}}') == key


def _need_engine_space() -> None:
    place = output_of("docker", "info", "--format", "{{.DockerRootDir}}")
    # An engine elsewhere keeps its own count
    if not os.path.isdir(place):
        return
    free_bytes = shutil.disk_usage(place).free
    if free_bytes < BUILD_BYTES:
        raise Refused(
            3,
            f"no space left: {place} has {free_bytes >> 20} MB free, building the images needs"
            f" {BUILD_BYTES >> 30} GB; free some (docker system prune)",
        )


def _make_parts(parts: list[str]) -> None:
    """Make parts in the cache, where make setup has and finds them too.

    This machine makes them if it has the tools or its root asks; else a container does, where an
    image with Debian can be had; else the tools have to be installed.
    """
    packages = subprocess.run(
        [IMAGES / "host-packages", "missing"], stdout=subprocess.PIPE, text=True, check=False
    )
    if packages.returncode:
        raise SystemExit(packages.returncode)
    missing = packages.stdout.split("\n")[:-1]
    if missing and os.getuid() != 0:
        try:
            base = base_image()
        except NoBase as lack:
            say(str(lack))
        else:
            _make_parts_in_container(parts, base, missing)
            return
    do(IMAGES / "host-packages")
    command = ["make", "-C", str(PROJECT), "--no-print-directory", "-j4", *parts]
    do(*command, stdout=sys.stderr, env={**os.environ, "FARPATH_PROGRESS": "lines"})


def _make_parts_in_container(parts: list[str], base: str, missing: list[str]) -> None:
    """As root of a container without rights beyond Docker's default ones.

    A Debian root needs these to be set up; all that was made is the caller's.
    """
    log = PROJECT / "build/image-tools.log"
    write_machine()
    log.parent.mkdir(parents=True, exist_ok=True)
    CACHE.mkdir(parents=True, exist_ok=True)
    say(
        f"this machine lacks tools ({' '.join(missing)}): they go into the image {TOOLS},"
        f" on {base} (log: {log})"
    )
    options = ["--file", f"{IMAGES}/Dockerfile", "--tag", TOOLS, f"--build-arg=BASE_IMAGE={base}"]
    with log.open("wb") as output:
        status = status_of(
            ["docker", "build", *options, str(IMAGES)], stdout=output, stderr=subprocess.STDOUT
        )
    if status:
        raise _failed_build("tools", log)
    volumes = [f"--volume={CACHE}:{CACHE}", f"--volume={PROJECT}:{PROJECT}", f"--workdir={PROJECT}"]
    variables = [f"FARPATH_CACHE={CACHE}", "FARPATH_PROGRESS=lines"]
    variables += [f"OWNER={os.getuid()}:{os.getgid()}"]
    if version := variable("KERNEL_VERSION"):
        variables.append(f"KERNEL_VERSION={version}")
    script = (
        'trap "chown -R \\"$OWNER\\" \\"$FARPATH_CACHE\\" build" EXIT;'
        ' make --no-print-directory -j4 "$@"'
    )
    if status_of(
        [
            *("docker", "run", "--rm", "--init", *volumes, "--label=farpath.service=tools"),
            *(f"--env={each}" for each in variables),
            *(TOOLS, "bash", "-c", script, "make", *parts),
        ],
        stdout=sys.stderr,
    ):
        raise Refused(3, "the parts of the image were not made, as said above")


def _assemble(target: str, key: str) -> None:
    """Make an image of what is laid out in the cache."""
    name = f"{PREFIX}/{target}"
    log = PROJECT / f"build/image-{target}.log"
    former = image_field(name)
    changes = (IMAGES / target / "image.conf").read_text(encoding="utf-8").splitlines()
    version = re.search(
        r'^__version__ = "(.*)"', (PROJECT / "farpath/__init__.py").read_text("utf-8"), re.M
    )
    changes += [
        f"LABEL farpath.key={key}",
        f"LABEL org.opencontainers.image.version={version.group(1) if version else ''}",
        f"LABEL org.opencontainers.image.revision={commit()}",
    ]
    tree = tempfile.mkdtemp(prefix=f"{target}.", suffix=".part", dir=CACHE / "container")
    try:
        do(IMAGES / "lab/assemble", target, PROJECT / "build", tree)
        owner = ["--owner=0", "--group=0", "--numeric-owner", "--mode=u+rwX,go+rX"]
        if not import_image(
            ["tar", "--create", f"--directory={tree}", *owner, "."], name, changes, log
        ):
            raise _failed_build(target, log)
    finally:
        subprocess.call(["rm", "-rf", tree])
    # Unless a container still runs it
    if former:
        output_of("docker", "image", "rm", former)


def _failed_build(target: str, log: Path) -> Refused:
    """What ends a build that failed; the last lines of its log are printed."""
    text = log.read_text(encoding="utf-8", errors="replace")
    print(*text.splitlines()[-15:], sep="\n", file=sys.stderr)
    if "no space left on device" in text.lower():
        place = output_of("docker", "info", "--format", "{{.DockerRootDir}}")
        return Refused(
            3,
            f"no space left on the disk of {place}: free some (docker system prune),"
            " then try again",
        )
    return Refused(
        3,
        f"the image {target} was not built; the last lines are above, all of them in {log}",
    )


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    """Hold a lock while other builds wait for it, or wait for theirs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another build holds {file}; waiting for it to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
