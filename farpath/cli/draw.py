"""``farpath draw``: draws the topology of a run or of a record, without a lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.base.errors import BadInputError


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    # typer passes on options that it does not know, and RunRequest parses those of a run.
    run_options = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=run_options)(draw)


def draw(
    context: typer.Context,
    record: Annotated[
        FilePath | None, typer.Option(help="Directory of a record whose topology is drawn.")
    ] = None,
    out: Annotated[FilePath, typer.Option(help="The .png or .svg file to write.")] = FilePath(
        "topology.png"
    ),
    text: Annotated[
        bool, typer.Option("--text", help="Print the drawing as text; write no file.")
    ] = False,
) -> None:
    """Draw a run's hosts, switches and links; takes the options of 'farpath run': --rtt=50ms."""
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.own_topology import is_own
    from farpath.planning.request import RunRequest
    from farpath.record.record import load_record
    from farpath.report.figures import topology
    from farpath.report.figures.save import FORMATS, save

    if record is not None and context.args:
        raise BadInputError(
            f"--record is {record}: a record has its own options: leave out {context.args[0]}, or "
            "the record"
        )
    if record is not None:
        plan = load_record(record, verify=False).plan
    else:
        request = replace(RunRequest.of_options(context.args), sender_image=None)
        plan = request.plan(
            user_parts=BuiltParts(request.lab) if is_own(request.topology) else None
        )
    if text:
        print(topology.as_text(plan), end="")
        return
    if out.suffix.removeprefix(".") not in FORMATS:
        raise BadInputError(f"--out is '{out}': it must end with .{' or .'.join(FORMATS)}")
    save(topology.draw(plan), out)
    print(out)
