"""``farpath draw``: draws the topology of a run or of a record, without a lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated, Any

import typer

from farpath.base.errors import BadInputError
from farpath.cli.run_options import with_run_options


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(draw)


@with_run_options
def draw(
    record: Annotated[
        FilePath | None,
        typer.Option(metavar="DIR", help="Directory of a record whose topology is drawn."),
    ] = None,
    out: Annotated[
        FilePath, typer.Option(metavar="FILE", help="The .png or .svg file to write.")
    ] = FilePath("topology.png"),
    text: Annotated[
        bool, typer.Option("--text", help="Print the drawing as text; write no file.")
    ] = False,
    **option_values: Any,
) -> None:
    """Draw the hosts, switches and links of a run or of a record."""
    from farpath.lab.artifacts.host_images import check_places
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.request import RunRequest
    from farpath.planning.user_topology import is_user_topology
    from farpath.record.record import load_record
    from farpath.report.figures import wiring
    from farpath.report.figures.save import FORMATS, save

    request = RunRequest(**option_values)
    if record is not None and (given := request.options()):
        raise BadInputError(
            option="record",
            given=record,
            problem="a record has its own options",
            remedy=f"leave out {given[0]}, or the record",
        )
    if record is not None:
        plan = load_record(record, verify=False).plan
    else:
        plan = replace(request, sender_image=None).plan(
            user_parts=BuiltParts(request.lab) if is_user_topology(request.topology) else None,
            path_by_rtt=True,
        )
        # A picture needs no image unpacked
        if request.sender_image is not None:
            check_places(request.sender_image, plan)
    if text:
        print(wiring.as_text(plan), end="")
        return
    if out.suffix.removeprefix(".") not in FORMATS:
        raise BadInputError(
            option="out", given=str(out), remedy=f"it must end with .{' or .'.join(FORMATS)}"
        )
    save(wiring.draw(plan), out)
    print(out)
