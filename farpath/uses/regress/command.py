"""``farpath regress``: tells whether a change altered the behaviour of stacks."""

from __future__ import annotations

import json
import logging
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.base.errors import BadInputError
from farpath.cli.shared_options import AsJson, Cores, ReportsDir
from farpath.uses.regress import bisect_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farpath.report.report import Report
    from farpath.uses.regress.baseline import Baseline
    from farpath.uses.regress.kernel_comparison import Comparison
    from farpath.uses.regress.suite import Trial
    from farpath.uses.regress.trial_runs import Kernel

LOG = logging.getLogger(__name__)
RESULTS = FilePath("results") / "regress"
#: Number of seeds from which bounds are computed.
SEEDS = 8
CHANGED_STATUS = 1
FAILED_STATUS = 4


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(regress)
    bisect_command.add_to(app)


def _split_at_commas(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (text or "").split(",") if part)


def regress(
    stacks: Annotated[
        str | None,
        typer.Option(metavar="STACKS", help="Stacks to run: htcp,cubic (default: the suite's)."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Runs to make: one-loss, htcp/*, */slow-start,udt/*."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL", help="Kernel before the change: linux-source-7.2, or a Linux tree."
        ),
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL", help="Kernel after the change, as --base (default: the lab's kernel)."
        ),
    ] = None,
    side: Annotated[
        str | None,
        typer.Option(
            metavar="SIDE", help="Side that --head is at, sender or receiver (default: both)."
        ),
    ] = None,
    one_guest: Annotated[
        bool, typer.Option("--one-guest", help="Make all sites of a run share one guest.")
    ] = False,
    baseline: Annotated[
        FilePath | None,
        typer.Option(
            metavar="FILE", help="Baseline to compare with (default: the project's nearest)."
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Make a new baseline, and print what changed.")
    ] = False,
    seeds: Annotated[
        int, typer.Option(metavar="N", help="Number of seeds from which bounds are computed.")
    ] = SEEDS,
    cores: Cores = None,
    out: ReportsDir = RESULTS,
    why: Annotated[
        bool,
        typer.Option("--why", help="Find the first packet of each changed run that differs."),
    ] = False,
    list_runs: Annotated[bool, typer.Option("--list", help="List the runs; make none.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run the suite; each run is identical, within bounds, changed or failed.

    Runs are compared with the baseline of the nearest kernel release; with --base, with another
    kernel, which is built if necessary, and changed runs are made with --head at each side alone,
    to tell which end the change comes from. Exit status 1: a run changed; 4: a run failed.
    """
    from farpath.base.files import require_directory
    from farpath.lab.machine import available_cores
    from farpath.uses.regress.baseline import read_baseline
    from farpath.uses.regress.suite import trials

    chosen = trials(_split_at_commas(stacks), _split_at_commas(only))
    if list_runs:
        for trial in chosen:
            print(f"{trial.name:<28} {trial.case.title}")
        return
    at_once = cores or available_cores()
    if seeds < 1:
        raise BadInputError(option="seeds", given=seeds, remedy="it must be 1 or more")
    if why and update:
        raise BadInputError(option="why", remedy="leave out `update`, which compares no runs")
    if base is not None and (baseline is not None or update):
        raise BadInputError(
            problem="`base` compares two kernels", remedy="leave out `baseline` and `update`"
        )
    if (update or base is not None) and seeds < 2:
        raise BadInputError(
            option="seeds", given=seeds, remedy="it must be 2 or more, since bounds need two runs"
        )
    if one_guest and base is not None:
        raise BadInputError(
            problem="`one_guest` is compared with a baseline", remedy="leave out `base`"
        )
    if one_guest and update and baseline is None:
        raise BadInputError(
            option="one_guest", remedy="give a file of your own to `update`, with `baseline`"
        )
    # Wrong options are refused before a kernel is built.
    require_directory(out)
    own_baseline = read_baseline(baseline) if baseline is not None and not update else None
    has_sides = _sides_of(base, head, side, update)
    if one_guest and has_sides:
        raise BadInputError(
            option="one_guest", problem="one guest has one kernel, but two sides were named"
        )
    chosen = _with_sides(chosen, has_sides)
    base_kernel = _kernel(base) if base is not None or side is not None else None
    head_kernel = _kernel(head).in_one_guest() if one_guest else _kernel(head)
    if side is not None and base_kernel is not None:
        head_kernel = base_kernel.with_side(side, head_kernel)
    if update:
        _update(chosen, head_kernel, baseline, out, at_once, seeds)
        return
    if base is not None and base_kernel is not None:
        comparison = _compare_kernels(chosen, base_kernel, head_kernel, out, at_once, seeds)
    else:
        comparison = _compare_with_baseline(chosen, head_kernel, own_baseline, out, at_once)
    inputs = {"base": base, "head": head, "side": side, "baseline": baseline}
    options = [f"--{name}={value}" for name, value in inputs.items() if value is not None]
    options += ["--one-guest"] * one_guest
    made = _report(comparison, chosen, options)
    if why:
        made = _with_reasons(made, comparison, cores)
    made.write(out / "report")
    made.print(out / "report", as_json)
    _exit_with_status(comparison)


def _sides_of(base: str | None, head: str | None, side: str | None, update: bool) -> bool:
    """Return whether a run has another kernel at one side; raise BadInputError if it cannot."""
    from farpath.lab.artifacts.kernels import kernels_by_side, one_kernel
    from farpath.spec.hosts import SIDES

    if side is not None and side not in SIDES:
        raise BadInputError(option="side", given=side, remedy=f"it must be {' or '.join(SIDES)}")
    if side is not None and head is None:
        raise BadInputError(problem="`side` is for a kernel of `head`", remedy="give one")
    if side is not None and update:
        raise BadInputError(
            option="side",
            problem="a baseline is of one kernel",
            remedy="leave out `side` or `update`",
        )
    named = False
    for option, kernel in (("--base", base), ("--head", head)):
        if kernel is not None:
            if side is not None or update:
                one_kernel(kernel, option)
            named = named or bool(kernels_by_side(kernel))
    return named or side is not None


def _with_sides(trials: tuple[Trial, ...], has_sides: bool) -> tuple[Trial, ...]:
    """Leave out the trials that run in one guest, if ``has_sides``, and say which."""
    if not has_sides:
        return trials
    divided = tuple(trial for trial in trials if trial.has_sides)
    left_out = ", ".join(trial.name for trial in trials if not trial.has_sides)
    if not divided:
        raise BadInputError(
            problem=f"{left_out}: runs in one guest, which has one kernel",
            remedy="leave out `side`, or choose other runs with `only`",
        )
    if left_out:
        LOG.info(f"regress: left out, since both sides run in one guest: {left_out}")
    return divided


def _kernel(text: str | None) -> Kernel:
    """Find or build a kernel, or kernels by side, as users name them; None for the lab's."""
    from farpath.lab.artifacts.images import find_images
    from farpath.lab.artifacts.kernels import images_of, title_of
    from farpath.uses.regress.trial_runs import Kernel

    images = find_images() if text is None else images_of(text, LOG.info)
    return Kernel(f"{title_of(images)} ({text})" if text else title_of(images), images)


def _processor_level() -> int:
    from farpath.lab.artifacts.kernels import processor_level

    return processor_level(FilePath("/proc/cpuinfo").read_text(encoding="utf-8"))


def _compare_kernels(
    trials: Sequence[Trial], base: Kernel, head: Kernel, out: FilePath, at_once: int, seeds: int
) -> Comparison:
    from farpath.uses.regress.kernel_comparison import compare_kernels

    return compare_kernels(trials, base, head, out / "records", at_once, seeds)


def _compare_with_baseline(
    trials: Sequence[Trial],
    kernel: Kernel,
    own_baseline: Baseline | None,
    out: FilePath,
    at_once: int,
) -> Comparison:
    from farpath.lab.artifacts.kernels import release_of
    from farpath.uses.regress.kernel_comparison import compare_with_baseline

    baseline = own_baseline or _nearest_baseline(kernel)
    if baseline is None:
        raise BadInputError(
            problem=f"there is no baseline for the kernel {release_of(kernel.images)}",
            remedy="make one with 'farpath regress --update', or compare two kernels with `base`",
        )
    missing = [trial.name for trial in trials if trial.name not in baseline.runs]
    if len(missing) == len(trials):
        raise BadInputError(
            problem=f"the baseline {baseline.name} has none of these runs "
            f"({', '.join(missing[:3])})",
            remedy="add them with 'farpath regress --update', or compare two kernels with `base`",
        )
    LOG.info(f"regress: comparing {kernel.name} with {baseline.name}")
    return compare_with_baseline(trials, kernel, baseline, out / "records", at_once)


def _nearest_baseline(kernel: Kernel) -> Baseline | None:
    """Return the project's baseline that is taken for a kernel here; None if there is none."""
    from farpath.lab.artifacts.kernels import release_of
    from farpath.uses.regress.baseline import nearest_baseline, read_baseline

    file = nearest_baseline(release_of(kernel.images), _processor_level())
    return None if file is None else read_baseline(file)


def _update(
    trials: Sequence[Trial], kernel: Kernel, baseline: FilePath | None, out: FilePath,
    at_once: int, seeds: int,
) -> None:  # fmt: skip
    """Make a baseline, print the changes, and merge it into the file."""
    from farpath.lab.artifacts.kernels import made_of, release_of
    from farpath.uses.regress.baseline import (
        baseline_file,
        describe_changes,
        merge_baselines,
        read_baseline,
        write_baseline,
    )
    from farpath.uses.regress.kernel_comparison import make_baseline

    file = baseline or baseline_file(release_of(kernel.images), _processor_level())
    old = read_baseline(file) if file.exists() else None
    if baseline is None and old is None:
        _refuse_to_hide(trials, kernel, file)
    sources = made_of(kernel.images, _processor_level())
    new = make_baseline(trials, kernel, file.stem, sources, out / "records", at_once, seeds)
    for line in describe_changes(old, new, new.runs):
        print(line)
    write_baseline(merge_baselines(old, new), file)
    print(f"{file}: {len(new.runs)} runs of {seeds} seeds")


def _refuse_to_hide(trials: Sequence[Trial], kernel: Kernel, file: FilePath) -> None:
    """Raise BadInputError if a new baseline would be nearer here than one with further runs."""
    nearest = _nearest_baseline(kernel)
    if nearest is None:
        return
    hidden = nearest.runs.keys() - {trial.name for trial in trials}
    if hidden:
        raise BadInputError(
            problem=f"{file.name} would be a new baseline, with {len(trials)} runs, and on this "
            f"processor be taken in place of {nearest.name}.toml, which has {len(hidden)} more",
            remedy="leave out `only` and `stacks`, or give a file of your own with `baseline`",
        )


def _report(comparison: Comparison, trials: Sequence[Trial], options: Sequence[str]) -> Report:
    """Return a comparison's report in four formats."""
    from farpath.report.report import Report
    from farpath.uses.regress import html, report

    files = {
        "report.md": report.markdown(comparison),
        "report.json": report.as_json(comparison),
        "junit.xml": report.junit(comparison),
        "report.html": html.render_page(comparison, trials, options),
    }
    return Report(files, report.text(comparison), report.as_dict(comparison))


def _with_reasons(report: Report, comparison: Comparison, cores: int | None) -> Report:
    """Return a report with the first packet that differs of each changed run, and its page."""
    import dataclasses

    from farpath.uses.diff.compare import as_dict, compare
    from farpath.uses.diff.page import render_diff
    from farpath.uses.diff.question import question
    from farpath.uses.diff.report import text

    files, texts, data = dict(report.files), [report.text], {}
    for verdict in comparison.verdicts:
        if not comparison.diff_of(verdict):
            continue
        before, after = comparison.records[verdict.trial]
        kernel = None if before else comparison.kernel
        asked = question(str(before or after), str(after), kernel, None)
        names = {"a": str(before or after), "b": f"{after} on {kernel}" if kernel else str(after)}
        LOG.info(f"regress: {verdict.trial}: makes both runs again with captures")
        found = compare(asked, names, cores)
        files[f"why/{verdict.stack}-{verdict.case}.html"] = render_diff(found)
        texts += ["", f"{verdict.trial}:", text(found)]
        data[verdict.trial] = as_dict(found)
    whole = {**report.data, "why": data}
    files["report.json"] = json.dumps(whole, indent=1) + "\n"
    return dataclasses.replace(report, files=files, text="\n".join(texts), data=whole)


def _exit_with_status(comparison: Comparison) -> None:
    from farpath.uses.regress.verdict import CaseState, worst_state

    state = worst_state(comparison.verdicts)
    if state == CaseState.FAILED:
        raise typer.Exit(FAILED_STATUS)
    if state in (CaseState.CHANGED, CaseState.NEW):
        raise typer.Exit(CHANGED_STATUS)
