"""Progress of several runs on stderr: how many are made, and how long the others will take."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Any

from farpath.lab.pool import PoolProgress
from farpath.lab.progress import time_left_text
from farpath.runs.make import FailedRun, RunEvent

#: Real seconds between two lines of progress where there is no terminal.
PROGRESS_INTERVAL_S = 10.0
MADE = "runs made"


def progress_text(progress: PoolProgress, label: str = MADE, before: int = 0) -> str:
    """Say how many runs are made, running, failed and left, and how long the others will take.

    ``label``: word for the runs. ``before``: number of runs made earlier.

    >>> progress_text(PoolProgress(done=1, failed=1, running=2, waiting=3, left_s=60), before=2)
    '3 of 9 runs made, 2 running, 1 failed, 3 left; about 1 min to go'
    """
    total = before + progress.ended + progress.running + progress.waiting
    failed = f", {progress.failed} failed" if progress.failed else ""
    to_come = progress.running or progress.waiting
    left = "" if progress.left_s is None or not to_come else f"; {time_left_text(progress.left_s)}"
    return (
        f"{progress.done + before} of {total} {label}, {progress.running} running{failed}, "
        f"{progress.waiting} left{left}"
    )


def progress_printer(
    command: str, label: str = MADE, before: int = 0
) -> Callable[[RunEvent[Any]], None]:
    """Return a watcher of ``make_runs``: it renews a line on a terminal, else prints some.

    ``command``: begins each line. Failures are printed when they occur. Other arguments are those
    of ``progress_text``. Nothing is printed where farpath's messages are switched off.
    """
    terminal = sys.stderr.isatty()
    is_quiet = logging.getLogger("farpath").level > logging.INFO
    last_s = time.monotonic()

    def print_progress(event: RunEvent[Any]) -> None:
        nonlocal last_s
        if event.result is None or is_quiet:
            return
        if isinstance(event.result, FailedRun):
            message = event.result.error.message
            print(f"{command}: {event.run.name} failed: {message}", file=sys.stderr)
        is_over = not (event.progress.running or event.progress.waiting)
        now_s = time.monotonic()
        if not terminal and now_s - last_s < PROGRESS_INTERVAL_S and not is_over:
            return
        last_s = now_s
        text = f"{command}: {progress_text(event.progress, label, before)}"
        end = "" if terminal and not is_over else "\n"
        print(f"\r{text}\033[K" if terminal else text, end=end, file=sys.stderr, flush=True)

    return print_progress
