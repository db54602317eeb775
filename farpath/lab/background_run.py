"""Background run: one run in its own thread, which can be watched and stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import FarpathError, StoppedError
from farpath.lab.progress import Stage, StageReader
from farpath.lab.run import Finish, Outcome, run
from farpath.spec.plan import Plan

#: Real seconds between two checks while waiting, so that an interruption is noticed.
LOOK_S = 0.2


class BackgroundRun:
    """A run in a thread, so that the caller can continue.

    ``on_stage`` is called with each ``Stage``, and ``on_end`` with this object at the end, both
    in the run's thread. ``finish``, ``request``: as for ``farpath.lab.run.run``. Afterwards
    ``outcome`` or ``error`` is set.
    """

    def __init__(
        self,
        plan: Plan,
        out: FilePath,
        on_stage: Callable[[Stage], None],
        on_end: Callable[[BackgroundRun], None],
        finish: Finish | None = None,
        request: Mapping[str, str] | None = None,
    ) -> None:
        self.outcome: Outcome | None = None
        self.error: FarpathError | None = None
        self._plan, self._out, self._on_stage, self._on_end = plan, out, on_stage, on_end
        self._finish, self._request = finish, request
        self._reader = StageReader(plan.schedule.duration_s)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="farpath-attempt", daemon=True)

    def start(self) -> None:
        """Start the run and return at once."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the run has started and not ended."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop the run at the guest's next event, usually in a second or two, longer at boot."""
        self._stopped.set()

    def wait(self) -> None:
        """Wait for the run to end; an interruption (KeyboardInterrupt) stops it."""
        try:
            while self.running:
                self._thread.join(LOOK_S)
        except KeyboardInterrupt:
            self.stop()
            self._thread.join()

    def _run(self) -> None:
        try:
            self.outcome = run(
                *(self._plan, self._out, False, self._watch),
                finish=self._finish,
                request=self._request,
            )
        except FarpathError as error:
            self.error = error
        except Exception as error:
            # A thread must not end without a message; this error is a bug of farpath.
            self.error = FarpathError(f"BUG: {type(error).__name__}: {error}")
        self._on_end(self)

    def _watch(self, event: dict[str, Any]) -> None:
        """Report one event of the guest; raises StoppedError if ``stop`` was called."""
        if self._stopped.is_set():
            raise StoppedError("stopped; no partial record is left")
        if stage := self._reader.stage(event):
            self._on_stage(stage)
