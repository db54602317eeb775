"""What git says of a bisection, and the trees that it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.regress import bisection
from farpath.uses.regress.bisection import PACKETS, Bisection, Tree, found_in
from tests.support.processes import completed

COMMIT, OTHER = "1" * 40, "2" * 40


@pytest.fixture
def tree(tmp_path: FilePath) -> FilePath:
    """A repository with one commit of one file."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "Makefile").write_text("VERSION = 7\n")
    git(tmp_path, "add", "Makefile")
    author = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    git(tmp_path, *author, "commit", "--quiet", "--message=Linux")
    return tmp_path


def git(directory: FilePath, *words: str) -> None:
    subprocess.run(["git", "-C", str(directory), *words], check=True)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Bisecting: 3 revisions left to test after this (roughly 2 steps)\n", ()),
        (f"{COMMIT} is the first bad commit\ncommit {COMMIT}\nAuthor: X\n", (COMMIT,)),
        (f"{COMMIT} is the first 'bad' commit\ncommit {COMMIT}\n", (COMMIT,)),
        (
            "There are only 'skip'ped commits left to test.\n"
            f"The first 'bad' commit could be any of:\n{COMMIT}\n{OTHER}\nWe cannot bisect more!\n",
            (COMMIT, OTHER),
        ),
    ],
    ids=["it goes on", "found", "found, as later releases say", "some could not be tested"],
)
def test_what_git_says_is_a_commit_several_or_none_yet(said: str, found: tuple[str, ...]) -> None:
    assert found_in(said) == found


def test_the_good_commit_is_compared_with_the_first_bad_one_or_with_the_one_given() -> None:
    steps = tuple(
        bisection.TestedCommit(name, "", None, record=f"records/{name}")
        for name in ("good", "bad", COMMIT)
    )
    found = Bisection("reno/sack", PACKETS, steps, (COMMIT,), "")
    assert found.diff == f"farpath diff records/good records/{COMMIT}"
    several = Bisection("reno/sack", PACKETS, steps, (COMMIT, OTHER), "")
    assert several.diff == "farpath diff records/good records/bad"


def test_a_directory_without_git_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="must be a Linux tree under git"):
        Tree(tmp_path)


def test_a_directory_inside_a_tree_is_refused(tree: FilePath) -> None:
    (tree / "net").mkdir()
    with pytest.raises(BadInputError, match="give the top directory"):
        Tree(tree / "net")


def test_changes_that_are_not_committed_are_refused(tree: FilePath) -> None:
    (tree / "Makefile").write_text("VERSION = 8\n")
    with pytest.raises(BadInputError, match="changes that are not committed"):
        Tree(tree)


def test_a_bisection_that_is_under_way_is_left_alone(tree: FilePath) -> None:
    git(tree, "bisect", "start")
    with pytest.raises(BadInputError, match="a bisection is under way there"):
        Tree(tree)


def test_a_commit_that_a_tree_lacks_is_refused_by_its_option(tree: FilePath) -> None:
    with pytest.raises(BadInputError, match=r"good is 'v7\.1': .* has no such commit"):
        Tree(tree).commit("v7.1", "good")


def test_the_tree_has_its_branch_again_when_an_error_ends_the_bisection(tree: FilePath) -> None:
    def branch() -> str:
        command = ["git", "-C", str(tree), "symbolic-ref", "HEAD"]
        return completed(command, check=True).stdout

    def interrupted() -> None:
        with linux.bisection():
            linux.check_out(linux.head())
            raise KeyboardInterrupt

    before, linux = branch(), Tree(tree)
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert branch() == before
