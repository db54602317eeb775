"""This machine: what a virtual lab needs of it, checked before anything boots."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.errors import MachineLacksError

#: Tools of the host, each with the Debian package that brings it.
TOOLS = {"taskset": "util-linux", "setpriv": "util-linux"}


def check_machine() -> None:
    """Raise MachineLacksError if this machine cannot run a virtual lab at all."""
    system, processor = platform.system(), platform.machine()
    if (system, processor) != ("Linux", "x86_64"):
        raise MachineLacksError(
            f"this machine is {system} on {processor}: the virtual lab runs on Linux on x86_64"
        )
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise MachineLacksError(f"{tool} is missing: install the package {package}")


def _allows_execution(directory: FilePath) -> bool:
    return not os.statvfs(directory).f_flag & os.ST_NOEXEC


def memory_directory(memory_bytes: int) -> FilePath:
    """Where the guest's memory can live: $TMPDIR, /dev/shm or /tmp.

    User Mode Linux maps its memory from a file, executable and as large as the
    guest uses. Raises MachineLacksError naming what each place lacks.
    """
    reasons = []
    named = os.environ.get("TMPDIR")
    for place in dict.fromkeys([*([named] if named else []), "/dev/shm", "/tmp"]):
        directory = FilePath(place)
        if not directory.is_dir() or not os.access(directory, os.W_OK):
            reasons.append(f"{place} is not a writable directory")
        elif not _allows_execution(directory):
            reasons.append(f"{place} is mounted noexec")
        elif shutil.disk_usage(directory).free < memory_bytes:
            free_mib = shutil.disk_usage(directory).free >> 20
            reasons.append(f"{place} has {free_mib} MiB free of {memory_bytes >> 20}")
        else:
            return directory
    raise MachineLacksError(
        f"no place for the guest's memory: {'; '.join(reasons)}: set TMPDIR to a directory "
        f"with {memory_bytes >> 20} MiB free on a file system mounted without noexec"
    )


def share_directory() -> FilePath:
    """A fresh directory for host and guest; MachineLacksError if there is no place."""
    try:
        return FilePath(tempfile.mkdtemp(prefix="farpath-"))
    except OSError as error:
        raise MachineLacksError(
            f"no directory for a run's files ({error}): set TMPDIR to one that can be written"
        ) from error


@contextmanager
def reserved_core() -> Iterator[int]:
    """One processor core for the length of a run, none other's if one is free.

    A lab hands over between kernel and user threads constantly and is several times
    slower when they sit on two cores. The reservation is a locked file that ends
    with its process; when all cores are taken the runs share, the least first.
    """
    directory = FilePath(tempfile.gettempdir()) / f"farpath-cores-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    cores = sorted(os.sched_getaffinity(0), reverse=True)
    slots = [(slot, core) for slot in range(16) for core in cores]
    for slot, core in slots:
        file = os.open(directory / f"{core}.{slot}", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        try:
            yield core
        finally:
            os.close(file)
        return
    raise MachineLacksError(f"{len(slots)} runs are under way on this machine: wait for one to end")


def cpu_model() -> str:
    """The processor's name, as the kernel tells it."""
    for line in FilePath("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
