"""Program groups: control groups of a user's programs, which bound their memory and end them whole.

A program's group holds all its descendants, wherever they have gone (cgroup-v2.rst in the
kernel's Documentation/admin-guide).
"""

from __future__ import annotations

import os
import signal
from pathlib import Path as FilePath

from farpath.tools.sysctl import write_setting

CGROUPS = FilePath("/sys/fs/cgroup")
#: Files of all programs, and processes of all hosts: what systemd sets at every boot
#: (systemd.git, rules of sysctl.d and manager_bump_fs_nr_open in src/core/main.c).
KERNEL_LIMITS = {
    "fs.file-max": "9223372036854775807",
    "fs.nr_open": "1073741816",
    "kernel.pid_max": "4194304",
    "kernel.threads-max": "1000000",
}


class ProgramGroups:
    """The group of all programs, with one in it for each program."""

    def __init__(self, memory_bytes: int) -> None:
        """Make the group; ``memory_bytes``: limit of all programs and what they write."""
        for name, value in KERNEL_LIMITS.items():
            write_setting(name, value)
        (CGROUPS / "cgroup.subtree_control").write_text("+memory")
        self._directory = CGROUPS / "programs"
        self._directory.mkdir()
        (self._directory / "memory.max").write_text(str(memory_bytes))

    def new(self, label: str) -> ProgramGroup:
        """Return a new group for a program."""
        directory = self._directory / label
        directory.mkdir()
        return ProgramGroup(directory)

    def killed_for_memory(self) -> int:
        """Return how many processes the kernel has killed since all together took too much."""
        return _counts(self._directory / "memory.events")["oom_kill"]


class ProgramGroup:
    """The group of one program and its descendants, with the process that waits for it."""

    def __init__(self, directory: FilePath) -> None:
        self._directory = directory

    def enter(self) -> None:
        """Put this process into the group; its later children are in it too."""
        (self._directory / "cgroup.procs").write_text("0")

    @property
    def is_empty(self) -> bool:
        """Whether no process of the group is left."""
        return not _counts(self._directory / "cgroup.events")["populated"]

    @property
    def processes(self) -> int:
        """How many processes it has, the one that waits for the program's end among them."""
        return len((self._directory / "cgroup.procs").read_text().split())

    def remove(self) -> None:
        """Remove it, when it is empty."""
        self._directory.rmdir()

    def end(self, waiting: int) -> None:
        """Ask every process to end except ``waiting``, which waits for the program's end."""
        self.send(signal.SIGTERM, waiting)

    def send(self, number: int, waiting: int) -> None:
        """Send a signal to every process except ``waiting``."""
        for text in (self._directory / "cgroup.procs").read_text().split():
            # 0 is a process of no namespace that is seen here; another may have ended by now
            if int(text) not in (0, waiting):
                _send(int(text), number)

    def kill(self) -> None:
        """Kill all processes of the group at once."""
        (self._directory / "cgroup.kill").write_text("1")


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _counts(file: FilePath) -> dict[str, int]:
    """Return the counts of a file of lines with a name and a number."""
    return {name: int(count) for name, count in map(str.split, file.read_text().splitlines())}
