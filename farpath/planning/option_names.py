"""Spellings of options in errors: on the command line, as variables of Make, in Python.

An error names options as fields (``farpath.base.errors``); errors of other modules still name
variables of Make in their prose, and these become options, or arguments of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from farpath.base.errors import FarpathError, as_field
from farpath.base.options import options_of
from farpath.planning.request import RunRequest

#: Variables of options without a value.
_WITHOUT_VALUE = {"FORCE=1": "--force", "JSON=1": "--json"}
#: Variables of options that are not of ``farpath run``.
_OTHER_VARIABLES = (
    "OUT", "CORES", "STACKS", "ONLY", "BASE", "HEAD", "EXPERIMENT", "FORMAT", "INDEX", "JOBS",
    "SEEDS", "METRIC",
)  # fmt: skip
_UNKNOWN_OPTION = re.compile(r"No such option:? '?(--[\w-]+)'?")
_UNKNOWN_COMMAND = re.compile(r"No such command '([\w-]+)'")
#: Options of other tools, and their counterparts here.
OF_OTHER_TOOLS = {
    **dict.fromkeys(("--bw", "--bandwidth", "--bitrate", "--link"), "--rate=100Mbit"),
    **dict.fromkeys(
        ("--delay", "--latency"), "--rtt=100ms: the delay there and back, twice that of one way"
    ),
    **dict.fromkeys(
        ("--cc", "--congestion", "--tcp", "--algorithm"), "--stack=cubic; farpath stacks has all"
    ),
    **dict.fromkeys(
        ("--duration", "--length"),
        "--time=30s, for flows that all start at once",
    ),
    **dict.fromkeys(
        ("--topo", "--custom"), "--topology=./mine.py:name,2, with --flows='h1>h2:cubic'"
    ),
    **dict.fromkeys(("--limit", "--max-queue-size", "--max_queue_size"), "--buffer=100packets"),
    **dict.fromkeys(("--num", "--size", "--transfer"), "--bytes=100MB: what each flow sends"),
    "--streams": "--parallel=4: four flows of one stack",
    **dict.fromkeys(("--cross-traffic", "--load"), "--background=10%"),
    **dict.fromkeys(("--web", "--short-flows", "--workload"), "--background=tcp:10%"),
}
#: Options whose values other tools write as farpath does.
_SAME_VALUES = ("--rate", "--stack")
_EXTRA_ARGUMENT = re.compile(r"Got unexpected extra argument(?:\(s\)|s)? \(([^ )]+)\)")
_MISSING_RECORDS = re.compile(r"Missing option '--records'")
#: Options that take the directory which other commands take as an argument.
_DIRECTORY_OPTIONS = ("--records", "--record")
#: Commands of other tools or older farpaths, and their counterparts.
COMMANDS_OF_OTHER_TOOLS = {
    "help": "farpath --help, or farpath run --help for one command",
    "version": "farpath --version",
    "figures": "farpath site --figures",
    "summary": "farpath tables --format=summary",
}
#: Words that are variables at the start of an error or before ``=``, and nouns elsewhere.
_NOUNS = ("RTT", "MTU", "IP", "ECN")
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


#: Options without a value.
SWITCHES = ("force", "json")
#: Variables of Make that have another name than their option.
_VARIABLES = {"path": "PATH_NAME", "kernel": "KERNEL_SRC", "jobs": "CORES"}


def as_option(name: str, value: str | None) -> str:
    """Spell an option of an error as on the command line.

    >>> as_option("sender_image", "./mine.tar"), as_option("rtt", None)
    ('--sender-image=./mine.tar', '--rtt')
    """
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag}={value}"


def as_variable(name: str, value: str | None) -> str:
    """Spell an option of an error as a variable of Make.

    >>> as_variable("path", "cern"), as_variable("rtt", None), as_variable("force", None)
    ('PATH_NAME=cern', 'RTT', 'FORCE=1')
    """
    variable = _VARIABLES.get(name, name.upper())
    if value is None:
        return f"{variable}=1" if name in SWITCHES else variable
    return f"{variable}={value}"


def typed_message(error: FarpathError) -> str:
    """Return an error's message with options as the command line has them."""
    return name_options_as_typed(error.spelled(as_option))


def argument_message(error: FarpathError) -> str:
    """Return an error's message with options as arguments of a call in Python."""
    return name_options_as_arguments(error.spelled(as_field))


def name_options_as_typed(message: str) -> str:
    """Replace variables of Make in an error by options of the command line.

    >>> name_options_as_typed("PATH_NAME is 'RTT': give it, or RTT=50ms")
    "--path is 'RTT': give it, or --rtt=50ms"
    """
    return _named(message, lambda flag: flag)


def name_options_as_arguments(message: str) -> str:
    """Replace variables of Make in an error by arguments of a call in Python.

    >>> name_options_as_arguments("PATH_NAME is 'RTT': give it, or SENDER_IMAGE=./mine.tar")
    "path is 'RTT': give it, or sender_image=./mine.tar"
    """
    return _named(message, lambda flag: flag.removeprefix("--").replace("-", "_"))


def _named(message: str, name_of: Callable[[str], str]) -> str:
    # Errors about a TOML file name its keys, which are neither variables nor options.
    if ".toml: " in message:
        return message
    return _WORD.sub(lambda match: match["quoted"] or name_of(_option(match)), message)


def with_meaning_elsewhere(
    message: str, known: Collection[str] | None = None, words: Sequence[str] = ()
) -> str:
    """Replace the parser's suggestion for an option or command of other tools.

    ``known``: options of the command that was given; None for all of a run's. ``words``: the
    command line, whose value the suggestion keeps where it is a value here too.

    >>> with_meaning_elsewhere("No such option: --bw (Possible options: --lab)")
    'No such option: --bw; write --rate=100Mbit'
    >>> with_meaning_elsewhere("No such command 'version'.")
    "No such command 'version'; write farpath --version"
    >>> with_meaning_elsewhere("No such option: --duration", known=("--rate", "--timeout"))
    'No such option: --duration'
    >>> with_meaning_elsewhere("No such option: --cc", words=("run", "--cc=bbr"))
    'No such option: --cc; write --stack=bbr; farpath stacks has all'
    >>> with_meaning_elsewhere("Got unexpected extra argument (results)", known=("--records",))
    'Got unexpected extra argument (results); write --records=results'
    """
    extra = _EXTRA_ARGUMENT.match(message)
    for flag in _DIRECTORY_OPTIONS if extra and known is not None else ():
        if extra and known is not None and flag in known:
            return f"{extra[0]}; write {flag}={extra[1]}"
    if known is not None and _MISSING_RECORDS.match(message):
        named = next((word for word in words[1:] if not word.startswith("-")), "results")
        return f"{message.rstrip('.')}; write --records={named}"
    for unknown, instead in (
        (_UNKNOWN_OPTION.match(message), OF_OTHER_TOOLS),
        (_UNKNOWN_COMMAND.match(message), COMMANDS_OF_OTHER_TOOLS),
    ):
        if unknown and unknown[1] in instead:
            flag = instead[unknown[1]].partition("=")[0]
            if flag.startswith("--") and known is not None and flag not in known:
                return message
            return f"{unknown[0]}; write {_with_value(instead[unknown[1]], unknown[1], words)}"
    return message


def _with_value(suggestion: str, option: str, words: Sequence[str]) -> str:
    """Return a suggestion with the value that the user gave, where the same value is one here."""
    flag, _, rest = suggestion.partition("=")
    if flag not in _SAME_VALUES:
        return suggestion
    for index, word in enumerate(words):
        following = next(iter(words[index + 1 : index + 2]), "")
        given = word.partition("=")[2] if word.startswith(f"{option}=") else ""
        if word == option and not following.startswith("-"):
            given = following
        if given:
            return f"{flag}={given}{rest[len(re.split(r'[;:]', rest)[0]) :]}"
    return suggestion


def _option(match: re.Match[str]) -> str:
    return _BY_VARIABLE[match["name"] or match["first"] or match["assigned"]]
