"""The command that says whether a change altered the behaviour of stacks."""

from __future__ import annotations

import logging
import sys
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.base.errors import BadInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farpath.regress.baseline import Baseline
    from farpath.regress.compare import Comparison
    from farpath.regress.runner import Kernel
    from farpath.regress.suite import Trial

LOG = logging.getLogger(__name__)
RESULTS = FilePath("results") / "regress"
#: Seeds of which bounds are made.
SEEDS = 8
CHANGED_STATUS = 1
FAILED_STATUS = 4


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(regress)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(one for one in (text or "").split(",") if one)


def regress(
    stacks: Annotated[
        str | None, typer.Option(help="Some stacks: htcp,cubic; the suite's own if absent.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Some runs: one-loss, htcp/*, */slow-start,udt/*.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(help="The kernel before: linux-source-7.2, or a Linux tree's directory."),
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="The kernel after, likewise; the lab's own if absent.")
    ] = None,
    baseline: Annotated[
        FilePath | None, typer.Option(help="What to hold against, if not the project's.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Make the baseline anew, and say what changes.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="Of how many seeds bounds are made.")] = SEEDS,
    jobs: Annotated[int | None, typer.Option(help="Runs at once (default: cores).")] = None,
    out: Annotated[FilePath, typer.Option(help="Where records and reports go.")] = RESULTS,
    list_runs: Annotated[bool, typer.Option("--list", help="Say what would be run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run the suite and say of each run: identical, within bounds, changed or failed.

    Against the baseline of the kernel's release; with --base against another kernel, built
    if need be. Exit status 1 if a run changed, 4 if one failed.
    """
    from farpath.lab.machine import available_cores
    from farpath.regress import report
    from farpath.regress.baseline import read_baseline
    from farpath.regress.suite import trials

    wanted = trials(_listed(stacks), _listed(only))
    if list_runs:
        for trial in wanted:
            print(f"{trial.name:<28} {trial.case.title}")
        return
    at_once = jobs if jobs is not None else available_cores()
    for name, number in (("JOBS", at_once), ("SEEDS", seeds)):
        if number < 1:
            raise BadInputError(f"{name} is {number}: it must be 1 or more")
    if base is not None and (baseline is not None or update):
        raise BadInputError("--base compares two kernels: leave out --baseline and --update")
    known = read_baseline(baseline) if baseline is not None and not update else None
    side = _side(head)
    if update:
        _update(wanted, side, baseline, out, at_once, seeds)
        return
    if base is not None:
        compared = _kernels(wanted, _side(base), side, out, at_once, seeds)
    else:
        compared = _held(wanted, side, known, out, at_once)
    chosen = {"base": base, "head": head, "baseline": baseline}
    options = [f"--{name}={value}" for name, value in chosen.items() if value is not None]
    places = _write(compared, wanted, out / "report", options)
    print(report.as_json(compared) if as_json else report.text(compared))
    for place in places:
        print(f"{place.suffix.removeprefix('.'):<6} {place}", file=sys.stderr)
    _end(compared)


def _side(kernel: str | None) -> Kernel:
    from farpath.lab.artifacts.images import find_images
    from farpath.lab.artifacts.kernels import images_of, release_of
    from farpath.regress.runner import Kernel

    images = find_images() if kernel is None else images_of(kernel, LOG.info)
    name = f"Linux {release_of(images).removesuffix('-farpath')}"
    return Kernel(f"{name} ({kernel})" if kernel else name, images)


def _level() -> int:
    from farpath.lab.artifacts.kernels import processor_level

    return processor_level(FilePath("/proc/cpuinfo").read_text(encoding="utf-8"))


def _kernels(
    wanted: Sequence[Trial], base: Kernel, head: Kernel, out: FilePath, at_once: int, seeds: int
) -> Comparison:
    from farpath.regress.compare import compare_kernels

    if seeds < 2:
        raise BadInputError(f"SEEDS is {seeds}: bounds need 2 or more")
    return compare_kernels(wanted, base, head, out / "records", at_once, seeds)


def _held(
    wanted: Sequence[Trial], side: Kernel, given: Baseline | None, out: FilePath, at_once: int
) -> Comparison:
    from farpath.regress.compare import compare_with_baseline

    known = given or _nearest(side)
    unknown = [trial.name for trial in wanted if trial.name not in known.runs]
    if len(unknown) == len(wanted):
        raise BadInputError(
            f"the baseline {known.name} knows none of these runs ({', '.join(unknown[:3])}): add "
            "them with 'farpath regress --update', or compare two kernels with --base"
        )
    LOG.info(f"regress: {side.name} against {known.name}")
    return compare_with_baseline(wanted, side, known, out / "records", at_once)


def _nearest(side: Kernel) -> Baseline:
    from farpath.lab.artifacts.kernels import release_of
    from farpath.regress.baseline import nearest_baseline, read_baseline

    release = release_of(side.images)
    found = nearest_baseline(release, _level())
    if found is None:
        raise BadInputError(
            f"there is no baseline for the kernel {release}: make one with 'farpath regress "
            "--update', or compare two kernels with --base"
        )
    return read_baseline(found)


def _update(
    wanted: Sequence[Trial], side: Kernel, file: FilePath | None, out: FilePath, at_once: int,
    seeds: int,
) -> None:  # fmt: skip
    from farpath.lab.artifacts.kernels import made_of, release_of
    from farpath.regress.baseline import (
        baseline_file,
        describe_changes,
        merge_baselines,
        read_baseline,
        write_baseline,
    )
    from farpath.regress.compare import make_baseline

    if seeds < 2:
        raise BadInputError(f"SEEDS is {seeds}: bounds need 2 or more")
    place = file or baseline_file(release_of(side.images), _level())
    old = read_baseline(place) if place.exists() else None
    made = made_of(side.images, _level())
    new = make_baseline(wanted, side, place.stem, made, out / "records", at_once, seeds)
    for line in describe_changes(old, new, new.runs):
        print(line)
    write_baseline(merge_baselines(old, new), place)
    print(f"{place}: {len(new.runs)} runs of {seeds} seeds")


def _write(
    compared: Comparison, wanted: Sequence[Trial], place: FilePath, options: Sequence[str]
) -> list[FilePath]:
    from farpath.base.files import write_text
    from farpath.regress import html, report

    texts = {
        "report.md": report.markdown(compared),
        "report.json": report.as_json(compared),
        "junit.xml": report.junit(compared),
        "report.html": html.render_page(compared, wanted, options),
    }
    for name, text in texts.items():
        write_text(place / name, text)
    return [place / name for name in texts]


def _end(compared: Comparison) -> None:
    from farpath.regress.verdict import CaseState, worst_state

    state = worst_state(compared.verdicts)
    if state == CaseState.FAILED:
        raise typer.Exit(FAILED_STATUS)
    if state in (CaseState.CHANGED, CaseState.NEW):
        raise typer.Exit(CHANGED_STATUS)
