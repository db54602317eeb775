"""Running the lab's own tools: argument lists, never a shell."""

from __future__ import annotations

import json
import subprocess
from typing import Any


class CommandError(RuntimeError):
    """A tool of the guest failed; the text holds the command and its output."""


def run(*arguments: str, text: str = "") -> str:
    """Run a command on an input, return its output; CommandError if it fails."""
    done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(
            f"'{' '.join(arguments)}' exited with {done.returncode}: "
            f"{(done.stderr or done.stdout).strip()}"
        )
    return done.stdout


def run_json(*arguments: str) -> Any:
    """Run a command that prints JSON and return what it says."""
    return json.loads(run(*arguments) or "[]")
