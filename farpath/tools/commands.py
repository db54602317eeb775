"""Commands: runs a tool from an argument list, without a shell."""

from __future__ import annotations

import json
import subprocess
from typing import Any


class CommandError(RuntimeError):
    """A command failed; the text holds the command and its output."""


def run(*arguments: str, text: str = "") -> str:
    """Run a command with ``text`` on its standard input and return its standard output.

    Raises CommandError if it exits with another status than 0.
    """
    result = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False)
    if result.returncode:
        raise CommandError(
            f"'{' '.join(arguments)}' exited with {result.returncode}: "
            f"{(result.stderr or result.stdout).strip()}"
        )
    return result.stdout


def run_json(*arguments: str) -> Any:
    """Run a command that prints JSON and return the parsed value; an empty list for no output."""
    return json.loads(run(*arguments) or "[]")
