"""Progress of a run, shown on stderr: virtual time, and estimated real time left."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

#: Limits of progress lines without a terminal: at most one per this fraction of the schedule
#: (1 / PLAIN_STEPS), and at most one in so many real seconds.
PLAIN_STEPS = 10
PLAIN_EVERY_S = 10.0
#: The event of a run that has no core for each of its sites, since other runs are under way.
SHARED = "shared-cores"
STAGES = {
    SHARED: "other runs are under way, so this one is slower: it has {what}",
    "restored": "left by a killed run: {what}",
    "network-ready": "network built",
    "hosts-ready": "end hosts started",
    "idle-pings": "idle path verified",
    "traceroute": "hops verified",
    "waiting": "waiting for the next event, {silence_s:.2f} virtual s after the last",
    "done": "reading the record",
}


def time_left_s(done: float, total: float, elapsed_s: float) -> float:
    """Estimate the real time of the rest at the pace so far; the finished part is not 0."""
    return (total - done) * elapsed_s / done


def pool_time_left_s(
    ended: Sequence[tuple[float, float]],
    running: Sequence[tuple[float, float]],
    waiting: Sequence[float],
    cores: int,
) -> float:
    """Estimate the real time until all jobs, each on a core, are over, if none fails.

    ``ended``: expected and actual seconds of jobs; their ratio scales the expectations of the
    others. ``running``: expected seconds, seconds so far. ``waiting``: expected seconds.

    >>> pool_time_left_s(ended=[(5, 10)], running=[(10, 10)], waiting=[5], cores=2)
    10.0
    """
    expected_s = sum(expected for expected, _ in ended)
    scale = sum(took for _, took in ended) / expected_s if expected_s else 1.0
    rest_s = [max(0.0, scale * cost - so_far) for cost, so_far in running]
    rest_s += [scale * cost for cost in waiting]
    return max([sum(rest_s) / cores, *rest_s])


def time_left_text(seconds: float) -> str:
    """Format the time that is left, for people.

    >>> time_left_text(7500), time_left_text(95), time_left_text(20)
    ('about 2 h 5 min to go', 'about 2 min to go', 'about 20 s to go')
    """
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"about {seconds:.0f} s to go"
    if minutes < 60:
        return f"about {minutes} min to go"
    return f"about {minutes // 60} h {minutes % 60} min to go"


def describe(t_s: float, duration_s: float, wall_s: float, unit: str = "virtual s") -> str:
    """Describe how far a run is, and estimate the real time left at its present pace.

    ``t_s`` of ``duration_s``: time in the schedule. ``wall_s``: real time since its traffic
    started. ``unit``: name of the schedule's unit of time.
    """
    if t_s <= 0 or wall_s <= 0:
        return f"0 of {duration_s:.0f} s"
    left = time_left_text(time_left_s(t_s, duration_s, wall_s))
    return f"{t_s:.0f} of {duration_s:.0f} {unit}, {left}"


@dataclass(frozen=True)
class Stage:
    """Progress of a run: the finished fraction of its schedule, 0 to 1, and a sentence."""

    part: float
    note: str


class StageReader:
    """Turns a lab's events into stages of a run; ``duration_s`` and ``unit`` are its schedule's."""

    def __init__(self, duration_s: float, unit: str = "virtual s") -> None:
        self._duration_s, self._unit = duration_s, unit
        self._began_s: float | None = None
        self._part = 0.0

    def stage(self, event: dict[str, Any]) -> Stage | None:
        """Return the stage that an event of the guest begins; None if it is not shown."""
        if event["event"] == "progress":
            now_s, t_s = time.monotonic(), float(event["t_s"])
            self._began_s = now_s if self._began_s is None else self._began_s
            self._part = min(1.0, t_s / self._duration_s)
            note = describe(t_s, self._duration_s, now_s - self._began_s, self._unit)
            return Stage(self._part, note)
        if note := STAGES.get(event["event"], "").format(**event):
            return Stage(1.0 if event["event"] == "done" else self._part, note)
        return None


class RunProgress:
    """Shows a lab's events: as a progress bar on a terminal, else as some lines."""

    def __init__(self, label: str, duration_s: float, unit: str = "virtual s") -> None:
        self._label = label
        self._reader = StageReader(duration_s, unit)
        self._next_part = 0.0
        self._last_line_s = -math.inf
        self._last_note = ""
        #: Whether other runs had cores that this one could have used.
        self.is_shared = False
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
        self._task = self._bar.add_task(label, total=1.0, note="booting")
        self._plain = not console.is_terminal

    def __enter__(self) -> RunProgress:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._bar.stop()

    def watch(self, event: dict[str, Any]) -> None:
        """Show one event of the guest; a stage that several hosts reach is shown once."""
        self.is_shared |= event["event"] == SHARED
        stage = self._reader.stage(event)
        if stage is None or stage.note == self._last_note:
            return
        if event["event"] == "progress":
            self._bar.update(self._task, completed=stage.part, note=stage.note)
            now_s = time.monotonic()
            is_due = now_s - self._last_line_s >= PLAIN_EVERY_S and stage.part >= self._next_part
            if stage.part == 0 or not is_due:
                return
            self._next_part, self._last_line_s = stage.part + 1 / PLAIN_STEPS, now_s
        else:
            self._last_note = stage.note
            self._bar.update(self._task, note=stage.note)
        if self._plain:
            print(f"{self._label}: {stage.note}", file=sys.stderr, flush=True)
