"""Names of options in errors: variables of Make become options if the user typed options."""

from __future__ import annotations

import os
import re

from farpath.planning.options import options_of
from farpath.planning.request import RunRequest

#: Environment variable that the Makefile sets, and its value.
CALLER, MAKE = "FARPATH_CALLER", "make"
#: Variables of options without a value.
_WITHOUT_VALUE = {"FORCE=1": "--force", "JSON=1": "--json"}
#: Variables of options that are not of ``farpath run``.
_OTHER_VARIABLES = (
    "OUT", "CORES", "STACKS", "ONLY", "BASE", "HEAD", "EXPERIMENT", "FORMAT", "INDEX", "JOBS",
    "SEEDS",
)  # fmt: skip
#: Words that are variables at the start of an error or before ``=``, and nouns elsewhere.
_NOUNS = ("RTT", "MTU", "IP")
_BY_VARIABLE = {
    **{name: f"--{name.lower()}" for name in _OTHER_VARIABLES},
    **{option.variable: option.flag for option in options_of(RunRequest)},
    **_WITHOUT_VALUE,
}
_PLAIN = "|".join(sorted(set(_BY_VARIABLE) - set(_NOUNS), key=len, reverse=True))
#: A text in quotes is not changed: the user typed it, or it is a command of make.
_WORD = re.compile(
    rf"(?P<quoted>(?<!\w)'[^']*'(?!\w))|(?<![\w./-])(?P<name>{_PLAIN})(?![\w./])"
    rf"|(?P<first>^(?:{'|'.join(_NOUNS)})(?= is | has |:))"
    rf"|(?<![\w./-])(?P<assigned>{'|'.join(_NOUNS)})(?==)"
)


def name_options_as_typed(message: str) -> str:
    """Replace variables of Make in an error by options, unless make runs the command.

    >>> name_options_as_typed("PATH_NAME is 'RTT': give it, or RTT=50ms")
    "--path is 'RTT': give it, or --rtt=50ms"
    """
    # Errors about a TOML file name its keys, which are neither variables nor options.
    if os.environ.get(CALLER) == MAKE or ".toml: " in message:
        return message
    return _WORD.sub(_option, message)


def _option(match: re.Match[str]) -> str:
    if match["quoted"] is not None:
        return match["quoted"]
    return _BY_VARIABLE[match["name"] or match["first"] or match["assigned"]]
