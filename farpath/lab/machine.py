"""This machine: its tools, memory and cores, which a virtual lab needs."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import MachineLacksError
from farpath.base.files import random_name
from farpath.base.free_memory import available_bytes

#: Tools that the virtual lab runs, each with its Debian package.
TOOLS = {"taskset": "util-linux", "setpriv": "util-linux"}
#: Prefix of the directories that host and guest share, among temporary files.
SHARE = "farpath-"
#: Most runs that share a core.
RUNS_PER_CORE = 16
#: Real seconds over which the load of the cores is measured.
LOOK_S = 0.1


@dataclass(frozen=True)
class LeastLimit:
    """A limit of resources that a lab needs: its least value, its name, the shell's command.

    ``is_raised``: whether a guest gets the hard limit, whatever the soft one is.
    """

    value: int
    what: str
    command: str
    is_raised: bool = False


#: Least limits, by their names in getrlimit(2). Measured of exec: 100 open files are enough, 64 are
#: not; a guest maps 512 MiB and more of a file, and farpath itself 1 GiB; a start takes some 5 s.
LEAST_LIMITS = {
    "RLIMIT_NOFILE": LeastLimit(256, "open files", "ulimit -n", is_raised=True),
    "RLIMIT_AS": LeastLimit(4 << 30, "bytes of address space", "ulimit -v"),
    "RLIMIT_FSIZE": LeastLimit(4 << 30, "bytes of a file", "ulimit -f"),
    "RLIMIT_CPU": LeastLimit(60, "seconds of CPU time", "ulimit -t"),
}


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
    check_limits()


def check_limits() -> None:
    """Raise MachineLacksError if this process's limits (ulimit) are too low for any guest.

    The guest's open files of the machine are open in this process too; at the limit the guest waits
    for ever.
    """
    for name, least in LEAST_LIMITS.items():
        soft, hard = resource.getrlimit(getattr(resource, name))
        most = hard if least.is_raised else soft
        if most != resource.RLIM_INFINITY and most < least.value:
            raise MachineLacksError(
                f"the limit of {least.what} is {most:,}: a lab needs {least.value:,}; raise it "
                f"with {least.command}"
            )


def _allows_execution(directory: FilePath) -> bool:
    return not os.statvfs(directory).f_flag & os.ST_NOEXEC


def memory_directory(memory_bytes: int) -> FilePath:
    """Return a directory for the file with the guest's memory: $TMPDIR, /dev/shm or /tmp.

    User Mode Linux maps its memory from a file, executable and as large as the guest uses.
    Raises MachineLacksError with the fault of each of these directories.
    """
    reasons = []
    tmpdir = os.environ.get("TMPDIR")
    for name in dict.fromkeys([*([tmpdir] if tmpdir else []), "/dev/shm", "/tmp"]):
        directory = FilePath(name)
        if not directory.is_dir() or not os.access(directory, os.W_OK):
            reasons.append(f"{name} is not a writable directory")
        elif not _allows_execution(directory):
            reasons.append(f"{name} is mounted noexec")
        elif shutil.disk_usage(directory).free < memory_bytes:
            free_mib = shutil.disk_usage(directory).free >> 20
            reasons.append(f"{name} has {free_mib} MiB free of {memory_bytes >> 20}")
        else:
            return directory
    raise MachineLacksError(
        f"no directory for the guest's memory: {'; '.join(reasons)}: set TMPDIR to a directory "
        f"with {memory_bytes >> 20} MiB free on a file system mounted without noexec"
    )


def check_memory(memory_bytes: int, reason: str) -> None:
    """Raise MachineLacksError if a guest may need more memory than is available.

    ``reason``: why it may need so much, for the message.
    """
    free_bytes = available_bytes()
    if free_bytes < memory_bytes:
        raise MachineLacksError(
            f"this machine has {free_bytes >> 20} MiB of memory free and the lab may need "
            f"{memory_bytes >> 20}: {reason}: take fewer flows, a smaller `window`, `rtt`, "
            "`rate` or `buffer`, or free some"
        )


def share_directory() -> FilePath:
    """Return a name for the directory that host and guest share; MachineLacksError without one."""
    with _no_directory_errors():
        return FilePath(tempfile.gettempdir()) / random_name(SHARE)


def make_share(share: FilePath) -> None:
    """Create the directory that host and guest share; MachineLacksError if that fails."""
    with _no_directory_errors():
        share.mkdir(0o700)


@contextmanager
def _no_directory_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MachineLacksError(
            f"no directory for a run's files ({error}): set TMPDIR to one that can be written"
        ) from error


def available_cores() -> int:
    """How many processor cores this process may use: a container may allow fewer than there are."""
    return len(os.sched_getaffinity(0))


def cores_each(runs: int) -> int:
    """Return how many of this process's cores each of several runs at once may take."""
    return max(1, available_cores() // max(1, runs))


@contextmanager
def limited_cores(count: int) -> Iterator[None]:
    """Limit this thread and its children to so many cores, which no other such limit has.

    Of several runs at once each is fastest on a core of its own, with all its sites there: cores
    that wait for each other at the end of a window do nothing meanwhile.
    """
    allowed = os.sched_getaffinity(0)
    with ExitStack() as stack:
        cores = _free_cores(stack, _idlest_first(allowed), count, "limit")
        os.sched_setaffinity(0, cores or allowed)
        try:
            yield
        finally:
            os.sched_setaffinity(0, allowed)


@contextmanager
def reserved_cores(count: int) -> Iterator[list[int]]:
    """Reserve up to so many CPU cores for a run: one at least, and others that no run holds.

    A guest switches between kernel and user threads constantly, and is several times slower when
    they run on two cores. A reservation is the name of an abstract socket (unix(7)), which one
    process can hold at a time and which is free when that ends. If all cores are reserved, runs
    share them evenly. A container has its own names and sees the runs outside it only by the
    load of each core; therefore the idlest core is tried first.
    """
    idlest = _idlest_first(os.sched_getaffinity(0))
    with ExitStack() as stack:
        cores = [stack.enter_context(_first_free(idlest))]
        others = [core for core in idlest if core not in cores]
        yield [*cores, *_free_cores(stack, others, count - 1, "core")]


def runs_beside(cores: Iterable[int]) -> int:
    """Return how many other runs hold the one of a run's cores that the most runs hold.

    The names are read from /proc/net/unix (unix(7)): who tried to reserve them would keep another
    run, which starts at that moment, from a core.
    """
    sockets = FilePath("/proc/net/unix").read_text()
    held = Counter(map(int, re.findall(r"@farpath-core-(\d+)\.\d+$", sockets, re.MULTILINE)))
    return max(held[core] for core in cores) - 1


def _free_cores(stack: ExitStack, cores: Sequence[int], count: int, kind: str) -> list[int]:
    """Reserve up to so many of these cores, the first that are free, until the stack is left."""
    reserved: list[int] = []
    for core in cores:
        if len(reserved) < count and stack.enter_context(_reservation(core, 0, kind)):
            reserved.append(core)
    return reserved


@contextmanager
def _reservation(core: int, slot: int, kind: str) -> Iterator[bool]:
    """Reserve a core's slot; whether it was free."""
    with socket.socket(socket.AF_UNIX) as reservation:
        try:
            reservation.bind(f"\0farpath-{kind}-{core}.{slot}")
        except OSError:
            yield False
            return
        yield True


@contextmanager
def _first_free(cores: Sequence[int]) -> Iterator[int]:
    """Reserve the first core that the fewest runs hold."""
    for slot in range(RUNS_PER_CORE):
        for core in cores:
            with _reservation(core, slot, "core") as is_free:
                if is_free:
                    yield core
                    return
    raise MachineLacksError(
        f"{RUNS_PER_CORE * len(cores)} runs are under way on this machine: wait for one to end"
    )


def _busy_ticks() -> dict[int, int]:
    """Return each core's busy time in clock ticks since boot (proc_stat(5))."""
    ticks = {}
    for line in FilePath("/proc/stat").read_text().splitlines():
        name, *counts = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, _idle, _iowait, *rest = map(int, counts)
            ticks[int(name[3:])] = user + nice + system + sum(rest[:3])
    return ticks


def _idlest_first(cores: Iterable[int]) -> list[int]:
    """Sort cores by their present load; of equally busy ones the last comes first."""
    before = _busy_ticks()
    time.sleep(LOOK_S)
    after = _busy_ticks()
    return sorted(cores, key=lambda core: (after.get(core, 0) - before.get(core, 0), -core))


def cpu_mhz() -> float | None:
    """Return the fastest core's present frequency in MHz from /proc/cpuinfo; None if unknown."""
    rows = FilePath("/proc/cpuinfo").read_text().splitlines()
    frequencies = [float(row.partition(":")[2]) for row in rows if row.startswith("cpu MHz")]
    return max(frequencies, default=None)


def cpu_model() -> str:
    """Return the processor's name from /proc/cpuinfo."""
    for line in FilePath("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
