"""The ways a command can end badly, each with its exit status.

A message says what was wrong, what was got, what is allowed and what to do
next, on one line. ``detail`` holds what belongs below it: a console's tail.
"""

import re

#: A message quotes at most so much of one text, holds no longer word, and is no longer.
QUOTED_LETTERS = 120
WORD_LETTERS = 300
MESSAGE_LETTERS = 4_000
_QUOTED = re.compile(rf"(?<!\w)'([^']{{{QUOTED_LETTERS + 1},}})'(?!\w)")
_WORD = re.compile(rf"\S{{{WORD_LETTERS + 1},}}")


def shortened(message: str) -> str:
    """A message with long texts that it repeats cut in their middle.

    >>> len(shortened(f"STACK is '{'a' * 5000}': that is no stack"))
    149
    """
    cut = _QUOTED.sub(lambda found: f"'{_cut(found[1], QUOTED_LETTERS)}'", message)
    cut = _WORD.sub(lambda found: _cut(found[0], WORD_LETTERS), cut)
    return _cut(cut, MESSAGE_LETTERS)


def _cut(text: str, letters: int) -> str:
    """A text of at most so many letters: its beginning and its end."""
    if len(text) <= letters:
        return text
    begin = (letters - 3) * 2 // 3
    return f"{text[:begin]}...{text[begin + 3 - letters :]}"


class FarpathError(Exception):
    """A failure that farpath understands; printed without a traceback."""

    exit_status = 1

    def __init__(self, message: str, detail: str = "") -> None:
        self.message = shortened(message)
        super().__init__(self.message)
        self.detail = detail

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: the same as the command line."""
        return [f"farpath: {self.message}", *(f"  | {line}" for line in self.detail.splitlines())]


class BadInputError(FarpathError):
    """The user asked for something that is not offered."""

    exit_status = 2


class MachineLacksError(FarpathError):
    """This machine lacks something; the message names it and the remedy."""

    exit_status = 3


class LabFailedError(FarpathError):
    """The lab did not come to its end; ``detail`` is its console's tail."""

    exit_status = 4


class CheckFailedError(FarpathError):
    """A read-back or a result differs from what was asked for."""

    exit_status = 5


class StoppedError(FarpathError):
    """The run was stopped by who began it; nothing half made is left."""
