"""Progress of a run on stderr: virtual time, and real time left."""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

#: Without a terminal, a line when traffic has begun, then at most one per so much of the
#: schedule, and in so many s.
PLAIN_STEPS = 10
PLAIN_EVERY_S = 10.0
STAGES = {
    "restored": "left by a killed run: {what}",
    "network-ready": "network built",
    "hosts-ready": "end hosts started",
    "idle-pings": "idle path verified",
    "waiting": "waiting for the next event, {silence_s:.2f} virtual s after the last",
    "done": "reading the record",
}


def describe(t_s: float, duration_s: float, wall_s: float, kind: str = "virtual s") -> str:
    """Where the run is, and how long the rest takes at the pace of what there was.

    ``wall_s``: since its traffic began. How fast the run was is said once, at its end.
    """
    if t_s <= 0 or wall_s <= 0:
        return f"0 of {duration_s:.0f} s"
    left_s = (duration_s - t_s) * wall_s / t_s
    return f"{t_s:.0f} of {duration_s:.0f} {kind}, {left_s:.0f} s left"


class RunProgress:
    """Takes a lab's events and shows them: a bar on a terminal, else some lines."""

    def __init__(self, label: str, duration_s: float, kind: str = "virtual s") -> None:
        self._label = label
        self._kind = kind
        self._duration_s = duration_s
        self._started: float | None = None
        self._next_line_s = 0.0
        self._last_line = -math.inf
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(label, total=duration_s, note="booting")
        self._plain = not console.is_terminal

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def watch(self, event: dict[str, Any]) -> None:
        """Show one event of the guest."""
        if event["event"] != "progress":
            self._note(STAGES.get(event["event"], "").format(**event))
            return
        now = time.monotonic()
        self._started = now if self._started is None else self._started
        t_s = float(event["t_s"])
        note = describe(t_s, self._duration_s, now - self._started, self._kind)
        self._bar.update(self._task, completed=t_s, note=note)
        if (
            self._plain
            and t_s > 0
            and t_s >= self._next_line_s
            and now - self._last_line >= PLAIN_EVERY_S
        ):
            self._next_line_s = t_s + self._duration_s / PLAIN_STEPS
            self._last_line = now
            print(f"{self._label}: {note}", file=sys.stderr, flush=True)

    def _note(self, text: str) -> None:
        if text:
            self._bar.update(self._task, note=text)
            if self._plain:
                print(f"{self._label}: {text}", file=sys.stderr, flush=True)
