"""Session: makes a run again under gdb, as often as it takes to be where the user wants it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, LabFailedError, MachineLacksError
from farpath.lab import far_link, uml
from farpath.lab.run import Outcome
from farpath.lab.run import run as run_plan
from farpath.lab.watchdog import VirtualClock
from farpath.record.record import Record, load_record
from farpath.runs.again import Repetition, schedule_start_ns, site_titles
from farpath.spec.layout import Layout
from farpath.spec.protocol import FAR_LINK_FILE
from farpath.spec.sites import CLOCK_START_NS
from farpath.uses.debug.hold import MARGINS_S, Hold, far_memory
from farpath.uses.debug.stop import AT, Stop
from farpath.uses.debug.symbols import module_symbols_of, symbols_of
from topologies import lay_out

START_SCRIPT = FilePath(__file__).parent / "inside" / "start.py"
#: Guests are held this long before an event counts, in ns: gdb arms its breakpoints meanwhile.
BEFORE_EVENTS_NS = 1_000_000
NS_PER_S = 1_000_000_000
#: The descriptor of stderr: with JSON nothing else is on stdout.
STDERR = 2


@dataclass(frozen=True)
class Ended:
    """How a session ended.

    ``state``: of the stop, with ``--json``; else empty. ``fingerprint``: of a run that went on to
    its end; empty if it was ended. ``status``: gdb's, not 0 if a script failed.
    """

    state: Mapping[str, Any]
    fingerprint: str
    status: int


@dataclass(frozen=True)
class Terminal:
    """How gdb speaks with the user. ``script``: lines of commands, None at a prompt."""

    gdb: str
    script: Sequence[str] | None = None
    as_json: bool = False

    @property
    def is_prompt(self) -> bool:
        """Whether the user types commands."""
        return self.script is None and not self.as_json

    def command(self, config: FilePath) -> list[str]:
        """Return the command that starts gdb on what a file names; it ends with this process."""
        batch = [] if self.is_prompt else ["-batch"]
        return [
            *("setpriv", "--pdeathsig", "KILL", "--", self.gdb, "-q", "-nx", *batch),
            *("-ex", f"python farpath_config = {str(config)!r}", "-x", str(START_SCRIPT)),
        ]


class Session:
    """A run that is made again until the user has seen enough.

    ``stop``: where it is stopped first. ``tell``: called with lines about progress. ``names_only``:
    without debug information, which takes minutes to make.
    """

    def __init__(
        self,
        repetition: Repetition,
        directory: FilePath,
        stop: Stop,
        terminal: Terminal,
        tell: Callable[[str], None],
        names_only: bool = False,
    ) -> None:
        planned = repetition.planned
        assert planned.images is not None
        self._plan, self._images = planned.plan, planned.images
        self._repetition, self._terminal, self._tell = repetition, terminal, tell
        self._stop, self._script = stop, terminal.script
        self._names_only = names_only
        self._layout: Layout = lay_out(self._plan)
        self._found: Mapping[str, int] | None = None
        self._site_images = [
            self._images.at_site(self._layout, site) for site in range(self._layout.sites)
        ]
        self._symbols = [
            one.linux_elf.resolve() if names_only else symbols_of(one, tell)
            for one in self._site_images
        ]
        self._modules: list[Mapping[str, FilePath]] = [
            {} if names_only else module_symbols_of(one, self._plan.stacks, tell)
            for one in self._site_images
        ]
        self._epoch_ns = schedule_start_ns(directory, repetition)

    def play(self) -> Ended:
        """Make the run, stop it and open gdb, again for each way back; return how it ended.

        Raises BadInputError if the run never comes to the stop, and as ``farpath.lab.run.run``.
        """
        margins = iter(MARGINS_S)
        margin_s = next(margins)
        state: Mapping[str, Any] = {}
        while True:
            self._tell(f"making the run again, to stop it at {self._stop.words}")
            answer, fingerprint, status = self._once(margin_s)
            state = answer.get("state", state)
            match answer["then"]:
                case "passed":
                    margin_s = next(margins, float("inf"))
                    self._tell("this machine is busy, and the run has passed that instant: again")
                case "again":
                    self._stop = Stop(**{**Stop().to_json(), **answer["stop"]})
                    self._found = answer.get("found")
                    self._script = answer["rest"] if self._script is not None else None
                case "over":
                    raise BadInputError(
                        problem=f"the run has ended, and {self._stop.words} has not come",
                        remedy="give another place to stop, or an earlier `at`",
                    )
                case "refused":
                    raise BadInputError(problem=str(answer["problem"]))
                case "not-attached":
                    raise MachineLacksError(
                        f"gdb cannot attach to the lab's guests: {answer['problem']}; the machine "
                        "must allow ptrace(2) (kernel.yama.ptrace_scope=0, or as root)"
                    )
                case _:
                    return Ended(state, fingerprint, status)

    def _once(self, margin_s: float) -> tuple[dict[str, Any], str, int]:
        """Make the run once and stop it; return gdb's answer, a fingerprint and gdb's status."""
        with tempfile.TemporaryDirectory(prefix="farpath-debug-") as temporary:
            place = FilePath(temporary)
            with self._running(place) as (hold, ended):
                goal_ns = self._goal_ns()
                if not hold.stop_at(max(0, round(goal_ns - min(margin_s, 1e9) * NS_PER_S))):
                    ended()
                    return {"then": "over"}, "", 0
                if hold.now_ns() >= goal_ns:
                    return {"then": "passed"}, "", 0
                answer, status = self._debug(place, hold)
                if answer["then"] != "end":
                    return answer, "", status
                hold.go_on()
                return answer, ended().fingerprint, status

    def _goal_ns(self) -> int:
        """Return the instant until which guests go freely, by their clocks."""
        if self._found is not None:
            return self._found["ns"] - BEFORE_EVENTS_NS
        at_ns = self._epoch_ns + round(self._stop.at_s * NS_PER_S)
        return at_ns if self._stop.kind == AT else at_ns - BEFORE_EVENTS_NS

    @contextmanager
    def _running(self, place: FilePath) -> Iterator[tuple[Hold, Callable[[], Record]]]:
        """Make the run in a thread as long as the context lasts; all guests are killed at its end.

        Yields the hold on its guests, and a function that waits for the run and returns its record.
        """
        hold = Hold([VirtualClock(images.linux_elf) for images in self._site_images])
        outcome: list[Outcome | BaseException] = []

        def make() -> None:
            patience = replace(uml.patience_with(self._plan), is_held=lambda: hold.is_held)
            play = partial(uml.play, started=hold.started, patience=patience)
            try:
                outcome.append(
                    run_plan(
                        *(self._plan, place / "record", True, lambda _event: None, self._images),
                        play=play,
                    )
                )
            except BaseException as error:
                outcome.append(error)
            finally:
                hold.end()

        def ended() -> Record:
            thread.join()
            [one] = outcome
            if isinstance(one, BaseException):
                raise one
            return load_record(one.directory, verify=False)

        thread = threading.Thread(target=make, name="run")
        thread.start()
        try:
            yield hold, ended
        finally:
            hold.kill()
            thread.join()

    def _debug(self, place: FilePath, hold: Hold) -> tuple[dict[str, Any], int]:
        """Open gdb on the guests that are held; return its answer and its status."""
        answer, config = place / "answer.json", place / "config.json"
        config.write_text(json.dumps(self._config(hold, answer)))
        status = _run_gdb(self._terminal, config)
        if not answer.is_file():
            raise LabFailedError(f"gdb ended early, with status {status}")
        found: dict[str, Any] = json.loads(answer.read_text())
        return found, status

    def _config(self, hold: Hold, answer: FilePath) -> dict[str, Any]:
        """Return what gdb's side has to know, for JSON."""
        layout = self._layout
        titles = site_titles(layout)
        return {
            "sites": [
                {
                    "site": site,
                    "title": titles[site],
                    "pid": pid,
                    "linux": str(self._site_images[site].linux_elf.resolve()),
                    "symbols": str(self._symbols[site]),
                    "modules": {name: str(file) for name, file in self._modules[site].items()},
                }
                for site, pid in enumerate(hold.pids)
            ],
            "epoch_ns": self._epoch_ns,
            "flows": [
                {
                    "name": flow.name,
                    "port": flow.port,
                    "sender_site": layout.site_of(flow.sender),
                    "receiver_site": layout.site_of(flow.receiver),
                }
                for flow in self._plan.schedule.all_flows
            ],
            "queues": list(layout.queues),
            "far": _far(hold.pids[0]),
            "stop": self._stop.to_json(),
            "found": self._found,
            "script": self._script,
            "names_only": self._names_only,
            "json": self._terminal.as_json,
            "answer": str(answer),
        }


def _far(pid: int) -> dict[str, Any] | None:
    """Return the file and header of the memory of far links; None without one."""
    memory = far_memory(pid, FAR_LINK_FILE)
    if memory is None:
        return None
    with memory.open("rb", 0) as file:
        header = file.read(far_link.HEADER.size)
    _, _, sites, channels, slots, capacity_bytes, window_ns, first_ns, _ = far_link.HEADER.unpack(
        header
    )
    found = {
        "start_bytes": far_link.start_bytes(sites),
        "channels": channels,
        "slots": slots,
        "capacity_bytes": capacity_bytes,
        "window_ns": window_ns,
        "first_window_ns": first_ns,
        "clock_start_ns": CLOCK_START_NS,
    }
    return {"file": str(memory), "header": found}


def _run_gdb(terminal: Terminal, config: FilePath) -> int:
    """Run gdb to its end on the user's terminal; return its status.

    At a prompt Ctrl-C is gdb's. Without one it ends this process, and gdb with it.
    """
    output = STDERR if terminal.as_json else None
    sys.stdout.flush()
    process = subprocess.Popen(
        terminal.command(config),
        stdin=None if terminal.is_prompt else subprocess.DEVNULL,
        stdout=output,
        # What a script's `shell` has started ends with gdb
        start_new_session=not terminal.is_prompt,
    )
    before = signal.getsignal(signal.SIGINT)
    if terminal.is_prompt:
        signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
        if process.poll() is None:
            if terminal.is_prompt:
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
