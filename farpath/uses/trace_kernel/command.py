"""``farpath trace-kernel``: tracepoints of the kernels of a recorded run, in virtual time."""

from __future__ import annotations

import logging
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.cli.shared_options import AsJson, OtherKernel, RecordedRun

LOG = logging.getLogger(__name__)
#: Where the files are written, and their names.
DEFAULT_OUT = FilePath("results") / "trace-kernel"
TEXT_FILE, TIMELINE_FILE = "trace.txt", "trace.json"
DEFAULT_EVENTS = "tcp:*,sock:*,qdisc:*"


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("trace-kernel")(trace_kernel)


def trace_kernel(
    run: RecordedRun,
    events: Annotated[
        str,
        typer.Option(metavar="GROUP:EVENT,...", help="Tracepoints; * for all events of a group."),
    ] = DEFAULT_EVENTS,
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="From this time of the schedule (default: 0)."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="TIME", help="To this time (default: the run's end)."),
    ] = None,
    kernel: OtherKernel = None,
    out: Annotated[
        FilePath, typer.Option(metavar="DIR", help="Directory of the files.")
    ] = DEFAULT_OUT,
    as_json: AsJson = False,
) -> None:
    """Make a run again on kernels with tracepoints, and write each event in virtual time.

    All sites are on one axis, in a text and in a file for Perfetto's viewer. The first call
    compiles the kernel once more, which takes some minutes.
    """
    from farpath.base.files import require_directory
    from farpath.lab.progress import RunProgress
    from farpath.runs.again import repetition
    from farpath.uses.trace_kernel.measure import measure
    from farpath.uses.trace_kernel.question import parse
    from farpath.uses.trace_kernel.report import report

    question = parse(events, from_, to)
    require_directory(out)
    again = repetition(run, kernel=kernel, tell=LOG.info)
    with RunProgress(again.planned.name, again.planned.plan.schedule.duration_s) as progress:
        trace = measure(question, again, run, LOG.info, progress.watch)
    made = report(trace, question, TEXT_FILE, TIMELINE_FILE)
    made.write(out)
    made.print(out, as_json)
