"""Attempt: one run in a thread of its own, which can be looked at and stopped meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import FarpathError, StoppedError
from farpath.lab.progress import STAGES, describe
from farpath.lab.run import Finish, Outcome, run
from farpath.spec.plan import Plan

#: How often who waits looks, so that an interruption gets through.
LOOK_S = 0.2


@dataclass(frozen=True)
class Stage:
    """How far a run is: the part of its schedule, 0 to 1, and a sentence."""

    part: float
    note: str


class BackgroundRun:
    """A run that goes on while its caller does something else.

    ``finish``: as :func:`farpath.lab.run.run` takes it. ``told`` gets each :class:`Stage`,
    ``ended`` this attempt once it is over, both in the attempt's thread. Afterwards
    ``outcome`` or ``error`` is there.
    """

    def __init__(
        self,
        plan: Plan,
        out: FilePath,
        told: Callable[[Stage], None],
        ended: Callable[[BackgroundRun], None],
        finish: Finish | None = None,
    ) -> None:
        self.outcome: Outcome | None = None
        self.error: FarpathError | None = None
        self._plan, self._out, self._told, self._ended = plan, out, told, ended
        self._finish = finish
        self._began_s: float | None = None
        self._part = 0.0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="farpath-attempt", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it has begun and is not over."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it at the guest's next sign of life: within a second or two, at boot some more."""
        self._stopped.set()

    def wait(self) -> None:
        """Return once it is over; an interruption of who waits stops it."""
        try:
            while self.running:
                self._thread.join(LOOK_S)
        except KeyboardInterrupt:
            self.stop()
            self._thread.join()

    def _run(self) -> None:
        try:
            self.outcome = run(self._plan, self._out, False, self._watch, finish=self._finish)
        except FarpathError as error:
            self.error = error
        except Exception as error:
            # No thread may end without a word; this one is our own fault.
            self.error = FarpathError(f"BUG: {type(error).__name__}: {error}")
        self._ended(self)

    def _watch(self, event: dict[str, Any]) -> None:
        """Tell one event of the guest; raises StoppedError if that is wished."""
        if self._stopped.is_set():
            raise StoppedError("stopped; nothing half made is left")
        if event["event"] == "progress":
            now_s, t_s = time.monotonic(), float(event["t_s"])
            self._began_s = now_s if self._began_s is None else self._began_s
            duration_s = self._plan.schedule.duration_s
            note = describe(t_s, duration_s, now_s - self._began_s)
            self._part = min(1.0, t_s / duration_s)
            self._told(Stage(self._part, note))
        elif note := STAGES.get(event["event"], "").format(**event):
            self._told(Stage(1.0 if event["event"] == "done" else self._part, note))
