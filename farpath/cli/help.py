"""A command's help: ``--help`` shows its common options, and ``--help-all`` all of them.

An option is declared with ``metavar``, a word for its value, and with ``hidden=True`` if the first
help leaves it out; a shell completes it all the same. Where options are left out, the first help
has the first sentence and the example of each.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from farpath.base.options import HOSTS, LAB, PATH, TRAFFIC

if TYPE_CHECKING:
    from rich.panel import Panel
    from rich.text import Text

ARGUMENTS, OPTIONS = "Arguments", "Options"
#: Panels of a help in their order; ``OPTIONS`` is the last one.
PANELS = (ARGUMENTS, PATH, TRAFFIC, HOSTS, LAB)
HELP, HELP_ALL = "--help", "--help-all"
_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z])")
_EXAMPLE = "Example: "
Parameter = TyperArgument | TyperOption


def with_help(command: TyperCommand) -> TyperCommand:
    """Return a command with the options that show its help."""
    declared = [one for one in command.params if isinstance(one, Parameter)]
    further = [one for one in declared if one.hidden]
    for parameter in further:
        parameter.hidden = False

    def show(context: typer.Context, option: typer.CallbackParam, asked: bool) -> None:
        if not asked or context.resilient_parsing:
            return
        is_brief = bool(further) and HELP_ALL not in option.opts
        shown = [one for one in (*declared, *help_options) if not one.hidden]
        if is_brief:
            shown = [one for one in shown if one not in further]
        _print(
            _usage(context.command_path, declared),
            _paragraphs(command.help or ""),
            _panels(shown, is_brief),
        )
        raise typer.Exit

    help_options = _help_options(show, len(declared) if further else 0)
    command.add_help_option = False
    command.params += help_options
    return command


def with_plain_help(group: TyperGroup) -> TyperGroup:
    """Return a group of commands whose help has no word for the values of its switches."""
    help_option, _ = _help_options(_show_typers_help, 0)
    group.add_help_option = False
    group.params.append(help_option)
    for switch in group.params:
        switch.metavar = ""
    return group


def _show_typers_help(context: typer.Context, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.get_help()
        raise typer.Exit


def _help_options(show: Any, count: int) -> list[TyperOption]:
    """Return the options that show a help, as typer makes them for any command.

    ``show``: their callback. ``count``: how many options a command has whose first help leaves
    some out; 0 for one that does not, of which no help names ``--help-all``.
    """

    def stand_in(
        show_help: bool = typer.Option(
            *(False, HELP, "-h"),
            help="Show this message and exit.",
            callback=show,
            is_eager=True,
        ),
        show_whole_help: bool = typer.Option(
            *(False, HELP_ALL),
            help=f"Show all {count} options, each with its whole text.",
            callback=show,
            is_eager=True,
            hidden=not count,
        ),
    ) -> None:
        """Take the options of a help."""

    app = typer.Typer(add_completion=False)
    app.command(add_help_option=False)(stand_in)
    options = [one for one in typer.main.get_command(app).params if isinstance(one, TyperOption)]
    for option in options:
        option.expose_value = False
    return options


def _usage(command_path: str, parameters: Iterable[Parameter]) -> Text:
    """Return the line of a command's form."""
    from rich.text import Text

    arguments = [
        _name(one) if one.required else f"[{_name(one)}]"
        for one in parameters
        if isinstance(one, TyperArgument)
    ]
    return Text.assemble(("Usage: ", "yellow"), " ".join([command_path, "[OPTIONS]", *arguments]))


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a docstring, each on one line."""
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _panels(parameters: Sequence[Parameter], is_brief: bool) -> Iterator[Panel]:
    """Yield a panel for each group of options, with a row for each option."""
    from rich.panel import Panel
    from rich.table import Table

    groups: dict[str, list[Parameter]] = {name: [] for name in PANELS}
    for parameter in parameters:
        usual = ARGUMENTS if isinstance(parameter, TyperArgument) else OPTIONS
        groups.setdefault(parameter.rich_help_panel or usual, []).append(parameter)
    groups[OPTIONS] = groups.pop(OPTIONS, [])
    for name, members in groups.items():
        rows = Table.grid(padding=(0, 2), expand=True)
        rows.add_column(no_wrap=True)
        rows.add_column(ratio=1)
        for parameter in members:
            rows.add_row(_spelled(parameter), _explained(parameter, is_brief))
        if members:
            yield Panel(rows, title=name, title_align="left", border_style="dim")


def _name(argument: TyperArgument) -> str:
    """Return an argument's word, with an ellipsis if it takes several values."""
    name = argument.metavar or (argument.name or "").upper()
    return name if argument.nargs == 1 else f"{name}..."


def _spelled(parameter: Parameter) -> Text:
    """Return an option's names, with the word for its value, or an argument's word."""
    from rich.text import Text

    if isinstance(parameter, TyperArgument):
        return Text(_name(parameter), style="bold cyan")
    longest_first = sorted(parameter.opts, key=len, reverse=True)
    names = ", ".join([*longest_first, *parameter.secondary_opts])
    value = "" if parameter.is_flag else f" {parameter.metavar}"
    return Text.assemble((names, "bold cyan"), (value, "yellow"))


def _explained(parameter: Parameter, is_brief: bool) -> Text:
    """Return what an option is, with its default."""
    from rich.text import Text

    said = parameter.help or ""
    said = brief(said) if is_brief else said
    remark = ""
    if parameter.required:
        remark = "required"
    elif parameter.show_default and parameter.default not in (None, False, ""):
        remark = f"default: {parameter.default}"
    return Text.assemble(said, (f" [{remark}]" if remark else "", "dim"))


def brief(text: str) -> str:
    """Return the first sentence of an option's text and its example.

    >>> brief("Base round-trip time. It may change: 50ms,15s:80ms. Example: 164ms")
    'Base round-trip time. Example: 164ms'
    """
    first, *others = _SENTENCE_END.split(text)
    return " ".join([first, *(one for one in others if one.startswith(_EXAMPLE))])


def _print(usage: Text, paragraphs: Iterable[str], panels: Iterable[Panel]) -> None:
    """Print a help as wide as the terminal."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(usage)
    for paragraph in paragraphs:
        filled = textwrap.fill(paragraph, console.width, break_on_hyphens=False)
        console.print(f"\n{filled}")
    console.print()
    console.print(*panels, sep="\n")
