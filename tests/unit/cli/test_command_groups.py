"""The commands in their groups, and when they are imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path as FilePath

import pytest
import typer

from farpath.cli.app import command_line
from farpath.cli.command_groups import GROUPS, LazyCommand, all_commands
from tests.support.processes import completed

IMPORTED = """
import sys
sys.argv = ["farpath", "--help"]
from farpath.cli.app import main
try:
    main()
finally:
    names = ("farpath.cli.run", "farpath.uses.league.command", "farpath.planning", "pandas")
    print("imported:", *(name for name in names if name in sys.modules))
"""


def test_help_shows_the_six_groups_in_order_and_imports_no_command() -> None:
    ended = completed([sys.executable, "-c", IMPORTED], check=True)
    assert ended.stdout.endswith("imported:\n")
    places = [ended.stdout.index(f"\u2500 {group} \u2500") for group in GROUPS]
    assert places == sorted(places)


@pytest.mark.parametrize("command", list(all_commands()), ids=lambda command: str(command.name))
def test_the_list_of_commands_has_the_first_line_of_each_commands_help(
    command: LazyCommand,
) -> None:
    context = typer.Context(command_line())
    own = command.make_context(command.name, [], context, resilient_parsing=True).command
    assert own.help.split("\n\n")[0].replace("\n", " ") == command.help


@pytest.mark.parametrize(
    ("caller", "status"), [("make", 2), ("", 0)], ids=["called by make", "called by a user"]
)
def test_only_make_s_variables_are_options_of_a_run(
    tmp_path: FilePath, caller: str, status: int
) -> None:
    environment = {**os.environ, "FARPATH_CALLER": caller, "RTT": "far", "STACK": ""}
    ended = completed(
        [sys.executable, "-m", "farpath", "draw", f"--out={tmp_path / 'drawn.svg'}"],
        env=environment,
    )
    assert ended.returncode == status, ended.stderr
    assert ended.stderr.startswith("farpath: RTT is 'far'" if status else "")


#: Commands whose results are files, a terminal of the user's own, or what they remove.
WITHOUT_VALUES = {"export", "draw", "site", "shell", "campaign", "reference", "clean"}


@pytest.mark.parametrize("command", list(all_commands()), ids=lambda command: str(command.name))
def test_commands_call_one_thing_by_one_name(command: LazyCommand) -> None:
    context = typer.Context(command_line())
    own = command.make_context(command.name, [], context, resilient_parsing=True).command
    options = {option: parameter for parameter in own.params for option in parameter.opts}
    at_once = {
        name for name, one in options.items() if "runs at once" in (getattr(one, "help", "") or "")
    }
    assert at_once <= {"--cores"}
    assert not options.keys() & {"--jobs", "--workers", "--limit"}
    assert ("--json" in options) is (command.name not in WITHOUT_VALUES)
