"""Logs on stderr: what long commands do, and with ``-v`` every command that they run."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

#: Below these are all of farpath's loggers, and those of the commands that it runs.
ALL, COMMANDS, GUEST_COMMANDS = "farpath", "farpath.commands", "farpath.commands.guest"
#: What stands before a command: the machine's, and the guest's.
PROMPTS = {COMMANDS: "$ ", GUEST_COMMANDS: "guest $ "}


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to what ``sys.stderr`` is when a line is written."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class _Prompts(logging.Formatter):
    """A line as it is; a command behind a prompt, its input behind it."""

    def format(self, record: logging.LogRecord) -> str:
        return PROMPTS.get(record.name, "") + record.getMessage().replace("\n", "\n  < ")


def configure(verbose: bool = False, quiet: bool = False) -> None:
    """Print farpath's messages: none if ``quiet``, commands too if ``verbose``."""
    handler = _StderrHandler()
    handler.setFormatter(_Prompts())
    logger = logging.getLogger(ALL)
    logger.handlers = [handler]
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    logging.getLogger(COMMANDS).setLevel(logging.INFO if verbose else logging.WARNING)
