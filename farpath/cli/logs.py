"""Messages on stderr: warnings, progress of long commands, and with ``-v`` each command."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from farpath.spec.path import Path

LOG = logging.getLogger(__name__)
#: Loggers of all messages, of commands on this machine, and of commands in the guest.
ALL, COMMANDS, GUEST_COMMANDS = "farpath", "farpath.commands", "farpath.commands.guest"
#: Prompts before commands on this machine and in the guest.
PROMPTS = {COMMANDS: "$ ", GUEST_COMMANDS: "guest $ "}


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes each line to the present ``sys.stderr``, which tests and progress bars replace."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


class _PromptFormatter(logging.Formatter):
    """Puts a prompt before a command, and ``<`` before each line of its input."""

    def format(self, record: logging.LogRecord) -> str:
        return PROMPTS.get(record.name, "") + record.getMessage().replace("\n", "\n  < ")


def configure(verbose: bool = False, quiet: bool = False) -> None:
    """Print farpath's messages: none if ``quiet``, commands too if ``verbose``."""
    handler = _StderrHandler()
    handler.setFormatter(_PromptFormatter())
    logger = logging.getLogger(ALL)
    logger.handlers = [handler]
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    logging.getLogger(COMMANDS).setLevel(logging.INFO if verbose else logging.WARNING)


def is_verbose() -> bool:
    """Whether the user asked for all messages (``-v``)."""
    return logging.getLogger(COMMANDS).getEffectiveLevel() <= logging.INFO


def print_paths(paths: Iterable[Path]) -> None:
    """Print the paths that options led to, each with its reason, unless the options named them."""
    from farpath.metrics.run_settings import path_headline
    from farpath.planning.path_options import choice_text

    for line in dict.fromkeys(path_headline(path) for path in paths if choice_text(path)):
        LOG.info(line)


def print_warnings(sentences: Iterable[str]) -> None:
    """Print a warning on stderr for each sentence."""
    for sentence in sentences:
        print(f"warning: {sentence}", file=sys.stderr)
