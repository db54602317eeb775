"""A QEMU machine with Debian's stock kernel that runs one command after another."""

from __future__ import annotations

import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PROJECT = Path(__file__).parents[2]
PYTHON = "/opt/farpath/venv/bin/python"
#: Where the machine keeps records in the making: memory, as its clock runs on while it
#: waits for a directory of the host.
OUT = "/run/out"
#: The machine's clock: 500 million instructions a second. The lab's traffic at 10 Mbit/s
#: keeps it busy for a thirtieth of the time.
INSTRUCTION_NS = 2
#: All tests together, in real time, on a host that is busy with other things.
LIMIT_S = 1800
#: How soon the host sees that a command has ended.
POLL_S = 0.1


@dataclass(frozen=True)
class Done:
    """How a command ended and what it said."""

    status: int
    stdout: str
    stderr: str


class Job:
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
        assert self.machine.run("sh", "-c", script).status == 0

    def kill(self, signal: str) -> None:
        """Send it, and no other process, a signal."""
        done = self.machine.run("sh", "-c", f"kill -{signal} $(cat /run/jobs/{self.number}.pid)")
        assert done.status == 0, done.stderr

    def wait(self) -> Done:
        """What came of it."""
        status = self.machine.jobs / f"{self.number}.status"
        while not status.exists():
            self.machine.check_alive()
            time.sleep(POLL_S)
        said = [self.machine.jobs / f"{self.number}.{name}" for name in ("out", "err")]
        stdout, stderr = (file.read_text(errors="replace") for file in said)
        return Done(int(status.read_text()), stdout, stderr)


class Machine:
    """The machine: commands go to a shell in it, what they say comes by a shared directory."""

    def __init__(self, root: Path, jobs: Path, sender: Path) -> None:
        self.jobs = jobs
        self._count = 0
        shares = [
            f"/code/farpath={PROJECT}/farpath:copy",
            f"/code/topologies={PROJECT}/topologies:copy",
            f"/code/build/sender={sender}:copy",
            f"/jobs={jobs}:rw",
        ]
        self._log = (jobs / "machine.log").open("w+")
        self._process = subprocess.Popen(
            [
                str(PROJECT / "images/qemu/machine"),
                *("--root", str(root), "--stdin", "--limit", str(LIMIT_S)),
                *("--instruction-ns", str(INSTRUCTION_NS)),
                *(part for share in shares for part in ("--share", share)),
                *("--", "sh", "-c", f"mkdir -p /run/jobs {OUT}; exec sh"),
            ],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdin is not None
        self._shell: IO[str] = self._process.stdin

    def check_alive(self) -> None:
        """Raise RuntimeError with what it said if the machine is gone."""
        if self._process.poll() is not None:
            self._log.seek(0)
            raise RuntimeError(f"the QEMU machine ended:\n{self._log.read()}")

    def start(self, *command: str) -> Job:
        """Start a command, as root, in /code."""
        self._count += 1
        mine = f"/run/jobs/{self._count}"
        # The shell starts what is in the background with SIGINT ignored
        script = f"echo $$ > {mine}.pid; exec env --default-signal=INT {shlex.join(command)}"
        kept = f"{mine}.out {mine}.err /jobs/"
        self.check_alive()
        self._shell.write(
            f"( cd /code; sh -c {shlex.quote(script)} </dev/null >{mine}.out 2>{mine}.err; "
            f"status=$?; touch {mine}.err.end; cp {kept}; echo $status >/jobs/{self._count}.part; "
            f"mv /jobs/{self._count}.part /jobs/{self._count}.status ) &\n"
        )
        self._shell.flush()
        return Job(self, self._count)

    def run(self, *command: str) -> Done:
        """A command, to its end."""
        return self.start(*command).wait()

    def start_farpath(self, *arguments: str) -> Job:
        """Start a command of farpath."""
        command = (PYTHON, "-m", "farpath.cli", *arguments)
        return self.start("env", "PYTHONPATH=/code", *command)

    def farpath(self, *arguments: str) -> Done:
        """A command of farpath, to its end."""
        return self.start_farpath(*arguments).wait()

    def close(self) -> None:
        """End the shell, with which the machine powers off."""
        self._shell.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()
        self._log.close()
