"""Arguments of a call in Python as options of a run."""

from __future__ import annotations

import difflib
import inspect
import numbers
import os
from collections.abc import Iterable, Mapping
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.options import options_of
from farpath.planning.option_names import OF_OTHER_TOOLS
from farpath.planning.request import RunRequest

#: A value of an option: a text as on the command line, or a number in the unit that the option
#: takes without one. None is the option's default.
OptionValue = str | float | os.PathLike[str] | None
#: The digits of a number that an option's text keeps.
DIGITS = 15


def request_of(options: Mapping[str, OptionValue]) -> RunRequest:
    """Return the request that arguments make; raise BadInputError for an unknown or wrong one."""
    check_names(options)
    return RunRequest(
        **{name: text_of(name, value) for name, value in options.items() if value is not None}
    )


def check_names(options: Iterable[str]) -> None:
    """Raise BadInputError for the first name that is no option of a run."""
    known = {option.name for option in options_of(RunRequest)}
    for name in options:
        if name not in known:
            raise BadInputError(
                problem=f"there is no option '{name}' of a run", remedy=_instead(name, known)
            )


def _instead(name: str, known: set[str]) -> str:
    elsewhere = OF_OTHER_TOOLS.get(f"--{name.replace('_', '-')}")
    if elsewhere:
        return f"write {elsewhere.removeprefix('--')}"
    near = difflib.get_close_matches(name, known, 1)
    return f"did you mean {near[0]}?" if near else f"the options are {', '.join(sorted(known))}"


def text_of(name: str, value: object) -> str:
    """Return a value as it would be typed.

    >>> text_of("loss", 1e-4), text_of("rate", 1e8), text_of("rtt", "50ms")
    ('0.0001', '100000000', '50ms')
    """
    if isinstance(value, bool):
        raise BadInputError(
            problem=f"{name} is {value}", remedy="it must be a text as on the command line"
        )
    if isinstance(value, numbers.Real):
        return f"{float(value):.{DIGITS}g}"
    if isinstance(value, str | os.PathLike):
        return str(os.fspath(value))
    raise BadInputError(
        problem=f"{name} is {value!r}",
        remedy="it must be a text as on the command line, or a number",
    )


def with_run_options(signature: inspect.Signature, annotation: Any) -> inspect.Signature:
    """Replace a function's ``**`` parameter by the options of a run, for help and completion."""
    defaults = RunRequest()
    run_options = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(defaults, option.name),
            annotation=annotation,
        )
        for option in options_of(RunRequest)
    ]
    others = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    return signature.replace(parameters=[*others, *run_options])
