"""Progress of a pool's jobs on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from farpath.lab.pool import JobEvent, PoolProgress
from farpath.lab.progress import time_left_text

#: Real seconds between two lines of progress where there is no terminal.
PROGRESS_INTERVAL_S = 10.0


def progress_text(progress: PoolProgress, total: int, label: str = "runs") -> str:
    """Say how many jobs are over, and how long the others will take."""
    left = "" if progress.left_s is None else f", {time_left_text(progress.left_s)}"
    return f"{progress.ended} of {total} {label}{left}"


def progress_printer(
    command: str, names: Sequence[str], label: str = "runs"
) -> Callable[[JobEvent[Any]], None]:
    """Return a watcher of a pool: a line that is renewed on a terminal, else one every ten seconds.

    ``command``: begins each line. ``names``: of the jobs, to name failed ones. ``label``: the jobs'
    kind, for people.
    """
    terminal = sys.stderr.isatty()
    last_s = time.monotonic()

    def print_progress(event: JobEvent[Any]) -> None:
        nonlocal last_s
        if event.result is None:
            return
        if event.result.error is not None:
            name = names[event.index]
            print(f"{command}: {name} failed: {event.result.error.message}", file=sys.stderr)
        done, now_s = event.progress.ended, time.monotonic()
        if not terminal and now_s - last_s < PROGRESS_INTERVAL_S and done < len(names):
            return
        last_s = now_s
        text = f"{command}: {progress_text(event.progress, len(names), label)}"
        end = "" if terminal and done < len(names) else "\n"
        print(f"\r{text}\033[K" if terminal else text, end=end, file=sys.stderr, flush=True)

    return print_progress
