"""Parameters of a command for the options of a run, made from their descriptions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import typer

from farpath.base.options import Option, options_of
from farpath.cli.command_groups import called_by_make
from farpath.cli.completion import completion
from farpath.planning.option_names import as_option, spelled
from farpath.planning.request import RunRequest

Command = TypeVar("Command", bound=Callable[..., None])


def _typer_option(
    option: Option, help_text: str, default: str | None, from_environment: bool
) -> typer.models.OptionInfo:
    example = "" if option.example == default else f" Example: {option.example}"
    described: typer.models.OptionInfo = typer.Option(
        option.flag,
        metavar=option.placeholder,
        hidden=not option.common,
        envvar=option.variable if from_environment else None,
        show_envvar=False,
        help=f"{spelled(help_text, as_option)}{example}",
        rich_help_panel=option.group,
        autocompletion=completion(option.words),
    )
    return described


def with_options(
    names: Collection[str], defaults: Mapping[str, str], helps: Mapping[str, str]
) -> Callable[[Command], Command]:
    """Return a decorator as ``with_run_options``, for some options of a run.

    ``names``: the options. ``defaults``, ``helps``: where they differ from a run's.
    """
    return partial(with_run_options, names=names, other_defaults=defaults, other_helps=helps)


def with_run_options(
    command: Command,
    names: Collection[str] | None = None,
    other_defaults: Mapping[str, str] = MappingProxyType({}),
    other_helps: Mapping[str, str] = MappingProxyType({}),
) -> Command:
    """Replace a command's ``**`` parameter by one parameter for each option of a run.

    typer reads a command's parameters from its signature and annotations. ``names``: the options;
    all by default, which a call by Make takes from its variables too. ``other_defaults``,
    ``other_helps``: by name, where they differ from a run's.
    """
    from_environment = names is None and called_by_make()
    signature = inspect.signature(command, eval_str=True)
    defaults: dict[str, Any] = {field.name: field.default for field in fields(RunRequest)}
    defaults |= other_defaults
    run_parameters = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults[option.name],
            annotation=Annotated[
                str | None,
                _typer_option(
                    option,
                    other_helps.get(option.name, option.help),
                    defaults[option.name],
                    from_environment,
                ),
            ],
        )
        for option in options_of(RunRequest)
        if names is None or option.name in names
    ]
    command_parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    parameters = [*run_parameters, *command_parameters]
    vars(command)["__signature__"] = signature.replace(parameters=parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command
