"""Selftests of the kernel in the lab: a stand-in for a suite and, where there is one, MPTCP's."""

from __future__ import annotations

import os
from pathlib import Path as FilePath

import pytest

from farpath.lab.artifacts.images import find_images
from farpath.lab.selftests import find_scripts, run_selftests
from tests.support.command_line import Farpath

#: Where the kernel's own suite is, of a Linux tree of the user's, with its programs.
SUITE = "FARPATH_MPTCP_SELFTESTS"
#: As those of MPTCP: namespaces of its own, a library above the suite, a wait, and KTAP.
SCRIPT = """#!/bin/bash
. "$(dirname "${0}")/../lib.sh"
ip netns add one && ip -n one link set lo up && ip netns exec one ping -q -c1 127.0.0.1 || exit 1
ip netns del one
sleep 3
runs=$(($(cat /tmp/runs 2>/dev/null || echo 0) + 1)); echo $runs >/tmp/runs
[ $runs -ne 2 ] && echo "ok 1 - $said" || { echo "not ok 1 - $said"; exit 1; }
"""


def test_a_script_that_fails_once_of_three_times_is_a_flake(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    folder = tmp_path / "net" / "mine"
    folder.mkdir(parents=True)
    (folder / "Makefile").write_text("TEST_PROGS := wait.sh skip.sh\n")
    (folder / "wait.sh").write_text(SCRIPT)
    (folder / "skip.sh").write_text("echo no iptables; exit 4\n")
    (folder.parent / "lib.sh").write_text("said='all is well'\n")
    done = farpath("selftests", folder, "--times=3", f"--out={tmp_path}")
    assert done.status == 1
    assert "FAILED wait.sh (1 tests, 3.0 s)\n  | not ok - all is well" in done.out
    assert done.out.splitlines()[-2:] == [
        "wait.sh: 3 runs: 2 passed, 0 skipped, 1 failed, which makes it a flake",
        "skip.sh: 3 runs: 0 passed, 3 skipped, 0 failed",
    ]


@pytest.mark.nightly
@pytest.mark.skipif(not os.environ.get(SUITE), reason=f"{SUITE} is not set")
def test_the_kernels_own_connections_of_mptcp_pass_each_time(tmp_path: FilePath) -> None:
    folder = FilePath(os.environ[SUITE])
    scripts = find_scripts(folder, ["mptcp_connect", "pm_netlink", "simult_flows"])
    results = run_selftests(
        find_images(), folder, scripts, 2, tmp_path / "log", lambda _result: None
    )
    assert [(one.name, one.status) for one in results] == 2 * [(name, 0) for name in scripts]
