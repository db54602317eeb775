"""packetdrill's scripts: which are found, and what is refused before anything boots."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.lab.packetdrill import (
    FAMILIES,
    HELPERS,
    find_scripts,
    find_tool,
    orders_of,
    parse_defines,
    parse_families,
)
from farpath.lab.suites import suite_of
from tests.support.command_line import Farpath
from tests.support.refusals import refused


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
    with refused("only", "tcp_fack"):
        find_scripts(folder, ["tcp_fack"])


def tree(root: FilePath, *places: str) -> FilePath:
    """Files with a word in each, below a root."""
    for place in places:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text("`../common/defaults.sh`\n")
    return root


def test_scripts_of_folders_below_are_found_by_folder_too(tmp_path: FilePath) -> None:
    tree(tmp_path, "sack/a.pkt", "close/b.pkt", "fastopen/server/c.pkt", "d.pkt", "sack/e.sh")
    assert find_scripts(tmp_path) == (
        *("close/b.pkt", "d.pkt", "fastopen/server/c.pkt", "sack/a.pkt"),
    )
    assert find_scripts(tmp_path, ["fastopen", "sack/"]) == ("fastopen/server/c.pkt", "sack/a.pkt")
    assert find_scripts(tmp_path, ["close/*", "a"]) == ("close/b.pkt", "sack/a.pkt")


def test_the_kernels_runner_takes_the_scripts_of_its_own_folder(tmp_path: FilePath) -> None:
    tree(tmp_path, "ksft_runner.sh", "a.pkt", "below/b.pkt")
    assert find_scripts(tmp_path) == ("a.pkt",)
    assert [
        order.arguments for order in orders_of(["a.pkt"], parse_families(None, tmp_path), {})
    ] == [()]
    with refused("family", "ipv4"):
        parse_families("ipv4", tmp_path)
    with refused("define", "A=1"):
        parse_defines(["A=1"], tmp_path)


def test_a_script_runs_in_each_family_for_which_it_is_written(tmp_path: FilePath) -> None:
    orders = orders_of(["a.pkt", "b-v4.pkt", "c-v6.pkt"], parse_families(None, tmp_path), {})
    assert [order.name for order in orders] == [
        *("a.pkt (ipv4)", "a.pkt (ipv6)", "a.pkt (ipv4-mapped-ipv6)"),
        *("b-v4.pkt (ipv4)", "b-v4.pkt (ipv4-mapped-ipv6)", "c-v6.pkt (ipv6)"),
    ]
    with refused("family", "ipv5"):
        parse_families("ipv5", tmp_path)


def test_symbols_of_a_family_give_way_to_those_that_are_given(tmp_path: FilePath) -> None:
    defines = parse_defines(["TFO_COOKIE=ff", "MINE=a b"], tmp_path)
    (order,) = orders_of(["a.pkt"], ("ipv4",), defines)
    given = [word for word in order.arguments if "=" in word and not word.startswith("--")]
    assert given == [
        *("TFO_COOKIE=ff", "CODE=host_unreachable", "CMSG_LEVEL_IP=SOL_IP"),
        *("CMSG_TYPE_RECVERR=IP_RECVERR", "MINE=a b"),
    ]
    assert set(FAMILIES["ipv6"].defines) == {"TFO_COOKIE", "CMSG_LEVEL_IP", "CMSG_TYPE_RECVERR"}
    for text in ("TFO_COOKIE", "=1", "A B=1", "A="):
        with refused("define"):
            parse_defines([text], tmp_path)


def test_a_suite_is_copied_with_what_its_scripts_name_and_link_to(tmp_path: FilePath) -> None:
    suite = tree(tmp_path / "net", "tcp/sack/a.pkt", "common/defaults.sh", "other/big.bin") / "tcp"
    (suite / "common").mkdir()
    (suite / "common" / "defaults.sh").symlink_to("../../common/defaults.sh")
    found = suite_of(suite)
    found.copy(tmp_path / "copy")
    copied = sorted(
        file.relative_to(tmp_path / "copy").as_posix()
        for file in (tmp_path / "copy").rglob("*")
        if file.is_file()
    )
    assert found.place == FilePath("tcp")
    assert copied == ["tcp/common/defaults.sh", "tcp/sack/a.pkt"]
    # The folder of some scripts alone: what they name lies beside it
    (suite / "common" / "defaults.sh").unlink()
    tree(suite, "common/defaults.sh")
    assert sorted(map(str, suite_of(suite / "sack").files)) == ["common/defaults.sh", "sack/a.pkt"]


def test_the_kernels_suite_is_copied_with_the_helpers_of_its_runner(tmp_path: FilePath) -> None:
    suite = tree(tmp_path, "net/packetdrill/a.pkt", "kselftest/ktap_helpers.sh", "net/b.sh")
    found = suite_of(suite / "net" / "packetdrill", (HELPERS,))
    assert sorted(map(str, found.files)) == ["kselftest/ktap_helpers.sh", "net/packetdrill/a.pkt"]
    (suite / "kselftest" / "ktap_helpers.sh").unlink()
    with pytest.raises(BadInputError, match=r"ktap_helpers\.sh: leads to no file"):
        suite_of(suite / "net" / "packetdrill", (HELPERS,))


def test_nothing_outside_of_a_suite_is_copied(tmp_path: FilePath) -> None:
    suite = tree(tmp_path / "net", "tcp/a.pkt") / "tcp"
    (tmp_path / "secret").write_text("x")
    link = suite / "link.sh"
    link.symlink_to(tmp_path / "secret")
    with pytest.raises(BadInputError, match=r"link\.sh: leads to .*secret, outside of .*net"):
        suite_of(suite)
    # A work tree of git is one suite
    (tmp_path / ".git").mkdir()
    assert FilePath("net/tcp/link.sh") in suite_of(suite).files
    (tmp_path / ".git").rmdir()
    link.unlink()
    (suite / "b.pkt").write_text("`../../secret`")
    with pytest.raises(BadInputError, match=r"b\.pkt: names .*secret, outside of"):
        suite_of(suite)


def test_what_is_no_regular_file_is_refused_and_not_opened(tmp_path: FilePath) -> None:
    suite = tree(tmp_path / "net", "tcp/a.pkt") / "tcp"
    os.mkfifo(suite / "pipe.pkt")
    with pytest.raises(BadInputError, match=r"pipe\.pkt: is no regular file"):
        suite_of(suite)
    (suite / "pipe.pkt").unlink()
    (suite / "loop").symlink_to(".")
    with pytest.raises(BadInputError, match="loop: is no regular file"):
        suite_of(suite)
    (suite / "loop").unlink()
    (suite / "gone").symlink_to("nowhere")
    with pytest.raises(BadInputError, match="gone: leads to no file"):
        suite_of(suite)


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
