"""Builds of what users bring: made by the scripts of images/, linked for the lab to find."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, FarpathError, MachineLacksError
from farpath.base.project import PROJECT
from farpath.lab.artifacts import oci
from farpath.tools.commands import note

#: Docker's usual images of whole distributions with their tools take one to three GB.
LARGEST_IMAGE_BYTES = 10_000_000_000
#: Reading so much takes some seconds.
LARGE_IMAGE_BYTES = 1_000_000_000
#: What of a root directory does not count: its machine's own.
MOUNTED = ("dev", "proc", "sys")
IMAGE_SCRIPT = PROJECT / "images" / "own-image"


@contextmanager
def errors_named(variable: str) -> Iterator[None]:
    """Begin what is wrong with the variable through which the user gave it."""
    try:
        yield
    except FarpathError as error:
        raise type(error)(f"{variable}: {error.message}", error.detail) from error


def build_artifact(
    script: FilePath,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda _line: None,
) -> FilePath:
    """Run a script that builds and prints a place; its last words become the error.

    ``environment``: its own if not this process's. ``tell`` gets every line that it says
    on the way, of builds that take minutes.
    """
    if not script.is_file():
        raise MachineLacksError(
            f"this farpath, {PROJECT}, came without what builds that "
            f"({script.relative_to(PROJECT)}): use a clone of the project"
        )
    said: list[str] = []
    note([str(script), *arguments])
    with subprocess.Popen(
        [str(script), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
    ) as script_process:
        assert script_process.stdout is not None
        assert script_process.stderr is not None
        try:
            # The script prints its one line when all is done.
            for line in script_process.stderr:
                said.append(line.rstrip("\n"))
                tell(said[-1])
            place = script_process.stdout.read().strip()
        except BaseException:
            # Interrupted: what it has begun ends with it
            script_process.terminate()
            raise
    if script_process.returncode == 0:
        return FilePath(place)
    *before, last = [line for line in said if line.strip()] or [f"{script} said nothing"]
    message = last.removeprefix(f"{script.name}: ")
    refused = script_process.returncode == BadInputError.exit_status
    raise (BadInputError if refused else MachineLacksError)(message, "\n".join(before))


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def unpacked(place: FilePath, image: oci.Image, tell: Callable[[str], None] = _say) -> FilePath:
    """Where an image is unpacked: a directory with manifest.json and rootfs.

    ``tell`` gets a line about an image so large that reading it takes a while. Raises
    BadInputError for one that is larger than any image of end hosts.
    """
    sizes = dict(_sizes(place))
    total_bytes = sum(sizes.values())
    if total_bytes > LARGEST_IMAGE_BYTES:
        largest = max(sizes, key=lambda file: sizes[file])
        raise BadInputError(
            f"{place} holds {total_bytes / 1e9:.1f} GB, the largest is {largest} with "
            f"{sizes[largest] / 1e9:.1f} GB, holes counted: an image may hold "
            f"{LARGEST_IMAGE_BYTES / 1e9:g} GB; leave out what its programs do not need"
        )
    if total_bytes > LARGE_IMAGE_BYTES:
        tell(f"reading {total_bytes / 1e9:.1f} GB of {place}, for the first time twice")
    return build_artifact(IMAGE_SCRIPT, image.kind, str(place), *image.script_arguments)


def _sizes(place: FilePath) -> Iterator[tuple[FilePath, int]]:
    """The size of each file that images/own-image reads of a place, which may be one itself."""
    if not place.is_dir():
        yield place, place.stat().st_size
        return
    for folder, folders, names in os.walk(place):
        if FilePath(folder) == place:
            folders[:] = [name for name in folders if name not in MOUNTED]
        for name in names:
            file = FilePath(folder, name)
            status = file.lstat()
            if stat.S_ISREG(status.st_mode):
                yield file, status.st_size


def linked(place: FilePath, builds: FilePath) -> str:
    """Make a build known to the lab, for all runs at once; returns its name."""
    link = builds / place.name
    try:
        builds.resolve().mkdir(parents=True, exist_ok=True)
        if link.resolve() != place.resolve():
            fresh = builds / f".{place.name}-{os.getpid()}"
            fresh.symlink_to(place)
            fresh.replace(link)
    except OSError as error:
        raise MachineLacksError(
            f"{builds} cannot be written ({error.strerror}): it holds links to what is built"
        ) from error
    return place.name
