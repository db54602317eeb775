"""Errors of farpath's commands, each with its exit status.

A message is one line with four parts: what was given, what is wrong, what is allowed, and
what to do next. ``detail`` holds the lines printed below it, as the end of a console log.
"""

import re

#: Longest quoted text, longest word and longest message, in characters.
QUOTED_LETTERS = 120
WORD_LETTERS = 300
MESSAGE_LETTERS = 4_000
_QUOTED = re.compile(rf"(?<!\w)'([^']{{{QUOTED_LETTERS + 1},}})'(?!\w)")
_WORD = re.compile(rf"\S{{{WORD_LETTERS + 1},}}")


def on_one_line(text: str) -> str:
    """A text that may repeat what was given, its line ends and control characters escaped."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def shortened(message: str) -> str:
    """Return a message with the middle of its long quoted texts and words cut out.

    >>> len(shortened(f"STACK is '{'a' * 5000}': that is no stack"))
    149
    """
    cut = _QUOTED.sub(lambda match: f"'{_cut(match[1], QUOTED_LETTERS)}'", message)
    cut = _WORD.sub(lambda match: _cut(match[0], WORD_LETTERS), cut)
    return _cut(cut, MESSAGE_LETTERS)


def _cut(text: str, letters: int) -> str:
    """Cut a text to at most ``letters`` characters: its beginning, an ellipsis and its end."""
    if len(text) <= letters:
        return text
    begin = (letters - 3) * 2 // 3
    return f"{text[:begin]}...{text[begin + 3 - letters :]}"


class FarpathError(Exception):
    """A failure with a known cause; it is printed without a traceback."""

    exit_status = 1

    def __init__(self, message: str, detail: str = "") -> None:
        self.message = shortened(message)
        super().__init__(self.message)
        self.detail = detail

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows instead of a traceback (IPython's hook)."""
        return [f"farpath: {self.message}", *(f"  | {line}" for line in self.detail.splitlines())]


class BadInputError(FarpathError):
    """A value that the user gave is wrong or not supported."""

    exit_status = 2


class MachineLacksError(FarpathError):
    """This machine lacks a resource, tool or right; the message names it and the remedy."""

    exit_status = 3


class LabFailedError(FarpathError):
    """The lab failed before the run was complete; ``detail`` holds its last console lines."""

    exit_status = 4


class CheckFailedError(FarpathError):
    """A read-back or a result differs from the plan."""

    exit_status = 5


class StoppedError(FarpathError):
    """The run was stopped on request; no partial record is left."""
