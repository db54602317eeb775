"""Tick program: a program that samples at ticks (``farpath.guest.ticks``), from start to end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath

from farpath.guest.device import Device, DeviceError, Site, exit_message


class TickProgram:
    """A running program, such as "the tracer of sender".

    ``module``: what Python runs. Without the site module, whose packages the program does not
    need, Python reads the clock less often. ``errors``: file of its messages. ``config``: line that
    it reads first. ``descriptors``: of the files that it gets.
    """

    def __init__(
        self,
        title: str,
        module: str,
        errors: FilePath,
        config: bytes,
        descriptors: Sequence[int] = (),
    ) -> None:
        self.title = title
        self.errors = errors
        with errors.open("wb") as stream:
            self.process = subprocess.Popen(
                (sys.executable, "-S", "-m", module),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                pass_fds=descriptors,
            )
        self._send_line(config)

    def _send_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def await_ready(self) -> None:
        """Wait until the program is ready for the schedule to start."""
        assert self.process.stdout is not None
        if self.process.stdout.readline() != b"ready\n":
            self.process.wait()
            raise DeviceError(self.problem() or f"{self.title} is not ready")

    def begin(self, epoch_ns: int) -> None:
        """Send the program the schedule's start, in ns of the monotonic clock."""
        self._send_line(b"%d" % epoch_ns)

    def problem(self) -> str:
        """Return the message of a program that ended by itself; empty if it is running."""
        if self.process.poll() is None:
            return ""
        return exit_message(self.title, self.process, self.errors)

    def ask_to_end(self) -> None:
        """Make the program write what it has and exit, at its next tick."""
        self.process.send_signal(signal.SIGTERM)

    def await_end(self) -> None:
        """Wait for a program that was asked to end; raises DeviceError if it fails."""
        if self.process.wait():
            raise DeviceError(self.problem() or f"{self.title} failed")


class TickDevice(Device):
    """A device of tick programs, which run from just before the schedule to the last flow's end."""

    raw: FilePath

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.programs: list[TickProgram] = []

    def start_programs(self) -> Iterator[TickProgram]:
        """Start each program, and yield it."""
        raise NotImplementedError

    def start(self, raw: FilePath) -> None:
        """Keep where the programs write."""
        self.raw = raw

    def begin(self, epoch_ns: int) -> None:
        """Start the programs, and tell them the schedule's start once all are ready."""
        self.programs += self.start_programs()
        for program in self.programs:
            program.await_ready()
        for program in self.programs:
            program.begin(epoch_ns)

    def problem(self) -> str:
        """Return the message of a program that ended by itself."""
        return next(filter(None, (program.problem() for program in self.programs)), "")

    def end(self) -> None:
        """Have the programs write what they have; raises DeviceError if one fails."""
        for program in self.programs:
            program.ask_to_end()
        for program in self.programs:
            program.await_end()
        self.programs.clear()
