"""Runs a user's file in a watched child process, and leaves no process behind.

The parent becomes the reaper of all orphans below it, so that a process that the file started and
left is found and ended too, in whichever session it is.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

#: prctl(2): the child is killed when its parent dies; orphans below become the caller's children.
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
#: Most bytes of the file's output that are kept: its end.
KEPT_BYTES = 8192
#: The longest answer: far more than a hundred nodes need.
MOST_ANSWER_BYTES = 16 << 20
_CHUNK_BYTES = 65_536
#: Takes an answer, and does not return.
HandOver = Callable[[Mapping[str, Any]], None]


def watched(work: Callable[[HandOver], None], most_s: float) -> dict[str, Any]:
    """Run ``work`` in a child for at most ``most_s`` real seconds, and end all that it started.

    ``work`` is given a function that takes its answer and ends the child. Returns ``answer`` (None
    if there is none), ``said`` (the end of what was printed), ``status`` (as subprocess has it)
    and ``is_late``.
    """
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    answer_end, answer_start = os.pipe()
    said_end, said_start = os.pipe()
    parent, child = os.getpid(), os.fork()
    if not child:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == parent:
            _work(work, answer_start, said_start)
        os._exit(1)
    os.close(answer_start)
    os.close(said_start)
    kept, is_late = _follow(child, {answer_end: MOST_ANSWER_BYTES, said_end: KEPT_BYTES}, most_s)
    status = _ended(child)
    answer = kept[answer_end].decode(errors="replace")
    return {
        "answer": None if is_late or not answer else json.loads(answer),
        "said": kept[said_end].decode(errors="replace"),
        "status": status,
        "is_late": is_late,
    }


def _work(work: Callable[[HandOver], None], answer_start: int, said_start: int) -> None:
    """Run ``work``; the process ends with its answer, whatever would follow."""
    child = os.getpid()

    def hand_over(answer: Mapping[str, Any]) -> None:
        # A copy of the process that the file made by fork() has no answer to give
        if os.getpid() == child:
            with os.fdopen(answer_start, "w") as file:
                json.dump(answer, file)
        sys.stdout.flush()
        os._exit(0)

    for standard in (1, 2):
        os.dup2(said_start, standard)
    work(hand_over)


def _follow(child: int, most_bytes: dict[int, int], most_s: float) -> tuple[dict[int, bytes], bool]:
    """Read pipes until the child has ended; return their last bytes, and whether it was late."""
    kept = dict.fromkeys(most_bytes, b"")
    ends_s = time.monotonic() + most_s
    ended = os.pidfd_open(child)
    poll = select.poll()
    for file in (ended, *most_bytes):
        poll.register(file, select.POLLIN)
    while True:
        ready = [file for file, _ in poll.poll(max(0, round(1e3 * (ends_s - time.monotonic()))))]
        for file in ready:
            if file != ended:
                chunk = os.read(file, _CHUNK_BYTES)
                kept[file] = (kept[file] + chunk)[-most_bytes[file] :]
                if not chunk:
                    poll.unregister(file)
        if ready == [ended] or not ready or time.monotonic() > ends_s:
            return kept, ended not in ready


def _ended(child: int) -> int:
    """End the child and all below it; return the status with which it ended."""
    status = 0
    while pids := _children(os.getpid()):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with suppress(ChildProcessError):
                _, raw = os.waitpid(pid, 0)
                status = os.waitstatus_to_exitcode(raw) if pid == child else status
    return status


def _children(parent: int) -> list[int]:
    """The processes whose parent this is, ended or not (proc_pid_stat(5))."""
    found = []
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit():
                with open(f"/proc/{name}/stat") as file:
                    # A name may hold blanks and brackets
                    if int(file.read().rpartition(")")[2].split()[1]) == parent:
                        found.append(int(name))
    return found
