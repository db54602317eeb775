"""``farpath stacks``, ``eras``, ``options`` and ``paths``: what a run can be given."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.base.options import Option, options_of
from farpath.cli.completion import completion
from farpath.cli.shared_options import AsJson
from farpath.mechanisms.era.mechanism import era_names, features, title_of
from farpath.planning.option_names import as_variable, spelled
from farpath.planning.path_files import named_paths, path_by_name
from farpath.planning.request import RunRequest
from farpath.programs.catalog import catalogue, entry_by_name
from farpath.programs.entry import CatalogEntry, Parameter
from farpath.programs.registry import programs
from farpath.spec.era import MODERN
from farpath.spec.wire import as_wire

INDENT = 15
COLUMNS = 100
#: Headings of a feature's fields.
HEADINGS = {"then": "2004", "now": "Linux 7.2", "set": "set", "left": "stays"}


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (stacks, eras, options, paths):
        app.command()(command)


def stacks(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A stack whose parameters are explained.", autocompletion=completion(catalogue)
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the stacks that a flow can run, with their parameters and defaults."""
    if as_json:
        print(json.dumps(as_wire(catalogue())))
    else:
        print(all_stacks() if name is None else one_stack(name))


def eras(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table of docs/reference/eras.md.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List which behaviour of hosts of 2004 is emulated, and which cannot be."""
    if as_json:
        print(json.dumps({era: as_wire(features(era)) for era in era_names()}))
    else:
        print(eras_markdown() if markdown else all_eras())


def options(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table of docs/reference/usage.md.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the options of a run with their units, ranges, defaults and variables of Make."""
    if as_json:
        print(json.dumps({option.name: _described(option) for option in options_of(RunRequest)}))
    else:
        print(options_markdown() if markdown else all_options())


def paths(as_json: AsJson = False) -> None:
    """List the named paths."""
    all_paths = [path_by_name(name) for name in named_paths()]
    if as_json:
        print(json.dumps({path.name: as_wire(path) for path in all_paths}))
        return
    name_width = max(len(path.name) for path in all_paths)
    title_width = max(len(path.title) for path in all_paths)
    for path in all_paths:
        changing = ", changing" if path.is_changing else ""
        print(
            f"{path.name:<{name_width}}  {path.title:<{title_width}}  RTT {path.rtt_ms:g} ms, "
            f"{path.rate_bps / 1e6:g} Mbit/s{changing}, buffer {path.buffer_bytes / 1e6:g} MB, "
            f"loss {path.loss:g}, background {path.background or 'none'}"
        )


def _with_unit(value: str, unit: str) -> str:
    """Append a unit to a value; ``819`` of ``1/1024`` becomes ``819/1024``."""
    if unit.startswith("1/"):
        return f"{value}{unit[1:]}"
    return f"{value} {unit}".strip()


def _indented(text: str) -> str:
    margin = " " * INDENT
    return textwrap.fill(
        text, COLUMNS, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )


def _headline(entry: CatalogEntry) -> str:
    hosts = "" if entry.era == MODERN.name else f"; hosts of {entry.era}"
    return f"{entry.name:<14} {entry.title}, {entry.year}{hosts}"


def _form_and_aliases(entry: CatalogEntry) -> list[str]:
    lines = [f"its form of 2004 is {entry.form_2004}"] if entry.form_2004 else []
    if entry.variant_of:
        preset = " ".join(f"{name}={value}" for name, value in entry.preset.items())
        lines.append(f"it is {entry.variant_of} with {preset}")
    if entry.aliases:
        lines.append(f"also called {', '.join(entry.aliases)}")
    return lines


def all_stacks() -> str:
    """List all stacks by kind, with their sources and their parameters' defaults."""
    blocks = []
    kinds = {kind: text for one in programs().values() for kind, text in one.kinds.items()}
    for kind, heading in kinds.items():
        blocks.append(f"{heading}\n")
        for entry in catalogue().values():
            if entry.kind != kind:
                continue
            blocks.append(_headline(entry))
            blocks += [_indented(text) for text in (entry.source, *_form_and_aliases(entry))]
            if entry.parameters:
                defaults = " ".join(f"{p.name}={p.default}" for p in entry.parameters.values())
                blocks.append(_indented(f"parameters: {defaults}"))
        blocks.append("")
    blocks.append("farpath stacks <name> explains the parameters of one.")
    return "\n".join(blocks)


def one_stack(name: str) -> str:
    """Explain all parameters of one stack; raises BadInputError for an unknown name."""
    entry = entry_by_name(name)
    details = (entry.source, *_form_and_aliases(entry))
    lines = [_headline(entry), *(_indented(text) for text in details)]
    return "\n".join([*lines, *(_explain(p) for p in entry.parameters.values())])


def _explain(parameter: Parameter) -> str:
    default = _with_unit(parameter.default, parameter.unit)
    return f"  {parameter.name} = {default}, {parameter.allowed}\n{_indented(parameter.meaning)}"


def all_eras() -> str:
    """List how the hosts of each era differ from today's, for a terminal."""
    lines = []
    for era in era_names():
        lines.append(f"{era}: {title_of(era)}")
        for feature in features(era):
            lines.append(f"  {feature.name}")
            for field, heading in HEADINGS.items():
                text = _indented(getattr(feature, field)).lstrip()
                lines.append(f"    {heading:<10} {text}")
    return "\n".join(lines)


def eras_markdown() -> str:
    """Return the features of 2004 as the Markdown table of docs/reference/eras.md."""
    lines = [
        f"| feature | {' | '.join(HEADINGS.values())} |",
        f"|---|{'---|' * len(HEADINGS)}",
    ]
    for feature in features("2004"):
        cells = [feature.name, *(getattr(feature, field) for field in HEADINGS)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def all_options() -> str:
    """List all options of a run with their units, ranges and defaults, for a terminal."""
    lines = []
    for option in options_of(RunRequest):
        lines.append(f"{option.flag}={option.example}  ({option.variable})")
        lines.append(_indented(spelled(option.help, as_variable)))
        lines += [_indented(f"{name}: {text}") for name, text in _facts(option) if text]
    return "\n".join(lines)


def _described(option: Option) -> dict[str, str]:
    """Return an option as JSON has it."""
    named = {"variable": option.variable, "example": option.example}
    return named | {"help": spelled(option.help, as_variable)} | dict(_facts(option))


def _facts(option: Option) -> tuple[tuple[str, str], ...]:
    return ("default", option.default), ("unit", option.unit), ("allowed", option.allowed_text)


def options_markdown() -> str:
    """Return all options of a run as the Markdown table of docs/reference/usage.md."""
    rows = ["| variable | example | what it is | default | allowed |", "|---|---|---|---|---|"]
    for option in options_of(RunRequest):
        page = FilePath(option.see.partition("#")[0])
        link = f" ([{page.name}](../{option.see}))" if option.see else ""
        allowed = "; ".join(text for text in (option.allowed_text, option.unit) if text)
        words = spelled(option.help, as_variable)
        cells = (f"`{option.variable}`", f"`{option.example}`", words + link)
        rows.append(f"| {' | '.join((*cells, option.default, allowed))} |")
    return "\n".join(rows)
