"""Program shell: a shell on an end of a path, beside servers, whose lines are the user's.

The clock stands while the user writes (``farpath.guest.shell``). The shell is one program in a
container as any other, so that its directory, variables and jobs last from line to line.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from pathlib import Path as FilePath
from typing import IO

from farpath.guest.program_hosts import Program, ProgramHost
from farpath.guest.program_observers import SendEvent, status_of
from farpath.guest.shell import LOOK_MS, Lines
from farpath.spec.protocol import INTERRUPT_FILE, OUTPUT_DIR, SHELL_OUTPUT

#: What the shell writes to its stderr when a line is done; commands' own stderr is its stdout.
_DONE = b"x"
#: Reads lines and runs each in itself. An interruption ends commands alone; ``command`` keeps a
#: line with a mistake from ending the shell; the status of a line is there for the next one.
LOOP = (
    "trap : INT; s=0; while IFS= read -r line; do (exit $s); "
    'command eval "$line" </dev/null 2>&1; s=$?; printf x >&2; done; exit $s'
)


class EndShell:
    """A shell on a host: ``interrupt`` is a file that appears when the user interrupts a line."""

    def __init__(self, host: ProgramHost, terminal: IO[bytes], interrupt: FilePath) -> None:
        self._interrupt = interrupt
        self._terminal = terminal
        reading, writing = os.pipe()
        self._done = reading
        with open(writing, "wb") as stderr:
            self.program: Program = host.start(
                *("shell", ("sh", "-c", LOOP), subprocess.PIPE, terminal, stderr)
            )

    def run_line(self, line: str) -> bool:
        """Run a line; return whether the shell has ended."""
        assert self.program.process.stdin
        try:
            self.program.process.stdin.write(line.encode(errors="surrogateescape") + b"\n")
            self.program.process.stdin.flush()
        except BrokenPipeError:
            return True
        poller = select.poll()
        poller.register(self._done, select.POLLIN)
        while True:
            if poller.poll(LOOK_MS):
                said = os.read(self._done, 4096)
                if said == _DONE:
                    return False
                self._terminal.write(said.removesuffix(_DONE))
                if not said:
                    return True
            if self._interrupt.exists():
                self._interrupt.unlink()
                self.program.group.send(signal.SIGINT, waiting=self.program.process.pid)

    def end(self) -> int:
        """End the shell with the end of its lines; return its status."""
        assert self.program.process.stdin
        self.program.process.stdin.close()
        self.program.process.wait()
        self.program.kill()
        return status_of(self.program)


def run_lines(host: ProgramHost, share: FilePath, send_event: SendEvent) -> int:
    """Run lines of the user's in a shell on a host; return the shell's status."""
    with (share / OUTPUT_DIR / SHELL_OUTPUT).open("wb", buffering=0) as terminal:
        shell = EndShell(host, terminal, share / INTERRUPT_FILE)
        send_event("shell-ready", words=[])
        lines, has_ended = Lines(share, send_event), False
        while not has_ended and (line := lines.next()) is not None:
            has_ended = shell.run_line(line)
        return shell.end()
