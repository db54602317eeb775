"""QEMU: a machine with Debian's stock kernel, in which commands run one after another.

Its clock counts instructions (images/qemu/machine), so that a busy host changes nothing
in it; the host lab runs there on a machine whose own kernel cannot run it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from types import TracebackType
from typing import IO

from farpath.base.errors import LabFailedError, MachineLacksError
from farpath.base.project import PROJECT
from farpath.lab.host import STACKS_DIR
from farpath.lab.run import INSTRUCTION_NS, git_commit
from farpath.tools.commands import note

SCRIPTS = PROJECT / "images" / "qemu"
PYTHON = "/opt/farpath/venv/bin/python"
#: Where farpath is in the machine.
CODE = "/code"
#: Where the machine keeps records in the making: memory, as its clock runs on while it
#: waits for a directory of the host.
OUT = "/run/out"
#: How soon the host sees that a command has ended.
POLL_S = 0.1
#: How long a machine may take to power off.
CLOSING_S = 30.0


@dataclass(frozen=True)
class Parts:
    """What a machine is made of: root, the end hosts' root, farpath's stacks for its kernel.

    ``stacks`` is None where only the kernel's own are wanted.
    """

    root: FilePath
    sender: FilePath
    stacks: FilePath | None


def _output(*command: str | FilePath) -> FilePath:
    """The place that a build script prints; what it says for people goes to stderr."""
    note([str(word) for word in command])
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        name = FilePath(command[0]).relative_to(PROJECT)
        raise MachineLacksError(f"{name} ended with {done.returncode}: the remedy is said above")
    return FilePath(done.stdout.strip())


def parts(root: FilePath | None = None, stacks: bool = True) -> Parts:
    """The parts, built where they are not there yet.

    ``root``: another root than farpath's. ``stacks``: whether farpath's are compiled for
    the machine's kernel, for which a compiler is downloaded.
    """
    return Parts(
        root=root or _output(SCRIPTS / "root"),
        sender=_output(PROJECT / "images" / "rootfs", "sender"),
        stacks=_output(SCRIPTS / "modules") if stacks else None,
    )


@dataclass(frozen=True)
class Speed:
    """How fast a machine is: its cores, and ns of its time for each instruction of any."""

    cores: int
    instruction_ns: int


@dataclass(frozen=True)
class CommandResult:
    """How a command ended and what it said."""

    status: int
    stdout: str
    stderr: str


class MachineJob:
    """A command under way in the machine."""

    def __init__(self, machine: Machine, number: int) -> None:
        self.machine = machine
        self.number = number

    def until_said(self, pattern: str) -> None:
        """Wait until a line of its stderr matches, or it has ended."""
        said = f"/run/jobs/{self.number}.err"
        script = (
            f"until grep -Eq {shlex.quote(pattern)} {said} || [ -e {said}.end ]; do sleep 1; done"
        )
        self.machine.do("sh", "-c", script)

    def kill(self, signal: str) -> None:
        """Send it, and no other process, a signal."""
        self.machine.do("sh", "-c", f"kill -{signal} $(cat /run/jobs/{self.number}.pid)")

    def wait(self) -> CommandResult:
        """What came of it."""
        status = self.machine.jobs / f"{self.number}.status"
        while not status.exists():
            self.machine.check_alive()
            time.sleep(POLL_S)
        said = [self.machine.jobs / f"{self.number}.{name}" for name in ("out", "err")]
        stdout, stderr = (file.read_text(errors="replace") for file in said)
        return CommandResult(int(status.read_text()), stdout, stderr)


class Machine:
    """The machine: commands go to a shell in it, what they say comes by a shared directory.

    ``jobs``: that directory, at /jobs in the machine. ``more``: directories of the host
    that are copied into it, by their places there. ``limit_s``: real time after which it
    is ended.
    """

    def __init__(
        self,
        made_of: Parts,
        jobs: FilePath,
        speed: Speed,
        limit_s: int,
        more: Mapping[str, FilePath] | None = None,
    ) -> None:
        self.jobs = jobs
        self.speed = speed
        self._count = 0
        self._log = (jobs / "machine.log").open("w+")
        shares = [f"{place}={source}:copy" for place, source in _copies(made_of, more or {})]
        self._process = subprocess.Popen(
            [
                str(SCRIPTS / "machine"),
                *("--root", str(made_of.root), "--stdin", "--limit", str(limit_s)),
                *("--cpus", str(speed.cores), "--instruction-ns", str(speed.instruction_ns)),
                *(part for share in [*shares, f"/jobs={jobs}:rw"] for part in ("--share", share)),
                *("--", "sh", "-c", f"mkdir -p /run/jobs {OUT}; exec sh"),
            ],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdin is not None
        self._shell: IO[str] = self._process.stdin

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            # What it is about would keep it from powering off
            self._process.terminate()
        self.close()

    def check_alive(self) -> None:
        """Raise LabFailedError with what it said if the machine is gone."""
        if self._process.poll() is not None:
            self._log.seek(0)
            raise LabFailedError("the QEMU machine ended", self._log.read().strip())

    def start(self, *command: str) -> MachineJob:
        """Start a command, as root, where farpath is."""
        self._count += 1
        mine = f"/run/jobs/{self._count}"
        # The shell starts what is in the background with SIGINT ignored
        script = f"echo $$ > {mine}.pid; exec env --default-signal=INT {shlex.join(command)}"
        kept = f"{mine}.out {mine}.err /jobs/"
        self.check_alive()
        self._shell.write(
            f"( cd {CODE}; sh -c {shlex.quote(script)} </dev/null >{mine}.out 2>{mine}.err; "
            f"status=$?; touch {mine}.err.end; cp {kept}; echo $status >/jobs/{self._count}.part; "
            f"mv /jobs/{self._count}.part /jobs/{self._count}.status ) &\n"
        )
        self._shell.flush()
        return MachineJob(self, self._count)

    def run(self, *command: str) -> CommandResult:
        """A command, to its end."""
        return self.start(*command).wait()

    def do(self, *command: str) -> str:
        """What a command prints; LabFailedError if it fails."""
        done = self.run(*command)
        if done.status != 0:
            raise LabFailedError(
                f"'{shlex.join(command)}' ended with {done.status} in the QEMU machine", done.stderr
            )
        return done.stdout

    def start_farpath(self, *arguments: str) -> MachineJob:
        """Start a command of farpath."""
        environment = [
            f"PYTHONPATH={CODE}",
            f"{INSTRUCTION_NS}={self.speed.instruction_ns}",
            f"FARPATH_GIT_COMMIT={git_commit() or ''}",
        ]
        return self.start("env", *environment, PYTHON, "-m", "farpath", *arguments)

    def farpath(self, *arguments: str) -> CommandResult:
        """A command of farpath, to its end."""
        return self.start_farpath(*arguments).wait()

    def close(self) -> None:
        """End the shell, with which the machine powers off."""
        self._shell.close()
        try:
            self._process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()
        self._log.close()


def _copies(made_of: Parts, more: Mapping[str, FilePath]) -> Sequence[tuple[str, FilePath]]:
    """What of the host is copied into a machine, each with its place there."""
    stacks = []
    if made_of.stacks is not None:
        release = json.loads((made_of.stacks / "manifest.json").read_text())["release"]
        stacks = [(f"{CODE}/build/{STACKS_DIR}/{release}", made_of.stacks)]
    return [
        (f"{CODE}/farpath", PROJECT / "farpath"),
        (f"{CODE}/topologies", PROJECT / "topologies"),
        (f"{CODE}/images/kernel/stacks", PROJECT / "images" / "kernel" / "stacks"),
        (f"{CODE}/build/sender", made_of.sender),
        *stacks,
        *more.items(),
    ]
