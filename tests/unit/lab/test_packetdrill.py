"""packetdrill's scripts: which are found, and what is refused before anything boots."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.lab.packetdrill import find_scripts, find_tool
from tests.support.command_line import Farpath


@pytest.fixture
def folder(tmp_path: FilePath) -> FilePath:
    """A folder of three scripts and something else."""
    for name in ("tcp_sack.pkt", "tcp_slow_start_1.pkt", "tcp_slow_start_2.pkt", "defaults.sh"):
        (tmp_path / name).touch()
    return tmp_path


def test_all_scripts_of_a_folder_are_run_if_none_is_named(folder: FilePath) -> None:
    assert find_scripts(folder) == ("tcp_sack.pkt", "tcp_slow_start_1.pkt", "tcp_slow_start_2.pkt")


def test_scripts_are_named_with_or_without_their_ending_or_by_a_pattern(folder: FilePath) -> None:
    assert find_scripts(folder, ["tcp_sack"]) == ("tcp_sack.pkt",)
    assert find_scripts(folder, ["tcp_sack.pkt"]) == ("tcp_sack.pkt",)
    assert len(find_scripts(folder, ["tcp_slow_*", "tcp_sack"])) == 3
    with pytest.raises(BadInputError, match="ONLY is 'tcp_fack'"):
        find_scripts(folder, ["tcp_fack"])


def test_a_folder_without_scripts_is_refused(farpath: Farpath, tmp_path: FilePath) -> None:
    for directory in (tmp_path, tmp_path / "none"):
        ended = farpath("packetdrill", str(directory))
        assert ended.status == 2
        assert "tools/testing/selftests/net/packetdrill" in ended.err
        assert ended.err.count("\n") == 1


def test_a_machine_without_the_tool_is_told_where_it_comes_from(
    farpath: Farpath, folder: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    ended = farpath("packetdrill", str(folder))
    assert ended.status == 3
    assert "Debian has no package of it" in ended.err
    with pytest.raises(MachineLacksError, match="none is no program"):
        find_tool(FilePath("none"))


def test_a_tool_that_cannot_be_given_the_labs_clock_is_refused(tmp_path: FilePath) -> None:
    tool = tmp_path / "packetdrill"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    with pytest.raises(BadInputError, match="no dynamic program for x86-64"):
        find_tool(tool)
