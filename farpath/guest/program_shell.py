"""Program shell: a shell on an end of a path, beside servers, whose lines are the user's.

The clock stands while the user writes (``farpath.guest.shell``). The shell is one program in a
container as any other, so that its directory, variables and jobs last from line to line.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path as FilePath
from typing import IO

from farpath.guest import system
from farpath.guest.platforms import Platform
from farpath.guest.program_hosts import Program
from farpath.guest.program_network import start_network
from farpath.guest.program_observers import SendEvent, status_of
from farpath.guest.programs import ProgramRun, add_hosts
from farpath.guest.shell import LOOK_MS, Lines
from farpath.spec.plan import Plan
from farpath.spec.programs import SERVER_LEAD_S, Programs
from farpath.spec.protocol import (
    INTERRUPT_FILE,
    OUTPUT_DIR,
    PLAN_FILE,
    PROGRAMS_FILE,
    RAW_DIR,
    READBACK_FILE,
    SHELL_FILE,
    SHELL_OUTPUT,
)
from farpath.spec.wire import from_wire

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

    def __init__(
        self, run: ProgramRun, host: str, terminal: IO[bytes], interrupt: FilePath
    ) -> None:
        self._interrupt = interrupt
        self._terminal = terminal
        reading, writing = os.pipe()
        self._done = reading
        with open(writing, "wb") as stderr:
            self.program: Program = run.hosts[host].start(
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


def play(share: FilePath, platform: Platform, send_event: SendEvent) -> None:
    """Run lines of the host in a shell on a host of the plan in the shared directory."""
    platform.prepare(share)
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    programs = from_wire(Programs, json.loads((share / PROGRAMS_FILE).read_text()))
    system.wait_until(system.next_second_ns())
    network = start_network(plan, share, platform)
    if differences := network.differences(network.read_back()):
        send_event("mismatch", differences=differences)
        return
    add_hosts(plan, programs, network)

    def tell_end(_label: str, _status: int, _said: str, _t_s: float) -> None:
        """Say nothing: the user sees what a server prints."""

    run = ProgramRun(programs, network, share, tell_end)
    epoch_ns = system.next_second_ns()
    system.wait_until(epoch_ns)
    if programs.date_s is not None:
        time.clock_settime(time.CLOCK_REALTIME, programs.date_s - SERVER_LEAD_S)
    run.start_servers()
    system.wait_until(epoch_ns + round(SERVER_LEAD_S * system.NS_PER_S))
    run.check_servers()
    if programs.wait_for:
        run.wait_for_ports()
    with (share / OUTPUT_DIR / SHELL_OUTPUT).open("wb", buffering=0) as terminal:
        host = (share / SHELL_FILE).read_text()
        shell = EndShell(run, host, terminal, share / INTERRUPT_FILE)
        send_event("shell-ready", words=[])
        lines, has_ended = Lines(share, send_event), False
        while not has_ended and (line := lines.next()) is not None:
            has_ended = shell.run_line(line)
        status = shell.end()
    run.end_servers()
    (share / RAW_DIR).mkdir()
    (share / READBACK_FILE.format(site=0)).write_text("{}")
    send_event("done", status=status)
