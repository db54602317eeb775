"""Option names: errors name Make's variables, and a user of farpath itself typed options."""

from __future__ import annotations

import os
import re

from farpath.planning.options import options_of
from farpath.planning.request import RunRequest

#: Set by the Makefile, whose user typed variables.
CALLER, MAKE = "FARPATH_CALLER", "make"
#: Variables of options without a value.
_WITHOUT_VALUE = {"FORCE=1": "--force", "JSON=1": "--json"}
#: Options of other commands than run.
_FURTHER = (
    "OUT", "CORES", "STACKS", "ONLY", "BASE", "HEAD", "EXPERIMENT", "FORMAT", "INDEX", "JOBS",
    "SEEDS",
)  # fmt: skip
#: Words that are variables where an error begins with them or gives them a value, else nouns.
_NOUNS = ("RTT", "MTU", "IP")
_BY_VARIABLE = {
    **{name: f"--{name.lower()}" for name in _FURTHER},
    **{each.variable: each.flag for each in options_of(RunRequest)},
    **_WITHOUT_VALUE,
}
_PLAIN = "|".join(sorted(set(_BY_VARIABLE) - set(_NOUNS), key=len, reverse=True))
#: A text in quotes stays as it is: it is what the user gave, or a command of make's.
_WORD = re.compile(
    rf"(?P<quoted>(?<!\w)'[^']*'(?!\w))|(?<![\w./-])(?P<name>{_PLAIN})(?![\w./])"
    rf"|(?P<first>^(?:{'|'.join(_NOUNS)})(?= is | has |:))"
    rf"|(?<![\w./-])(?P<given>{'|'.join(_NOUNS)})(?==)"
)


def named_as_typed(message: str) -> str:
    """An error as its reader has to read it: with options, unless make called.

    >>> named_as_typed("PATH_NAME is 'RTT': give it, or RTT=50ms")
    "--path is 'RTT': give it, or --rtt=50ms"
    """
    # The keys of an experiment's file are neither.
    if os.environ.get(CALLER) == MAKE or ".toml: " in message:
        return message
    return _WORD.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        return found["quoted"]
    return _BY_VARIABLE[found["name"] or found["first"] or found["given"]]
