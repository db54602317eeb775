"""Shell: a guest that runs lines of the user's in Mininet's command line.

While the user thinks, the guest's processes are stopped and its clock stands.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import IO, Any

from farpath.base.errors import StoppedError
from farpath.base.files import make_directory, write_text
from farpath.lab import uml
from farpath.lab.artifacts.images import Images, find_images
from farpath.lab.forwarder import Forwarder
from farpath.lab.watchdog import Patience
from farpath.spec.plan import Plan
from farpath.spec.protocol import (
    INTERRUPT_FILE,
    LINE_FILE,
    OUTPUT_DIR,
    SHELL_FILE,
    SHELL_OUTPUT,
)

#: A command may last long in virtual time, and compute long; Ctrl-C ends it.
PATIENCE = Patience(
    real_s=3600.0, cpu_s=3600.0, busy_virtual_s=float("inf"), virtual_s=float("inf")
)


@dataclass
class _Session:
    """Data between the thread of the guest and the thread of the user.

    ``wanted``: a number of a line that the guest asks for; None when the guest has ended.
    ``lines``: the user's, None for the end. ``words``: possible first words of lines. ``status``:
    of the shell when it has ended.
    """

    wanted: queue.SimpleQueue[int | None] = field(default_factory=queue.SimpleQueue)
    lines: queue.SimpleQueue[str | None] = field(default_factory=queue.SimpleQueue)
    words: list[str] = field(default_factory=list)
    places: list[FilePath] = field(default_factory=list)
    forwarders: list[Forwarder] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    status: int = 0
    is_over: bool = False

    def watch(self, event: dict[str, Any]) -> None:
        """Answer an event of the guest: stop it while the user writes the line that it wants."""
        if self.is_over:
            raise StoppedError("the shell was left")
        if event["event"] == "shell-ready":
            self.words.extend(event["words"])
        if event["event"] == "done":
            self.status = event.get("status", 0)
        if event["event"] != "prompt":
            return
        os.killpg(self.pids[0], signal.SIGSTOP)
        try:
            self.forwarders[0].forward()
            self.wanted.put(event["number"])
            line = self.lines.get()
            if self.is_over:
                raise StoppedError("the shell was left")
            # An interruption that came too late for the last command
            (self.places[0] / INTERRUPT_FILE).unlink(missing_ok=True)
            file = self.places[0] / LINE_FILE.format(number=event["number"])
            write_text(file, json.dumps(line))
        finally:
            os.killpg(self.pids[0], signal.SIGCONT)

    def interrupt(self) -> None:
        """Interrupt the command that the guest runs."""
        (self.places[0] / INTERRUPT_FILE).touch()

    def leave(self) -> None:
        """End the guest at its next event, and at once if it waits for a line."""
        self.is_over = True
        self.lines.put(None)


def prepare_mininet(place: FilePath) -> Mapping[FilePath, IO[bytes]]:
    """Let lines run in Mininet's command line."""
    (place / SHELL_FILE).touch()
    return {}


def run_shell(
    plan: Plan,
    out: FilePath,
    stdout: IO[bytes],
    read_line: Callable[[list[str]], str | None],
    images: Images | None = None,
    prepare: Callable[[FilePath], Mapping[FilePath, IO[bytes]]] = prepare_mininet,
) -> int:
    """Run the user's lines in a new guest until their end; return the status of the shell.

    ``prepare``: puts into the shared directory what decides where lines run, and returns streams
    for further output by its files. ``out``: directory of the console's log while the guest runs.
    ``stdout``: stream of all output. ``read_line``: returns the next line, None at the end, from
    the possible first words of a line.
    A KeyboardInterrupt during a command interrupts the command; a second one ends the guest and is
    raised.
    """
    images = images or find_images()
    make_directory(out)
    log = out / f"shell-{os.getpid()}.console.log"
    session = _Session()
    guest = threading.Thread(
        target=_run, args=(session, plan, images, log, stdout, prepare), daemon=True
    )
    guest.start()
    try:
        while _next_wanted(session) is not None:
            session.lines.put(read_line(session.words))
    finally:
        session.leave()
        guest.join()
    for error in session.errors:
        if not isinstance(error, StoppedError):
            raise error
    log.unlink(missing_ok=True)
    return session.status


def _next_wanted(session: _Session) -> int | None:
    """Wait until the guest wants a line; None when it has ended."""
    interrupted = False
    while True:
        try:
            return session.wanted.get()
        except KeyboardInterrupt:
            if interrupted or not session.places:
                _kill(session)
                raise
            interrupted = True
            session.interrupt()


def _kill(session: _Session) -> None:
    session.is_over = True
    for pid in session.pids:
        os.killpg(pid, signal.SIGKILL)


def _run(
    session: _Session,
    plan: Plan,
    images: Images,
    log: FilePath,
    stdout: IO[bytes],
    prepare: Callable[[FilePath], Mapping[FilePath, IO[bytes]]],
) -> None:
    @contextmanager
    def beside(place: FilePath) -> Iterator[None]:
        output = place / OUTPUT_DIR
        output.mkdir()
        with Forwarder({output / SHELL_OUTPUT: stdout, **prepare(place)}) as forwarder:
            session.forwarders.append(forwarder)
            session.places.append(place)
            yield

    try:
        with uml.play(
            plan, images, log, session.watch, PATIENCE, beside, started=session.pids.append
        ):
            pass
    except BaseException as error:
        session.errors.append(error)
    finally:
        session.wanted.put(None)
