"""Bisection: the search for the commit of a Linux tree that changed a run, by ``git bisect``.

Each commit that git chooses is built and makes the run; it is compared with the run of the good
commit. Kernels and records are kept, so that a search that was interrupted repeats nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError, LabFailedError, MachineLacksError
from farpath.lab.artifacts.kernels import images_of
from farpath.runs.make import FailedRun
from farpath.uses.diff.question import diff_command
from farpath.uses.regress.baseline import BaselineRun
from farpath.uses.regress.kernel_comparison import baseline_of
from farpath.uses.regress.suite import Trial
from farpath.uses.regress.trial_runs import (
    Kernel,
    MadeTrial,
    TrialJob,
    TrialResult,
    made,
    run_trials,
)
from farpath.uses.regress.verdict import CaseState, CaseVerdict, judge

#: Change that makes a commit bad: of a metric, beyond its bounds, or of the packets.
METRICS, PACKETS = CRITERIA = ("metrics", "packets")
#: Message of git-bisect(1) when it has found the commit.
_FOUND = re.compile(r"^([0-9a-f]{40,64}) is the first '?bad'? commit$", re.MULTILINE)
#: The end of the line above commits none of which could be tested.
_NOT_TOLD_APART = "commit could be any of:"
_COMMIT = re.compile(r"^[0-9a-f]{40,64}$", re.MULTILINE)


@dataclass(frozen=True)
class TestedCommit:
    """One commit that was tested; ``verdict`` is None if it gave no run, and ``why`` says why.

    ``record``: the directory of its run.
    """

    commit: str
    subject: str
    verdict: CaseVerdict | None
    why: str = ""
    record: str = ""

    @property
    def state(self) -> str:
        """The state of its run for people."""
        return self.verdict.state.value if self.verdict else "not tested"


@dataclass(frozen=True)
class Bisection:
    """A search that has ended.

    ``trial``: the run's name. ``criterion``: one of ``CRITERIA``. ``steps``: the good commit, the
    bad one, and commits between in the order of their tests. ``found``: the first bad commit, or
    all candidates, if the commits between them could not be tested. ``log``: git's own log of the
    search, which ``git bisect replay`` takes.
    """

    trial: str
    criterion: str
    steps: tuple[TestedCommit, ...]
    found: tuple[str, ...]
    log: str

    @property
    def step_found(self) -> TestedCommit | None:
        """The test of the first bad commit; None if it was not told apart from others."""
        steps = [step for step in self.steps if (step.commit,) == self.found]
        return steps[0] if steps else None

    @property
    def diff(self) -> str:
        """The command that finds the first packet that differs: of the good commit, and the bad.

        The bad one is the commit that was found, or else the one that was given.
        """
        good, bad = self.steps[0], self.step_found or self.steps[1]
        return diff_command(FilePath(good.record), FilePath(bad.record))


class Tree:
    """A Linux tree under git, in which ``git bisect`` is carried out.

    Raises BadInputError for a directory that is none, for changes that are not committed, and while
    another bisection is under way.
    """

    def __init__(self, directory: FilePath) -> None:
        self.directory = directory
        if not directory.is_dir() or self._run("rev-parse", "--show-cdup") is None:
            raise BadInputError(
                option="tree", given=str(directory), remedy="it must be a Linux tree under git"
            )
        if self._git("rev-parse", "--show-prefix").strip():
            raise BadInputError(
                option="tree", given=str(directory), remedy="give the top directory of that tree"
            )
        if self._git("status", "--porcelain", "--untracked-files=no").strip():
            raise BadInputError(
                option="tree",
                given=str(directory),
                problem="it has changes that are not committed",
                remedy="'git stash' keeps them, and 'git worktree add' gives a clean tree",
            )
        if self._run("bisect", "log") is not None:
            raise BadInputError(
                option="tree",
                given=str(directory),
                problem="a bisection is under way there",
                remedy="'git bisect reset' ends it",
            )

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-C", str(self.directory), *words],
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C"},
        )

    def _run(self, *words: str) -> str | None:
        """Return the output of git, or None if it fails."""
        done = self._call(*words)
        return done.stdout if done.returncode == 0 else None

    def _git(self, *words: str) -> str:
        done = self._call(*words)
        if done.returncode and _NOT_TOLD_APART not in done.stdout:
            said = (done.stderr.strip() or done.stdout.strip()).replace("\n", " ")
            raise BadInputError(
                problem=f"git {words[0]} failed in {self.directory}", remedy=f"{said}"
            )
        return done.stdout

    def commit(self, name: str, option: str) -> str:
        """Return the hash of the commit that a user names; raise BadInputError if there is none."""
        text = self._run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
        if text is None:
            raise BadInputError(
                option=option, given=name, problem=f"{self.directory} has no such commit"
            )
        return text.strip()

    def head(self) -> str:
        """Return the hash of the commit that is checked out."""
        return self._git("rev-parse", "HEAD").strip()

    def subject(self, commit: str) -> str:
        """Return the first line of a commit's message."""
        return self._git("show", "--no-patch", "--format=%s", commit).strip()

    def describe(self, commit: str) -> str:
        """Return a commit for people: hash, author, date and message."""
        return self._git("show", "--no-patch", "--format=medium", commit).strip()

    @contextmanager
    def bisection(self) -> Iterator[None]:
        """Begin a bisection; at the end the tree has the commit again that it had before."""
        self._git("bisect", "start")
        try:
            yield
        finally:
            self._git("bisect", "reset")

    def check_out(self, commit: str) -> None:
        """Check a commit out, on no branch."""
        self._git("checkout", "--quiet", "--detach", commit)

    def say(self, word: str, *commits: str) -> str:
        """Tell git that commits, by default the current one, are good, bad or to be skipped.

        Returns git's answer, which is the next commit or the result.
        """
        # git bisect skip fails with its answer when nothing is left that could be tested
        return self._git("bisect", word, *commits)

    def log(self) -> str:
        """Return git's log of the bisection that is under way."""
        return self._git("bisect", "log")


def found_in(said: str) -> tuple[str, ...]:
    """Return the first bad commit in git's answer, or all candidates; empty if it goes on."""
    found = _FOUND.search(said)
    if found:
        return (found[1],)
    _, mark, commits = said.partition(_NOT_TOLD_APART)
    return tuple(_COMMIT.findall(commits)) if mark else ()


@dataclass(frozen=True)
class _Search:
    """A search under way: the tree, the run, and its directories."""

    tree: Tree
    trial: Trial
    out: FilePath
    at_once: int
    tell: Callable[[str], None]

    def kernel(self) -> Kernel:
        """Build the commit that is checked out."""
        commit = self.tree.head()
        return Kernel(commit[:12], images_of(str(self.tree.directory), self.tell))

    def run(self, kernel: Kernel, seeds: range) -> tuple[TrialResult, ...]:
        jobs = [TrialJob(self.trial, kernel, seed) for seed in seeds]
        return run_trials(jobs, self.out, self.at_once)

    def end(self, commit: str) -> tuple[Kernel, MadeTrial]:
        """Check out the good or the bad commit, build it, and make its run."""
        self.tree.check_out(commit)
        kernel = self.kernel()
        (result,) = self.run(kernel, range(1, 2))
        return kernel, made(result, f"{self.trial.name} on {commit[:12]}")

    def test(self, before: BaselineRun) -> TestedCommit:
        """Build the commit that git has checked out, and judge its run."""
        commit = self.tree.head()
        subject = self.tree.subject(commit)
        try:
            (result,) = self.run(self.kernel(), range(1, 2))
            if isinstance(result, FailedRun):
                raise result.error
        except (LabFailedError, MachineLacksError) as error:
            # It does not build or boot: git goes round it, as on exit status 125 (git-bisect(1))
            return TestedCommit(commit, subject, None, error.message)
        return self.step_of(commit, result, before)

    def _judge(self, result: MadeTrial, before: BaselineRun) -> CaseVerdict:
        return judge(self.trial.name, before, result.fingerprint, result.value)

    def step_of(self, commit: str, result: MadeTrial, before: BaselineRun) -> TestedCommit:
        verdict, subject = self._judge(result, before), self.tree.subject(commit)
        return TestedCommit(commit, subject, verdict, record=str(result.record))


def bisect(
    tree: Tree,
    good: str,
    bad: str,
    trial: Trial,
    criterion: str | None,
    seeds: int,
    out: FilePath,
    at_once: int,
    tell: Callable[[str], None],
) -> Bisection:
    """Search the first commit after ``good`` and up to ``bad`` that changed a run.

    ``good`` and ``bad``: commits by their hashes. ``criterion``: one of ``CRITERIA``; by default
    the metrics if the bad commit has one out of the bounds that ``seeds`` seeds of the good one
    give, and else the packets. ``out``: directory of the records. ``tell`` is called with each line
    of progress. The tree has the commit afterwards that it had before, also after an error or
    Ctrl-C.

    Raises BadInputError if the two commits do not differ by the criterion, and the errors of
    building or running one of the two.
    """
    search = _Search(tree, trial, out, at_once, tell)
    with tree.bisection():
        good_kernel, good_result = search.end(good)
        _, bad_result = search.end(bad)
        if bad_result.fingerprint == good_result.fingerprint:
            raise BadInputError(
                problem=(f"{trial.name}: the packets are the same on {good[:12]} and on {bad[:12]}")
            )
        further = search.run(good_kernel, range(2, seeds + 1))
        before = baseline_of([good_result, *(made(each, trial.name) for each in further)])
        steps = [
            search.step_of(good, good_result, before),
            search.step_of(bad, bad_result, before),
        ]
        criterion = _criterion(criterion, steps[1], trial.name)
        for step in steps:
            tell(_line(step))
        tree.say("bad", bad)
        said = tree.say("good", good)
        while not (found := found_in(said)):
            tell(said.strip().splitlines()[0])
            step = search.test(before)
            steps.append(step)
            tell(_line(step))
            said = tree.say(_word(step, criterion))
        return Bisection(trial.name, criterion, tuple(steps), found, tree.log())


def _criterion(wanted: str | None, bad: TestedCommit, name: str) -> str:
    assert bad.verdict is not None
    changed = bad.verdict.state == CaseState.CHANGED
    if wanted == METRICS and not changed:
        raise BadInputError(
            problem=f"{name}: on {bad.commit[:12]} the packets are others, but all "
            "metrics within bounds",
            remedy="`by=packets` searches the commit that changed the packets",
        )
    return wanted or (METRICS if changed else PACKETS)


def _word(step: TestedCommit, criterion: str) -> str:
    """Return git's word for a verdict on a commit."""
    if step.verdict is None:
        return "skip"
    if criterion == METRICS:
        return "bad" if step.verdict.state == CaseState.CHANGED else "good"
    return "good" if step.verdict.state == CaseState.IDENTICAL else "bad"


def _line(step: TestedCommit) -> str:
    reason = step.why
    if step.verdict is not None and step.verdict.differences:
        reason = str(step.verdict.differences[0])
    return f"{step.commit[:12]} {step.subject}: {step.state}" + (f" ({reason})" if reason else "")
