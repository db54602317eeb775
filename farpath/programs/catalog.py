"""Catalogue of all programs' stacks, and the parser of texts that name a stack.

A text is ``name`` or ``name:parameter=value,parameter=value``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from farpath.base.errors import BadInputError
from farpath.base.words import parse_words
from farpath.programs.entry import CatalogEntry, checked_parameters, label_of
from farpath.programs.program import Program
from farpath.programs.registry import program_of, programs
from farpath.spec.era import MODERN
from farpath.spec.path import Path
from farpath.spec.stack import Stack


def catalogue() -> Mapping[str, CatalogEntry]:
    """Return all stacks by name, in the order of programs and of their ``stacks.toml``."""
    return _catalogue(tuple(programs().values()))


@cache
def _catalogue(of: tuple[Program, ...]) -> Mapping[str, CatalogEntry]:
    return {name: entry for program in of for name, entry in program.stacks.items()}


def split_text(text: str) -> tuple[str, dict[str, str]]:
    """Split the text of a stack into its name and its parameters.

    Raises BadInputError for a parameter without a value, or one that occurs twice.

    >>> split_text("fast:alpha=200,period_ms=20")
    ('fast', {'alpha': '200', 'period_ms': '20'})
    """
    name, colon, rest = text.partition(":")
    if not colon:
        return name, {}
    return name, parse_words(rest, "stack", text, "fast:alpha=200,gamma=50")[0]


def entry_by_name(name: str) -> CatalogEntry:
    """Return the stack with a name or an alias, whatever its case.

    Raises BadInputError with all names if there is none.
    """
    entries = catalogue()
    if name in entries:
        return entries[name]
    aliases = {alias: entry for entry in entries.values() for alias in entry.aliases}
    if name in aliases:
        return aliases[name]
    casefolded = {key.casefold(): entry for key, entry in {**aliases, **entries}.items()}
    if name.casefold() in casefolded:
        return casefolded[name.casefold()]
    if "," in name:
        joined = "+".join(part.strip() for part in name.split(",") if part.strip())
        raise BadInputError(
            option="stack",
            given=name,
            remedy=f"join the stacks of several flows by a plus: write {joined}",
        )
    close = difflib.get_close_matches(name.lower(), [*entries, *aliases], n=1, cutoff=0.5)
    hint = f" (did you mean {close[0]}?)" if close else ""
    raise BadInputError(
        option="stack",
        given=name,
        problem=f"there is no such stack{hint}",
        remedy=(
            f"it must be one of the {len(entries)} that 'farpath stacks' lists, "
            "such as reno, cubic or bbr, a kernel module's source like "
            "./tcp_mine.c, a congestion control for UDT like ./mine.cpp, or an "
            "image like oci:./mine"
        ),
    )


def resolve_stack(text: str, era: str | None = None) -> Stack:
    """Return the stack of the catalogue that a text names.

    In the era 2004, a stack that has a form of 2004 is replaced by it. Raises BadInputError for
    an unknown stack or parameter, and for a value that is not allowed.
    """
    name, values = split_text(text)
    entry = entry_by_name(name)
    if era == "2004" and entry.form_2004:
        entry = entry_by_name(entry.form_2004)
    given = checked_parameters(entry.name, entry.parameters.values(), values)
    label = label_of(entry.name, given)
    return programs()[entry.program].stack(entry, label, given)


def check_together(stacks: Sequence[Stack]) -> None:
    """Raise BadInputError for stacks that cannot share one run."""
    by_module: dict[str, Stack] = {}
    for stack in stacks:
        module = stack.kernel_parameters
        other = by_module.setdefault(module, stack) if module else stack
        if other.parameters != stack.parameters or other.build != stack.build:
            raise BadInputError(
                option="stack",
                problem=(
                    f"{other.label} and {stack.label} are one kernel module, which has one "
                    "set of parameters"
                ),
                remedy="run them one after the other",
            )


def fitted(stack: Stack, path: Path, ip_version: int = 4) -> Stack:
    """Set the parameters of a stack that were left out, within a path's limits.

    Raises BadInputError for values that the path does not allow.
    """
    return program_of(stack).fitted(stack, path, ip_version)


def era_of(stacks: Iterable[Stack]) -> str:
    """Return the era of a run without one: that of its stacks if they agree, else ``modern``."""
    entries = catalogue()
    eras = {entries[stack.name].era if not stack.build else MODERN.name for stack in stacks}
    return eras.pop() if len(eras) == 1 else MODERN.name
