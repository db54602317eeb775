"""Completion in a shell, by the script that farpath prints for bash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT

#: As bash calls a completion: the script's function, for a line of words that bash has split.
CALL = """
eval "$(farpath --show-completion)"
COMP_WORDS=({words}) COMP_CWORD={last}
_farpath_completion farpath
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def commands(tmp_path: FilePath) -> FilePath:
    """A folder with the command farpath, as a shell finds it."""
    file = tmp_path / "farpath"
    call = "import sys; sys.argv[0] = 'farpath'; from farpath.cli.app import main; main()"
    file.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{call}" "$@"\n')
    file.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["farpath", "pref"], "preflight"),
        (["farpath", "run", "--sched"], "--schedule"),
        (["farpath", "run", "--path", "=", "ce"], "cern"),
        (["farpath", "run", "--path", "=", "cern", "--stack", "=", "cubic+ren"], "cubic+reno"),
        (["farpath", "draw", "--topology", "ro"], "routed"),
        (["farpath", "stacks", "illi"], "illinois"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bash_completes_commands_options_and_their_values(
    commands: FilePath, words: list[str], completed: str
) -> None:
    done = subprocess.run(
        ["bash", "-c", CALL.format(words=" ".join(f"'{each}'" for each in words),
                                   last=len(words) - 1)],
        env={**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "PYTHONPATH": str(PROJECT)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert completed in done.stdout.splitlines()
