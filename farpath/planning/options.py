"""Options of a run: what each is, its unit, range, default and example.

``farpath.planning.request.RunRequest`` has one field for each option. The command line, the
Makefile's variables and docs/usage.md come from these descriptions or are tested against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True)
class Option:
    """One option of a run, for people.

    ``help``: a sentence. ``example``: a value that is accepted. ``default``: what holds without
    the option. ``unit``: of a number without a suffix, or that a suffix is needed. ``allowed``:
    the range or the choices. ``see``: where docs/ tells more.
    """

    help: str
    example: str
    default: str
    unit: str = ""
    allowed: str = ""
    see: str = ""
    name: str = ""

    @property
    def flag(self) -> str:
        """The option of ``farpath run``.

        >>> Option("", "", "", name="sender_image").flag
        '--sender-image'
        """
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The variable of ``make experiment``; PATH belongs to the shell."""
        return "PATH_NAME" if self.name == "path" else self.name.upper()


def option(option: Option, value: Any = None) -> Any:
    """A field of a request: its value where the option is left out, and what it is."""
    return field(default=value, metadata={"option": option})


def options_of(request: type) -> tuple[Option, ...]:
    """The options that a request's fields describe, in their order."""
    return tuple(_named(each) for each in fields(request))


def _named(each: Field[Any]) -> Option:
    described: Option = each.metadata["option"]
    return replace(described, name=each.name)


def between(allowed: Sequence[float], unit: str) -> str:
    """A range for people.

    >>> between((0.01, 10_000.0), "ms")
    '0.01 to 10,000 ms'
    """
    low, high = (f"{bound:,.12g}" for bound in allowed)
    return f"{low} to {high} {unit}".rstrip()
