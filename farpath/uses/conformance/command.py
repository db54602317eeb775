"""``farpath conformance``: holds a stack against the statements of its standards."""

from __future__ import annotations

import logging
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated

import typer

from farpath.cli.shared_options import AsJson, Cores, Draws, LabKernel, ReportsDir

if TYPE_CHECKING:
    from farpath.report.report import Report
    from farpath.uses.conformance.runner import Conformance

LOG = logging.getLogger(__name__)
RESULTS = FilePath("results") / "conformance"
DIFFERS_STATUS = 1
FAILED_STATUS = 4


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(conformance)


def conformance(
    stack: Annotated[
        str,
        typer.Argument(
            help="reno, cubic, bbr, bbr3 or prague, with parameters or without: cubic:beta=717."
        ),
    ],
    only: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Scenarios to run: timeout, two-losses,*-rtt."),
    ] = None,
    kernel: LabKernel = None,
    draws: Draws = None,
    cores: Cores = None,
    out: ReportsDir = RESULTS,
    list_scenarios: Annotated[
        bool, typer.Option("--list", help="List the scenarios and statements; run none.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run the scenarios that a stack's standards state; print measured and stated values.

    The verdict is on the median of several draws of each run.

    Exit status 1: a value differs, and Linux is not known to differ there; 4: a run failed.
    """
    from farpath.base.files import require_directory, safe_name
    from farpath.lab.artifacts.kernels import lab_images, title_of
    from farpath.lab.machine import available_cores
    from farpath.runs.run_set import draws_of_run
    from farpath.uses.conformance.runner import run_scenarios
    from farpath.uses.conformance.scenarios import scenarios_of

    chosen = scenarios_of(stack, tuple(part for part in (only or "").split(",") if part))
    if list_scenarios:
        for scenario in chosen:
            print(f"{scenario.name:<18} {scenario.title}")
            for statement in scenario.statements:
                print(f"  {statement.name:<24} {statement.document}, {statement.section}")
        return
    at_once = cores or available_cores()
    # Wrong options are refused before a kernel is built.
    require_directory(out)
    runs = [draws_of_run(scenario.name, scenario.request(stack), draws) for scenario in chosen]
    images = lab_images(kernel, LOG.info)
    title = f"{title_of(images)} ({kernel})" if kernel else title_of(images)
    result = run_scenarios(chosen, runs, stack, title, images, out / "records", at_once)
    made = _report(result)
    made.write(out / safe_name(stack))
    made.print(out / safe_name(stack), as_json)
    _exit_with_status(result)


def _report(result: Conformance) -> Report:
    """Return the report in three formats with its figures."""
    from farpath.report.figures.save import image_of
    from farpath.report.report import Report
    from farpath.uses.conformance import report
    from farpath.uses.conformance.figures import figures_of

    figures = figures_of(result)
    names = {name: f"{name}.svg" for name in figures}
    drawn = {name: image_of(figure, "svg").decode() for name, figure in figures.items()}
    # A page has the drawing without the lines that make it a document of its own
    inner = {name: svg[svg.index("<svg") :] for name, svg in drawn.items()}
    files = {
        "report.md": report.markdown(result, names),
        "report.json": report.as_json(result),
        "report.html": report.html(result, inner),
        **{names[name]: svg for name, svg in drawn.items()},
    }
    return Report(files, report.text(result), report.as_dict(result))


def _exit_with_status(result: Conformance) -> None:
    from farpath.uses.conformance.verdict import State

    states = {verdict.state for verdict in result.verdicts}
    if State.FAILED in states:
        raise typer.Exit(FAILED_STATUS)
    if State.DIFFERS in states:
        raise typer.Exit(DIFFERS_STATUS)
