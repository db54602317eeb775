"""Builds of what users bring: made by the scripts of images/, linked for the lab to find."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.errors import BadInputError, FarpathError, MachineLacksError
from farpath.lab import oci
from farpath.lab.images import PROJECT

IMAGE_SCRIPT = PROJECT / "images" / "own-image"


@contextmanager
def said_of(variable: str) -> Iterator[None]:
    """Begin what is wrong with the variable through which the user gave it."""
    try:
        yield
    except FarpathError as error:
        raise type(error)(f"{variable}: {error.message}", error.detail) from error


def built(
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


def unpacked(place: FilePath, image: oci.Image) -> FilePath:
    """Where an image is unpacked: a directory with manifest.json and rootfs."""
    return built(IMAGE_SCRIPT, image.kind, str(place), *image.script_arguments)


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
