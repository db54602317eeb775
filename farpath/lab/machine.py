"""This machine: what a virtual lab needs of it, checked before anything boots."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath

from farpath.base.errors import MachineLacksError

#: Tools of the host, each with the Debian package that brings it.
TOOLS = {"taskset": "util-linux", "setpriv": "util-linux"}
RUNS_PER_CORE = 16
#: How long a look at how busy the cores are takes.
LOOK_S = 0.1


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


def check_memory(memory_bytes: int, why: str) -> None:
    """Raise MachineLacksError if a guest may need more memory than is free; ``why`` that much."""
    free_bytes = available_bytes(FilePath("/proc/meminfo").read_text())
    if free_bytes < memory_bytes:
        raise MachineLacksError(
            f"this machine has {free_bytes >> 20} MiB of memory free and the lab may need "
            f"{memory_bytes >> 20}: {why}: take fewer flows, a smaller WINDOW, RTT, RATE or "
            "BUFFER, or free some"
        )


def available_bytes(meminfo: str) -> int:
    r"""What programs may still take of memory, of the text of /proc/meminfo; proc_meminfo(5).

    >>> available_bytes("MemTotal: 9 kB\nMemAvailable: 2 kB\nSwapFree: 1 kB")
    3072
    """
    rows = dict(line.split(":", 1) for line in meminfo.splitlines() if ":" in line)
    names = ("MemAvailable", "SwapFree")
    return sum(int(rows.get(name, "0 kB").split()[0]) << 10 for name in names)


def share_directory() -> FilePath:
    """A fresh directory for host and guest; MachineLacksError if there is no place."""
    try:
        return FilePath(tempfile.mkdtemp(prefix="farpath-"))
    except OSError as error:
        raise MachineLacksError(
            f"no directory for a run's files ({error}): set TMPDIR to one that can be written"
        ) from error


def available_cores() -> int:
    """How many processor cores this process may use: a container may allow fewer than there are."""
    return len(os.sched_getaffinity(0))


@contextmanager
def reserved_core() -> Iterator[int]:
    """One processor core for the length of a run, none other's if one is free.

    A lab hands over between kernel and user threads constantly and is several times
    slower when they sit on two cores. A reservation is an abstract socket's name
    (unix(7)): taken by one process at a time, free when that ends. When all cores are
    taken runs share them evenly. A container has names of its own, and sees what other
    runs have taken only by how busy each core is; so the idlest core is tried first.
    """
    cores = _idlest_first(os.sched_getaffinity(0))
    for slot in range(RUNS_PER_CORE):
        for core in cores:
            with socket.socket(socket.AF_UNIX) as reservation:
                try:
                    reservation.bind(f"\0farpath-core-{core}.{slot}")
                except OSError:
                    continue
                yield core
                return
    raise MachineLacksError(
        f"{RUNS_PER_CORE * len(cores)} runs are under way on this machine: wait for one to end"
    )


def _busy_ticks() -> dict[int, int]:
    """Each core's time that was not idle, in clock ticks since boot; proc_stat(5)."""
    ticks = {}
    for line in FilePath("/proc/stat").read_text().splitlines():
        name, *counts = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, _idle, _iowait, *rest = map(int, counts)
            ticks[int(name[3:])] = user + nice + system + sum(rest[:3])
    return ticks


def _idlest_first(cores: Iterable[int]) -> list[int]:
    """Cores by how busy they are now; of equally busy ones the last first."""
    before = _busy_ticks()
    time.sleep(LOOK_S)
    after = _busy_ticks()
    return sorted(cores, key=lambda core: (after.get(core, 0) - before.get(core, 0), -core))


def cpu_mhz() -> float | None:
    """The fastest core's frequency at this moment, as the kernel tells it."""
    rows = FilePath("/proc/cpuinfo").read_text().splitlines()
    told = [float(row.partition(":")[2]) for row in rows if row.startswith("cpu MHz")]
    return max(told, default=None)


def cpu_model() -> str:
    """The processor's name, as the kernel tells it."""
    for line in FilePath("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
