"""``farpath bisect``: the commit of a Linux tree that changed a stack's packets."""

from __future__ import annotations

import dataclasses
import json
import logging
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.base.errors import BadInputError
from farpath.cli.shared_options import AsJson, RecordsDir

if TYPE_CHECKING:
    from farpath.uses.regress.bisection import Bisection, Tree

LOG = logging.getLogger(__name__)
RESULTS = FilePath("results") / "bisect"
#: Number of the good commit's seeds from which bounds are computed.
SEEDS = 8


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(bisect)


def bisect(
    good: Annotated[
        str,
        typer.Option(metavar="COMMIT", help="Commit before the change: v7.2, a hash, a branch."),
    ],
    case: Annotated[
        str,
        typer.Option(
            metavar="CASE", help="Run of 'farpath regress --list' that changed: htcp/one-loss."
        ),
    ],
    bad: Annotated[str, typer.Option(metavar="COMMIT", help="Commit with the change.")] = "HEAD",
    tree: Annotated[
        FilePath,
        typer.Option(
            metavar="DIR", help="Linux tree under git, without changes or a build of its own."
        ),
    ] = FilePath(),
    by: Annotated[
        str | None,
        typer.Option(
            metavar="OPTION",
            help="What a bad commit has changed: metrics, beyond the bounds of the good one's "
            "seeds, or packets, in any way (default: metrics if BAD has changed them).",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", help="Number of seeds from which bounds are computed.")
    ] = SEEDS,
    out: RecordsDir = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Find the commit of a Linux tree that changed a stack's packets, by git bisect.

    Each commit is compiled where it differs from the one before and makes the run in the lab. A
    search that was interrupted goes on where it was. The tree has the commit afterwards that it
    had before.
    """
    from farpath.base.files import require_directory
    from farpath.lab.machine import available_cores
    from farpath.uses.regress.bisection import CRITERIA, Tree
    from farpath.uses.regress.bisection import bisect as search
    from farpath.uses.regress.suite import trials

    stack = case.partition("/")[0]
    found = trials((stack,), (case,))
    if len(found) != 1:
        raise BadInputError(option="case", given=case, remedy="give one run, as in htcp/one-loss")
    if by is not None and by not in CRITERIA:
        raise BadInputError(option="by", given=by, remedy=f"it must be {' or '.join(CRITERIA)}")
    if seeds < 2:
        raise BadInputError(
            option="seeds", given=seeds, remedy="it must be 2 or more, since bounds need two runs"
        )
    require_directory(out)
    linux = Tree(tree)
    good_commit, bad_commit = linux.commit(good, "good"), linux.commit(bad, "bad")
    result = search(
        linux, good_commit, bad_commit, found[0], by, seeds, out / "records",
        available_cores(), lambda line: LOG.info(f"bisect: {line}"),
    )  # fmt: skip
    data = {**dataclasses.asdict(result), "diff": result.diff}
    print(json.dumps(data, indent=2) if as_json else _text(result, linux))


def _text(result: Bisection, linux: Tree) -> str:
    """Return the result for people: the commit, its changes, and git's log."""
    if len(result.found) > 1:
        commits = "\n".join(f"  {commit[:12]} {linux.subject(commit)}" for commit in result.found)
        return (
            f"{result.trial}: changed by one of these, which could not be tested:\n{commits}\n"
            f"the first packet that differs: {result.diff}"
        )
    step = result.step_found
    changes = step.verdict.differences if step and step.verdict else ()
    lines = [f"{result.trial}: the {result.criterion} were changed by", ""]
    lines += [f"  {line}".rstrip() for line in linux.describe(result.found[0]).splitlines()]
    lines += ["", *(f"  {change}" for change in changes)]
    lines += ["", f"the first packet that differs: {result.diff}"]
    return "\n".join(lines).rstrip()
