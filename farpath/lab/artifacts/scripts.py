"""Build scripts: runs the scripts in images/ and links their results into ``build``."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, FarpathError, MachineLacksError
from farpath.base.project import IMAGES, LAB, PROJECT
from farpath.lab.artifacts import oci
from farpath.tools.commands import note

#: Largest image; usual images of whole distributions with their tools have one to three GB.
LARGEST_IMAGE_BYTES = 10_000_000_000
#: Size of an image from which reading it takes some seconds, and is announced.
LARGE_IMAGE_BYTES = 1_000_000_000
#: Directories of a root that are left out, since they hold mounts of its machine.
MOUNTED = ("dev", "proc", "sys")
IMAGE_SCRIPT = IMAGES / "own-image"
MODULES_SCRIPT = IMAGES / "kernel" / "modules"
CONGESTION_SCRIPT = IMAGES / "udtperf" / "congestion"


@contextmanager
def errors_named(option: str) -> Iterator[None]:
    """Make errors those of the option that the user gave."""
    try:
        yield
    except BadInputError as error:
        raise BadInputError(option=option, problem=error.text, detail=error.detail) from error
    except FarpathError as error:
        raise type(error)(f"`{option}`: {error.text}", error.detail) from error


def require_script(script: FilePath) -> None:
    """Raise MachineLacksError if a build script is missing, or if an installed farpath has it.

    What is installed compiles nothing: its scripts are sources. It unpacks users' images.
    """
    if not script.is_file() or (LAB is not None and script != IMAGE_SCRIPT):
        raise MachineLacksError(
            f"this farpath, {PROJECT}, does not build that "
            f"({script.relative_to(IMAGES.parent)}): use a clone of the project, after "
            "'make setup' there"
        )


def build_artifact(
    script: FilePath,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda _line: None,
) -> FilePath:
    """Run a build script and return the path that it prints.

    ``environment``: by default this process's. ``tell``: called with every line of its stderr,
    since builds may take minutes. Raises BadInputError or MachineLacksError, by the script's
    exit status, with its last line.
    """
    require_script(script)
    output: list[str] = []
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
            # The script prints its only line on stdout at its end.
            for line in script_process.stderr:
                output.append(line.rstrip("\n"))
                tell(output[-1])
            path = script_process.stdout.read().strip()
        except BaseException:
            # Interrupted: end the script, which ends its own processes.
            script_process.terminate()
            raise
    if script_process.returncode == 0:
        return FilePath(path)
    *before, last = [line for line in output if line.strip()] or [f"{script} said nothing"]
    message = last.removeprefix(f"{script.name}: ")
    refused = script_process.returncode == BadInputError.exit_status
    raise (BadInputError if refused else MachineLacksError)(message, "\n".join(before))


def print_to_stderr(line: str) -> None:
    """Print a line that is no result."""
    sys.stderr.write(f"{line}\n")


def unpacked(
    path: FilePath, image: oci.Image, tell: Callable[[str], None] = print_to_stderr
) -> FilePath:
    """Unpack an image, and return the directory with its manifest.json and rootfs.

    ``tell``: called with a line if the image is so large that reading it takes a while. Raises
    BadInputError for an image larger than ``LARGEST_IMAGE_BYTES``.
    """
    sizes = dict(_sizes(path))
    total_bytes = sum(sizes.values())
    if total_bytes > LARGEST_IMAGE_BYTES:
        largest = max(sizes, key=lambda file: sizes[file])
        raise BadInputError(
            problem=(
                f"{path} holds {total_bytes / 1e9:.1f} GB, the largest is {largest} "
                f"with {sizes[largest] / 1e9:.1f} GB, holes counted"
            ),
            remedy=(
                f"an image may hold {LARGEST_IMAGE_BYTES / 1e9:g} GB; leave out what "
                "its programs do not need"
            ),
        )
    if total_bytes > LARGE_IMAGE_BYTES:
        tell(f"reading {total_bytes / 1e9:.1f} GB of {path}, for the first time twice")
    return build_artifact(IMAGE_SCRIPT, image.kind, str(path), *image.script_arguments)


def _sizes(path: FilePath) -> Iterator[tuple[FilePath, int]]:
    """Yield each file that images/own-image reads, with its size; ``path`` may be a file."""
    if not path.is_dir():
        yield path, path.stat().st_size
        return
    for folder, folders, names in os.walk(path):
        if FilePath(folder) == path:
            folders[:] = [name for name in folders if name not in MOUNTED]
        for name in names:
            file = FilePath(folder, name)
            status = file.lstat()
            if stat.S_ISREG(status.st_mode):
                yield file, status.st_size


def linked(directory: FilePath, builds: FilePath, name: str = "") -> str:
    """Link a build into ``builds``, where the lab finds it, atomically; return its name.

    ``name``: the link's, by default the build's.
    """
    link = builds / (name or directory.name)
    try:
        builds.resolve().mkdir(parents=True, exist_ok=True)
        if link.resolve() != directory.resolve():
            fresh = builds / f".{directory.name}-{os.getpid()}"
            fresh.symlink_to(directory)
            fresh.replace(link)
    except OSError as error:
        raise MachineLacksError(
            f"{builds} cannot be written ({error.strerror}): it holds links to builds"
        ) from error
    return directory.name
