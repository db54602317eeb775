"""``farpath debug`` where no lab is needed: what it refuses."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import MachineLacksError
from farpath.base.locks import exclusive_lock
from farpath.uses.debug import command
from farpath.uses.debug.symbols import require_gdb
from tests.support.command_line import Farpath
from tests.support.refusals import refused


def test_without_gdb_one_line_says_what_to_install(
    farpath: Farpath, monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = farpath("debug", tmp_path, "--at=1s")
    assert ended.status == MachineLacksError.exit_status
    assert len(ended.err.splitlines()) == 1
    assert "apt-get install gdb" in ended.err
    assert require_gdb("/usr/bin/gdb") == "/usr/bin/gdb"


def test_a_run_has_one_debugger_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    monkeypatch.setenv("FARPATH_CACHE", str(tmp_path))
    with (
        exclusive_lock(command.lock_of(tmp_path / "run"), "debugs this run"),
        refused("", None),
        command.alone(tmp_path / "run"),
    ):
        pass
    with command.alone(tmp_path / "run"), command.alone(tmp_path / "another"):
        pass


def test_a_script_that_cannot_be_read_is_refused(tmp_path: FilePath) -> None:
    with refused("script"):
        command.script_lines(tmp_path / "none")
