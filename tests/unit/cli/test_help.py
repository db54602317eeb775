"""The help of each command: its common options first, and all of them when asked."""

from __future__ import annotations

import itertools
import re

import pytest
import typer

from farpath.base.options import Option, option, options_of
from farpath.cli.app import command_line
from farpath.cli.command_groups import LazyCommand, all_commands
from farpath.planning.request import RunRequest
from tests.support.command_line import Farpath

COMMANDS = sorted(command.name or "" for command in all_commands())
ROWS, COLUMNS = 60, 80


def options_in(shown: str) -> set[str]:
    """The options to which a help gives a row."""
    return set(re.findall(r"^│ (--[\w-]+)", shown, re.MULTILINE))


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of the usual width."""
    monkeypatch.setenv("COLUMNS", str(COLUMNS))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_help_fits_on_a_page(farpath: Farpath, command: str) -> None:
    lines = farpath(command, "--help").out.splitlines()
    assert len(lines) <= ROWS
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("command", list(all_commands()), ids=lambda command: str(command.name))
def test_help_all_names_every_option(farpath: Farpath, command: LazyCommand) -> None:
    context = typer.Context(command_line())
    own = command.make_context(command.name, [], context, resilient_parsing=True).command
    declared = {one.opts[0] for one in own.params if one.opts[0].startswith("--")}
    shown = options_in(farpath(str(command.name), "--help-all").out)
    assert declared - {"--help-all"} <= shown


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_values_are_called_by_words_and_not_by_types_of_python(
    farpath: Farpath, command: str
) -> None:
    words = [command] if command else []
    for shown in [farpath(*words, name).out for name in ("--help", "--help-all")[: 1 + len(words)]]:
        assert not re.search(r"<(str|int|bool|path|file|list)\b|\bNone\b", shown)


def test_the_first_help_of_a_run_has_its_common_options_and_says_where_all_are(
    farpath: Farpath,
) -> None:
    shown = farpath("run", "--help").out
    common = {each.flag for each in options_of(RunRequest) if each.common}
    further = {each.flag for each in options_of(RunRequest) if not each.common}
    assert common <= options_in(shown)
    assert not further & options_in(shown)
    assert {"--out", "--json", "--help-all"} <= options_in(shown)
    assert "--rtt TIME" in shown


def test_a_help_without_further_options_does_not_speak_of_more(farpath: Farpath) -> None:
    assert "--help-all" not in farpath("show", "--help").out
    assert farpath("show", "--help-all").out == farpath("show", "--help").out


def test_lines_of_a_docstring_are_filled(farpath: Farpath) -> None:
    shown = farpath("starvation", "--help").out
    paragraph = shown[shown.index("Any option may") : shown.index("╭")].strip().splitlines()
    for line, following in itertools.pairwise(paragraph):
        assert len(line) + 1 + len(following.split()[0]) > COLUMNS


def test_an_option_has_a_word_for_its_value() -> None:
    with pytest.raises(TypeError, match="placeholder"):
        option(Option("Idle time.", "3s", "2 h"))  # type: ignore[call-arg]
    assert all(re.fullmatch("[A-Z]+", each.placeholder) for each in options_of(RunRequest))


def test_other_options_in_the_help_are_spelled_as_they_are_typed(farpath: Farpath) -> None:
    shown = " ".join(farpath("run", "--help").out.replace("│", " ").split())
    assert "in place of --region and --schedule" in shown
