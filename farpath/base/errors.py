"""Errors of farpath's commands, each with its exit status.

A message is one line with four parts: what was given, what is wrong, what is allowed, and
what to do next. ``detail`` holds the lines printed below it, as the end of a console log.
"""

from __future__ import annotations

import re
from collections.abc import Callable

#: Longest quoted text, longest word and longest message, in characters.
QUOTED_LETTERS = 120
WORD_LETTERS = 300
MESSAGE_LETTERS = 4_000
_QUOTED = re.compile(rf"(?<!\w)'([^']{{{QUOTED_LETTERS + 1},}})'(?!\w)")
_WORD = re.compile(rf"\S{{{WORD_LETTERS + 1},}}")
#: An option in a text, with a value or without, unless it stands in a quotation.
_OPTION = re.compile(
    r"(?P<quoted>(?<!\w)'[^']*'(?!\w))|`(?P<name>[a-z][a-z0-9_]*)(?:=(?P<value>[^`]*))?`"
)
_PLAIN = re.compile(r"-?[0-9.]+|True|False")
#: What makes a text of an option's name as a field and of its value.
Spelling = Callable[[str, str | None], str]


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


def as_field(name: str, value: str | None) -> str:
    """Spell an option of an error as a field: in Python and in files of TOML.

    >>> as_field("rtt", "50ms"), as_field("parallel", "4"), as_field("rtt", None)
    ('rtt="50ms"', 'parallel=4', 'rtt')
    """
    if value is None:
        return name
    return f"{name}={value}" if _PLAIN.fullmatch(value) else f'{name}="{value}"'


class FarpathError(Exception):
    """A failure with a known cause; it is printed without a traceback.

    ``text``: the message, in which options stand between backticks as fields, as in
    ```rtt``` or ```rtt=50ms```: each front end spells them in its own way. ``message``: the
    text with options as arguments of Python.
    """

    exit_status = 1

    def __init__(self, message: str, detail: str = "") -> None:
        self.text = shortened(message)
        self.message = self.spelled(as_field)
        super().__init__(self.message)
        self.detail = detail

    def spelled(self, spell: Spelling) -> str:
        """Return the message with its options as ``spell`` has them; quoted text stays."""
        return _OPTION.sub(
            lambda match: match["quoted"] or spell(match["name"], match["value"]), self.text
        )

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows instead of a traceback (IPython's hook)."""
        return [f"farpath: {self.message}", *(f"  | {line}" for line in self.detail.splitlines())]


class BadInputError(FarpathError):
    """A value that the user gave is wrong or not supported.

    ``option``: the option as a field (``rtt``); empty if the error is about none. ``given``: its
    value as it was given. ``problem``: what is wrong with it. ``remedy``: what is allowed, or what
    to do next. ``file``: that in which the option stands as a key. Of these the message is made:

    >>> BadInputError(option="rtt", given="5x", problem="no time", remedy="give `rtt=50ms`").text
    "`rtt` is '5x': no time; give `rtt=50ms`"
    """

    exit_status = 2

    def __init__(
        self,
        message: str = "",
        detail: str = "",
        *,
        option: str = "",
        given: object = None,
        problem: str = "",
        remedy: str = "",
        file: str = "",
    ) -> None:
        self.option, self.given, self.problem, self.remedy = option, given, problem, remedy
        self.file = file
        subject = f"`{option}`" if option else ""
        if given is not None:
            subject += f" is '{given}'" if isinstance(given, str) else f" is {given}"
        said = ("; " if option else ": ").join(filter(None, (problem, remedy)))
        super().__init__(message or ": ".join(filter(None, (file, subject, said))), detail)

    def spelled(self, spell: Spelling) -> str:
        """Return the message with its options as ``spell`` has them, or as keys of its file."""
        return super().spelled(as_field if self.file else spell)

    def in_file(self, file: str) -> BadInputError:
        """Return this error as one of a file, of which its options are keys."""
        return BadInputError(
            detail=self.detail,
            option=self.option,
            given=self.given,
            problem=self.problem,
            remedy=self.remedy,
            file=f"{file}: {self.file}" if self.file else file,
        )


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
