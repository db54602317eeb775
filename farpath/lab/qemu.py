"""QEMU: a virtual machine with Debian's stock kernel, in which commands run.

Its clock counts instructions (images/qemu/machine), so that the host's load changes nothing
in it. The host lab runs there if the host's own kernel cannot run it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import IO

from farpath.base.errors import LabFailedError, MachineLacksError
from farpath.base.project import IMAGES, PROJECT
from farpath.lab.artifacts.scripts import require_script
from farpath.lab.host import STACKS_DIR
from farpath.lab.provenance import INSTRUCTION_NS, git_commit
from farpath.tools.commands import note

SCRIPTS = IMAGES / "qemu"
PYTHON = "/opt/farpath/venv/bin/python"
#: Directory of farpath in the machine.
CODE = "/code"
#: Directory in which the machine makes records. It is a tmpfs, since the machine's clock goes on
#: while it waits for a directory of the host.
OUT = "/run/out"
#: Real seconds between two checks whether a command has ended.
POLL_S = 0.1
#: Longest time in real s that a machine takes to power off.
CLOSING_S = 30.0


@dataclass(frozen=True)
class Parts:
    """Parts of a machine: its root, the end hosts' root, and farpath's stacks for its kernel.

    ``stacks`` is None if only the kernel's own stacks are needed.
    """

    root: FilePath
    sender: FilePath
    stacks: FilePath | None


def _output(*command: str | FilePath) -> FilePath:
    """Run a build script and return the path that it prints; its messages go to stderr."""
    require_script(FilePath(command[0]))
    note([str(word) for word in command])
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        name = FilePath(command[0]).relative_to(PROJECT)
        raise MachineLacksError(f"{name} ended with {result.returncode}: see its message above")
    return FilePath(result.stdout.strip())


def parts(root: FilePath | None = None, stacks: bool = True) -> Parts:
    """Return a machine's parts, and build those that are missing.

    ``root``: root file system instead of farpath's. ``stacks``: whether farpath's stacks are
    compiled for the machine's kernel, which downloads a compiler.
    """
    return Parts(
        root=root or _output(SCRIPTS / "root"),
        sender=_output(IMAGES / "rootfs", "sender"),
        stacks=_output(SCRIPTS / "modules") if stacks else None,
    )


@dataclass(frozen=True)
class Speed:
    """Speed of a machine: number of cores, and ns of its time for each instruction of any core."""

    cores: int
    instruction_ns: int


@dataclass(frozen=True)
class CommandResult:
    """Exit status and output of a command."""

    status: int
    stdout: str
    stderr: str


class MachineJob:
    """A command that runs in the machine."""

    def __init__(self, machine: Machine, number: int) -> None:
        self.machine = machine
        self.number = number

    def until_said(self, pattern: str) -> None:
        """Wait until a line of the command's stderr matches, or the command has ended."""
        stderr = f"/run/jobs/{self.number}.err"
        match = f"grep -Eq {shlex.quote(pattern)} {stderr}"
        script = f"until {match} || [ -e {stderr}.end ]; do sleep 1; done"
        self.machine.do("sh", "-c", script)

    def kill(self, signal: str) -> None:
        """Send a signal to the command's process alone."""
        self.machine.do("sh", "-c", f"kill -{signal} $(cat /run/jobs/{self.number}.pid)")

    def wait(self) -> CommandResult:
        """Wait for the command to end and return its result."""
        status = self.machine.jobs / f"{self.number}.status"
        while not status.exists():
            self.machine.check_alive()
            time.sleep(POLL_S)
        files = [self.machine.jobs / f"{self.number}.{name}" for name in ("out", "err")]
        stdout, stderr = (file.read_text(errors="replace") for file in files)
        return CommandResult(int(status.read_text()), stdout, stderr)


class Machine(AbstractContextManager["Machine"]):
    """A running machine: commands go to a shell in it, output returns by a shared directory.

    ``machine_parts``: root file systems and stacks. ``jobs``: the shared directory, /jobs in the
    machine. ``limit_s``: real time after which the machine is ended. ``more``: directories of
    the host to copy into the machine, by their paths there.
    """

    def __init__(
        self,
        machine_parts: Parts,
        jobs: FilePath,
        speed: Speed,
        limit_s: int,
        more: Mapping[str, FilePath] | None = None,
    ) -> None:
        self.jobs = jobs
        self.speed = speed
        self._count = 0
        self._log = (jobs / "machine.log").open("w+")
        shares = [f"{path}={source}:copy" for path, source in _copies(machine_parts, more or {})]
        self._process = subprocess.Popen(
            [
                str(SCRIPTS / "machine"),
                *("--root", str(machine_parts.root), "--stdin", "--limit", str(limit_s)),
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

    def __exit__(self, error_type: type[BaseException] | None, *_error: object) -> None:
        if error_type is not None:
            # Its present command would keep it from powering off.
            self._process.terminate()
        self.close()

    def check_alive(self) -> None:
        """Raise LabFailedError with the machine's output if it has ended."""
        if self._process.poll() is not None:
            self._log.seek(0)
            raise LabFailedError("the QEMU machine ended", self._log.read().strip())

    def start(self, *command: str) -> MachineJob:
        """Start a command as root, in farpath's directory."""
        self._count += 1
        job = f"/run/jobs/{self._count}"
        # The shell starts background commands with SIGINT ignored.
        script = f"echo $$ > {job}.pid; exec env --default-signal=INT {shlex.join(command)}"
        copied = f"{job}.out {job}.err /jobs/"
        self.check_alive()
        self._shell.write(
            f"( cd {CODE}; sh -c {shlex.quote(script)} </dev/null >{job}.out 2>{job}.err; "
            f"status=$?; touch {job}.err.end; cp {copied}; echo $status >/jobs/{self._count}.part; "
            f"mv /jobs/{self._count}.part /jobs/{self._count}.status ) &\n"
        )
        self._shell.flush()
        return MachineJob(self, self._count)

    def run(self, *command: str) -> CommandResult:
        """Run a command to its end."""
        return self.start(*command).wait()

    def do(self, *command: str) -> str:
        """Run a command and return its output; raises LabFailedError if it fails."""
        result = self.run(*command)
        if result.status != 0:
            raise LabFailedError(
                f"'{shlex.join(command)}' ended with {result.status} in the QEMU machine",
                result.stderr,
            )
        return result.stdout

    def start_farpath(self, *arguments: str) -> MachineJob:
        """Start a command of farpath."""
        environment = [
            f"PYTHONPATH={CODE}",
            f"{INSTRUCTION_NS}={self.speed.instruction_ns}",
            f"FARPATH_GIT_COMMIT={git_commit() or ''}",
        ]
        return self.start("env", *environment, PYTHON, "-m", "farpath", *arguments)

    def farpath(self, *arguments: str) -> CommandResult:
        """Run a command of farpath to its end."""
        return self.start_farpath(*arguments).wait()

    def close(self) -> None:
        """End the shell; the machine then powers off."""
        self._shell.close()
        try:
            self._process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()
        self._log.close()


def _copies(machine_parts: Parts, more: Mapping[str, FilePath]) -> Sequence[tuple[str, FilePath]]:
    """Return the directories to copy into a machine: path there, and source on the host."""
    stacks = []
    if machine_parts.stacks is not None:
        release = json.loads((machine_parts.stacks / "manifest.json").read_text())["release"]
        stacks = [(f"{CODE}/build/{STACKS_DIR}/{release}", machine_parts.stacks)]
    return [
        (f"{CODE}/farpath", PROJECT / "farpath"),
        (f"{CODE}/topologies", PROJECT / "topologies"),
        (f"{CODE}/benchmarks", PROJECT / "benchmarks"),
        (f"{CODE}/images/kernel/stacks", IMAGES / "kernel" / "stacks"),
        (f"{CODE}/build/sender", machine_parts.sender),
        *stacks,
        *more.items(),
    ]
