"""Shell: Mininet's command line in the guest, whose lines and output are the host's.

The clock stands while the host waits for a line. The guest asks for it by an event and then looks
for its file without any wait, so that no virtual time passes; the host stops the guest meanwhile.
"""

from __future__ import annotations

import contextlib
import io
import json
import select
import subprocess
from cmd import Cmd
from pathlib import Path as FilePath
from typing import Any

from mininet import log
from mininet.cli import CLI
from mininet.net import Mininet

from farpath.guest import system
from farpath.guest.platforms import Platform
from farpath.guest.program_network import start_network
from farpath.guest.program_observers import SendEvent
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    INTERRUPT_FILE,
    LINE_FILE,
    OUTPUT_DIR,
    PLAN_FILE,
    RAW_DIR,
    READBACK_FILE,
    SHELL_OUTPUT,
)

#: Virtual ms between two looks for an interruption while a command runs.
LOOK_MS = 100
NO_WINDOWS = "there are no windows here: write the command after the host's name\n"


class Shell(CLI):
    """Mininet's command line without a terminal of its own.

    ``terminal``: where all output goes. ``interrupt``: a file that appears when the user
    interrupts a command; it is removed then.
    """

    def __init__(self, net: Mininet, terminal: io.TextIOWrapper, interrupt: FilePath) -> None:
        # Without CLI's own, which would read lines from a terminal
        Cmd.__init__(self, stdin=io.StringIO(), stdout=terminal)
        self.mn = net
        self.locals = {"net": net}
        self.inputFile = None
        self.interrupt = interrupt

    def run_line(self, line: str) -> bool:
        """Run a line; return whether it ends the shell."""
        try:
            return bool(self.onecmd(self.precmd(line)))
        except Exception as error:  # whatever the user's line raises
            log.error(f"{type(error).__name__}: {error}\n")
            return False

    def waitForNode(self, node: Any) -> None:  # noqa: N802  # Mininet's name
        """Print a node's output until its command has ended, or interrupt it."""
        poller = select.poll()
        poller.register(node.stdout, select.POLLIN)
        while node.waiting:
            if poller.poll(LOOK_MS):
                log.output(node.monitor())
            if self.interrupt.exists():
                self.interrupt.unlink()
                node.sendInt()

    def do_sh(self, line: str) -> None:
        """Run a command of the guest's own, at the switches: sh tc qdisc."""
        subprocess.run(
            ["sh", "-c", line],
            stdin=subprocess.DEVNULL,
            stdout=self.stdout.fileno(),
            stderr=subprocess.STDOUT,
            check=False,
        )

    def do_xterm(self, _line: str, _term: str = "") -> None:
        """Say that there are no windows."""
        log.error(NO_WINDOWS)

    do_x = do_gterm = do_xterm

    @property
    def words(self) -> list[str]:
        """The first words of lines: commands, and names of hosts and switches."""
        return sorted({*self.completenames(""), *self.mn})


class Lines:
    """The lines that the host hands over, one for each event that asks for it."""

    def __init__(self, share: FilePath, send_event: SendEvent) -> None:
        self._share = share
        self._send_event = send_event
        self._number = 0

    def next(self) -> str | None:
        """Return the next line; None at their end."""
        self._number += 1
        self._send_event("prompt", number=self._number)
        file = self._share / LINE_FILE.format(number=self._number)
        while not file.exists():
            pass
        line: str | None = json.loads(file.read_text())
        return line


def play(share: FilePath, platform: Platform, send_event: SendEvent) -> None:
    """Run lines of the host on the network of the plan in the shared directory."""
    platform.prepare(share)
    plan = Plan.from_dict(json.loads((share / PLAN_FILE).read_text()))
    system.start_second()
    network = start_network(plan, share, platform)
    if differences := network.differences(network.read_back()):
        send_event("mismatch", differences=differences)
        return
    with (share / OUTPUT_DIR / SHELL_OUTPUT).open("wb", buffering=0) as file:
        terminal = io.TextIOWrapper(file, errors="backslashreplace", write_through=True)
        log.lg.handlers[0].setStream(terminal)
        shell = Shell(network.mininet, terminal, share / INTERRUPT_FILE)
        send_event("shell-ready", words=shell.words)
        lines = Lines(share, send_event)
        while (line := lines.next()) is not None:
            with contextlib.redirect_stdout(terminal):
                ended = shell.run_line(line)
            if ended:
                break
        terminal.flush()
    (share / RAW_DIR).mkdir()
    (share / READBACK_FILE.format(site=0)).write_text("{}")
    send_event("done")
