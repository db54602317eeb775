"""Commands: runs tools from argument lists, without a shell, and logs them."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
from collections.abc import Container, Sequence
from typing import Any

#: Receives every command of the lab, on host and guest, as a shell would take it.
LOG = logging.getLogger("farpath.commands")


class CommandError(RuntimeError):
    """A command failed; the text holds the command and its output."""


def note(arguments: Sequence[str], text: str = "") -> None:
    """Log a command that is about to run, and its standard input, line by line."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("%s", "\n".join([shlex.join(arguments), *text.splitlines()]))


def run(*arguments: str, text: str = "", allowed: Container[int] = (0,)) -> str:
    """Run a command with ``text`` on its standard input and return its standard output.

    Raises CommandError if it exits with another status than the allowed ones.
    """
    note(arguments, text)
    result = subprocess.run(arguments, input=text, capture_output=True, text=True, check=False)
    if result.returncode not in allowed:
        raise CommandError(
            f"'{' '.join(arguments)}' exited with {result.returncode}: "
            f"{(result.stderr or result.stdout).strip()}"
        )
    return result.stdout


def run_json(*arguments: str) -> Any:
    """Run a command that prints JSON and return the parsed value; an empty list for no output."""
    return json.loads(run(*arguments) or "[]")
