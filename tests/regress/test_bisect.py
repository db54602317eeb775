"""The search for a commit that changed a stack, in a Linux tree with three commits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from tests.support.processes import completed

from .conftest import plant

FILE = "net/ipv4/tcp_htcp.c"
FARPATH = FilePath(sys.executable).with_name("farpath")


def git(tree: FilePath, *words: str) -> str:
    author = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    command = ["git", "-C", str(tree), *author, *words]
    return completed(command, check=True).stdout.strip()


@pytest.fixture(scope="module")
def history(linux: FilePath) -> FilePath:
    """A tree whose first commit is Linux, the second alters H-TCP, and two add a comment.

    Git knows one file of it: what else a tree has costs a minute and tells nothing.
    """
    git(linux, "init", "--quiet", "--initial-branch=main")
    (linux / ".git" / "info" / "exclude").write_text("*\n")
    git(linux, "add", "--force", FILE)
    git(linux, "commit", "--quiet", "--message=Linux")
    plant(linux / FILE)
    git(linux, "commit", "--quiet", "--all", "--message=htcp: grow less")
    with (linux / FILE).open("a") as file:
        file.write("/* Nothing else */\n")
    git(linux, "commit", "--quiet", "--all", "--message=htcp: say that there is nothing else")
    return linux


def farpath_bisect(tree: FilePath, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(FARPATH), "bisect", f"--tree={tree}", *options]
    return completed(command)


def test_the_commit_that_changed_a_stack_is_found_and_the_tree_is_as_before(
    history: FilePath, tmp_path: FilePath
) -> None:
    options = ("--good=main~2", "--case=htcp/one-loss", "--seeds=2", f"--out={tmp_path}")
    ended = farpath_bisect(history, *options, "--json")
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["found"] == [git(history, "rev-parse", "main~1")]
    assert result["criterion"] == "metrics"
    states = {step["subject"]: step["verdict"]["state"] for step in result["steps"]}
    assert states == {
        "Linux": "identical",
        "htcp: grow less": "changed",
        "htcp: say that there is nothing else": "changed",
    }
    assert git(history, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    # Kernels and records are there: a second call builds and runs nothing
    ended = farpath_bisect(history, *options)
    assert "htcp/one-loss: the metrics were changed by" in ended.stdout
    assert "htcp: grow less" in ended.stdout
    assert "  retransmits: " in ended.stdout
    good, bad = (step["record"] for step in result["steps"][:2])
    assert result["diff"].startswith(f"farpath diff {good} ")
    assert bad != good
    assert "the first packet that differs: farpath diff " in ended.stdout


def test_two_commits_with_the_same_packets_are_refused(
    history: FilePath, tmp_path: FilePath
) -> None:
    ended = farpath_bisect(
        history, "--good=main~1", "--case=htcp/one-loss", "--seeds=2", f"--out={tmp_path}"
    )
    assert ended.returncode == 2
    assert "htcp/one-loss: the packets are the same on" in ended.stderr
    assert git(history, "rev-parse", "--abbrev-ref", "HEAD") == "main"
