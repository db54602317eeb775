"""Descriptions of a run's options: help, unit, range, default and example.

``farpath.planning.request.RunRequest`` has one field for each option. The command line, the
Makefile's variables and docs/reference/usage.md come from these descriptions or are tested
against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any

#: Groups of options, as a command's help shows them.
PATH, TRAFFIC, HOSTS, LAB = "Path", "Traffic", "Hosts", "Lab and record"


@dataclass(frozen=True)
class Option:
    """Description of one option of a run.

    ``help``: sentences, of which the first says what it is; other options stand between backticks
    as fields. ``placeholder``: a word for its value (``TIME``). ``common``: whether the first help
    of a command shows it; all others are for ``--help-all``. ``example``: an accepted value.
    ``default``: the value without the option. ``unit``: unit of a number without a suffix, or a
    remark that a suffix is needed.
    ``allowed``: range or choices, or a function that returns them where files have to be read.
    ``see``: page and section of docs/ with details. ``group``: where a command's help shows it.
    ``words``: values that completion in a shell offers. ``after``: the option behind which it
    stands in lists; by default its place among the fields of the request.
    """

    help: str
    example: str
    default: str
    unit: str = ""
    allowed: str | Callable[[], str] = ""
    see: str = ""
    group: str = LAB
    words: Callable[[], Iterable[str]] = tuple
    after: str = ""
    name: str = ""
    placeholder: str = field(kw_only=True)
    common: bool = field(default=False, kw_only=True)

    @property
    def allowed_text(self) -> str:
        """Range or choices, in words."""
        return self.allowed if isinstance(self.allowed, str) else self.allowed()

    @property
    def flag(self) -> str:
        """Name on the command line of ``farpath run``.

        >>> Option("", "", "", name="sender_image", placeholder="IMAGE").flag
        '--sender-image'
        """
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """Name of the variable of ``make experiment``; ``PATH`` would change the shell's own."""
        return "PATH_NAME" if self.name == "path" else self.name.upper()


def option(option: Option, value: Any = None) -> Any:
    """Make a field of a request: ``value`` is its default, ``option`` its description."""
    return field(default=value, metadata={"option": option})


def options_of(request: type) -> tuple[Option, ...]:
    """Return the options that a request's fields describe, in the order of the fields.

    Those that stand behind another one follow it.
    """
    options = [_option_of(request_field) for request_field in fields(request)]
    ordered = [option for option in options if not option.after]
    for option in options:
        if option.after:
            names = [one.name for one in ordered]
            place = names.index(option.after) + 1 if option.after in names else len(names)
            ordered.insert(place, option)
    return tuple(ordered)


def _option_of(request_field: Field[Any]) -> Option:
    option: Option = request_field.metadata["option"]
    return replace(option, name=request_field.name)


def range_text(bounds: Sequence[float], unit: str) -> str:
    """Format a range, both ends included.

    >>> range_text((0.01, 10_000.0), "ms")
    '0.01 to 10,000 ms'
    """
    low, high = (f"{bound:,.12g}" for bound in bounds)
    return f"{low} to {high} {unit}".rstrip()
