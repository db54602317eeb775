"""Spellings of options, which errors name as fields: on the command line, as Make's variables."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from farpath.base.errors import FarpathError, Spelling

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
    **dict.fromkeys(("--jobs", "--workers"), "--cores=2: how many runs at once"),
    **dict.fromkeys(("--cross-traffic", "--load"), "--background=10%"),
    **dict.fromkeys(("--web", "--short-flows", "--workload"), "--background=tcp:10%"),
}
#: Options whose values other tools write as farpath does.
_SAME_VALUES = ("--rate", "--stack", "--cores")
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

#: Options without a value.
SWITCHES = ("force", "json", "why")
#: Variables of Make that have another name than their option.
_VARIABLES = {"path": "PATH_NAME", "kernel": "KERNEL_SRC"}


def as_option(name: str, value: str | None) -> str:
    """Spell an option of an error as on the command line.

    >>> as_option("sender_image", "./mine.tar"), as_option("rtt", None)
    ('--sender-image=./mine.tar', '--rtt')
    """
    flag = f"--{name.replace('_', '-')}"
    return flag if value is None else f"{flag}={value}"


def as_variable(name: str, value: str | None) -> str:
    """Spell an option of an error as a variable of Make.

    >>> as_variable("path", "lte"), as_variable("rtt", None), as_variable("force", None)
    ('PATH_NAME=lte', 'RTT', 'FORCE=1')
    """
    variable = _VARIABLES.get(name, name.upper())
    if value is None:
        return f"{variable}=1" if name in SWITCHES else variable
    return f"{variable}={value}"


def spelled(text: str, spell: Spelling) -> str:
    """Return a text with the options between its backticks as ``spell`` has them, as in errors.

    >>> spelled("in place of `region`", as_option), spelled("in place of `region`", as_variable)
    ('in place of --region', 'in place of REGION')
    """
    return FarpathError(text).spelled(spell)


def typed_message(error: FarpathError) -> str:
    """Return an error's message with options as the command line has them."""
    return error.spelled(as_option)


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
