"""``farpath shell``: Mininet's command line in the lab, on the user's terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

import typer

from farpath.cli.logs import print_paths, print_warnings
from farpath.cli.run_options import with_options
from farpath.cli.shared_options import RESULTS, LogDir
from farpath.planning import program_plan as planning

PROMPT = "mininet> "
#: Where a user's programs keep their state (XDG Base Directory Specification).
STATE_VARIABLE, STATE_DIRECTORY = "XDG_STATE_HOME", FilePath("~/.local/state")
MOST_HISTORY = 1000


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(shell)


@with_options((*planning.STILL_OPTIONS, "topology"), planning.DEFAULTS, planning.HELPS)
def shell(
    out: LogDir = RESULTS,
    **option_values: Any,
) -> None:
    """Open Mininet's command line in the lab: sender ping -c3 receiver.

    The clock stands while nothing runs. Ctrl-C interrupts a command, Ctrl-D ends.
    """
    from farpath.lab.shell import run_shell
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.plan_warnings import plan_warnings
    from farpath.planning.request import RunRequest
    from farpath.spec.settings import VIRTUAL

    planning.require_path(option_values)
    plan = planning.program_plan(RunRequest(**option_values), BuiltParts(VIRTUAL), timeout_s=None)
    print_paths((plan.path,))
    print_warnings(plan_warnings(plan, has_flows=False))
    path = plan.path
    print(
        f"shell: {path.title}, {path.rate_bps / 1e6:g} Mbit/s; 'help' lists commands, 'nodes' the "
        "hosts, Ctrl-D ends",
        file=sys.stderr,
        flush=True,
    )
    run_shell(plan, out, sys.stdout.buffer, line_reader(PROMPT))


def line_reader(prompt: str) -> Callable[[list[str]], str | None]:
    """Return the function that reads a line of stdin, from possible first words."""
    return _read_from_terminal(prompt) if sys.stdin.isatty() else _read_from_file


def _read_from_file(_words: list[str]) -> str | None:
    """Return the next line of stdin."""
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def _read_from_terminal(prompt: str) -> Callable[[list[str]], str | None]:
    """Return the function that reads a line with history and completes its first word."""
    import readline

    history = FilePath(os.environ.get(STATE_VARIABLE) or STATE_DIRECTORY).expanduser()
    history = history / "farpath" / "shell-history"
    with suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(MOST_HISTORY)
    readline.parse_and_bind("tab: complete")

    def read(words: list[str]) -> str | None:
        def complete(text: str, state: int) -> str | None:
            found = [f"{word} " for word in words if word.startswith(text)]
            return found[state] if state < len(found) else None

        readline.set_completer(complete)
        while True:
            try:
                line = input(prompt)
            except KeyboardInterrupt:
                print(flush=True)
            except EOFError:
                print(flush=True)
                return None
            else:
                with suppress(OSError):
                    history.parent.mkdir(parents=True, exist_ok=True)
                    readline.write_history_file(history)
                return line

    return read
