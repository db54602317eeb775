"""What images/container says on stderr, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

IMAGES = Path(__file__).resolve().parent.parent
PROJECT = IMAGES.parent
#: At the end of a message of another program, no more of it than this.
LONGEST_QUOTE = 160


class Refused(Exception):
    """Ends the command: status 2 for bad input, 3 for a machine that lacks something."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def say(sentence: str) -> None:
    """Write a line of progress to stderr."""
    print(f"container: {sentence}", file=sys.stderr, flush=True)


def variable(name: str) -> str:
    """A variable of the environment; one that is absent is as good as an empty one."""
    return os.environ.get(name, "")


def answer_of(*command: str, seconds: float | None = None) -> tuple[int, str]:
    """Exit status of a command, and all that it prints; TimeoutExpired after some seconds."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=seconds,
    )
    return done.returncode, done.stdout


def output_of(*command: str | Path) -> str:
    """What a command prints on stdout, without the last line's end; nothing if it fails."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout.rstrip("\n") if done.returncode == 0 else ""


def status_of(command: Sequence[str | Path], **options: Any) -> int:
    """The exit status of a command; an interrupt reaches it too, and its end is awaited."""
    with subprocess.Popen(command, **options) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def do(*command: str | Path, **options: Any) -> None:
    """Run a command, which says itself what is wrong; its failure is the end."""
    if status := status_of(command, **options):
        raise SystemExit(status)


def become(command: list[str]) -> NoReturn:
    """Go on as another program, with its signals, terminal and exit status."""
    sys.stderr.flush()
    os.execvp(command[0], command)


def last_line(text: str) -> str:
    """What a program said last, short enough to be quoted."""
    return text.strip().rpartition("\n")[2][:LONGEST_QUOTE]
