"""Commands: running the lab's own tools by argument lists, never a shell, and a log of them."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
from collections.abc import Sequence
from typing import Any

#: Receives every command of the lab, on host and guest, as a shell would take it.
LOG = logging.getLogger("farpath.commands")


class CommandError(RuntimeError):
    """A tool of the guest failed; the text holds the command and its output."""


def note(arguments: Sequence[str], text: str = "") -> None:
    """Log a command that is about to run, and its standard input, line by line."""
    if LOG.isEnabledFor(logging.INFO):
        LOG.info("%s", "\n".join([shlex.join(arguments), *text.splitlines()]))


def run(*arguments: str, text: str = "") -> str:
    """Run a command on an input, return its output; CommandError if it fails."""
    note(arguments, text)
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
