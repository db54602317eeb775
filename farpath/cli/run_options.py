"""The options of a run as a command's parameters, made of the descriptions in one place."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, TypeVar

import typer

from farpath.planning.options import options_of
from farpath.planning.request import RunRequest

#: Where records go if nothing else is said.
DEFAULT_OUT = "results"
Command = TypeVar("Command", bound=Callable[..., None])


def with_run_options(command: Command) -> Command:
    """Give a command that takes ``**given`` a parameter for each option of a run.

    typer reads a command's parameters from its signature and annotations.
    """
    signature = inspect.signature(command, eval_str=True)
    defaults = {each.name: each.default for each in fields(RunRequest)}
    options = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults[each.name],
            annotation=Annotated[
                str | None, typer.Option(each.flag, help=f"{each.help} Example: {each.example}")
            ],
        )
        for each in options_of(RunRequest)
    ]
    own = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in signature.parameters.values()
        if each.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    parameters = [*options, *own]
    vars(command)["__signature__"] = signature.replace(parameters=parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command
