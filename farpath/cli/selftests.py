"""``farpath selftests``: runs the kernel's own selftests of MPTCP inside the lab, many times."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.cli.shared_options import RESULTS, AsJson, LabKernel, LogDir

if TYPE_CHECKING:
    from farpath.lab.selftests import Selftest

LOG = logging.getLogger(__name__)
FAILED_STATUS = 1


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(selftests)


def selftests(
    folder: Annotated[
        FilePath,
        typer.Argument(
            help="Directory of a suite whose programs are built: "
            "tools/testing/selftests/net/mptcp of a Linux tree."
        ),
    ],
    only: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Names of scripts: mptcp_connect,simult_flows."),
    ] = None,
    times: Annotated[
        str, typer.Option(metavar="NUMBER", help="How often all of them run, in one guest.")
    ] = "1",
    kernel: LabKernel = None,
    out: LogDir = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Run the kernel's own selftests of MPTCP inside the lab, many times in one guest.

    A script that passes once and fails once is a flake. Exit status 1: a script failed.
    """
    from farpath.base.files import make_directory
    from farpath.lab.artifacts.kernels import lab_images, release_of
    from farpath.lab.selftests import MOST_TIMES, find_scripts, run_selftests
    from farpath.mechanisms import quantities

    scripts = find_scripts(folder, tuple(name for name in (only or "").split(",") if name))
    count = quantities.whole((1, MOST_TIMES)).parse(times, "times")
    images = lab_images(kernel, LOG.info)
    LOG.info(f"selftests: {len(scripts)} scripts, {count} times, on Linux {release_of(images)}")
    make_directory(out)
    results = run_selftests(
        *(images, folder, scripts, count, out / "selftests.console.log"),
        _log_result if as_json else _print_result,
    )
    if as_json:
        print(json.dumps({"scripts": [asdict(one) for one in results]}))
    else:
        for name in scripts:
            print(_summary(name, [one for one in results if one.name == name]))
    if any(_word(one) == "FAILED" for one in results):
        raise typer.Exit(FAILED_STATUS)


def _word(result: Selftest) -> str:
    from farpath.lab.selftests import PASSED, SKIPPED

    return {PASSED: "ok", SKIPPED: "skip"}.get(result.status, "FAILED")


def _summary(name: str, runs: list[Selftest]) -> str:
    """Return a line of how often a script passed, was skipped and failed."""
    words = [_word(one) for one in runs]
    flakes = ", which makes it a flake" if {"ok", "FAILED"} <= set(words) else ""
    return (
        f"{name}: {len(runs)} runs: {words.count('ok')} passed, {words.count('skip')} skipped, "
        f"{words.count('FAILED')} failed{flakes}"
    )


def _line(result: Selftest) -> str:
    """Return a line for a run of a script."""
    skipped = f", {result.skipped_tests} of them skipped" if result.skipped_tests else ""
    return f"{_word(result):6} {result.name} ({result.tests} tests{skipped}, {result.took_s:.1f} s)"


def _log_result(result: Selftest) -> None:
    """Tell of a run of a script: all results are one object on the standard output."""
    LOG.info(f"selftests: {_line(result)}")


def _print_result(result: Selftest) -> None:
    """Print a line for a run of a script, and the end of its output if it did not pass."""
    print(_line(result), flush=True)
    if _word(result) != "ok":
        shown = result.failures or result.output.strip().splitlines()[-20:]
        for line in shown:
            print(f"  | {line}", flush=True)
