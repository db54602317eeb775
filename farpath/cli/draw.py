"""``farpath draw``: draws the topology of a run, a record or a compose file, without a lab."""

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
    file: Annotated[
        FilePath | None,
        typer.Argument(help="A compose file whose sites are drawn in place of a run's topology."),
    ] = None,
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
    """Draw the hosts, switches and links of a run or a record, or the sites of a file."""
    from farpath.lab.artifacts.host_images import check_places
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.request import RunRequest
    from farpath.planning.user_topology import is_user_topology
    from farpath.record.record import load_record
    from farpath.report.figures import wiring
    from farpath.report.figures.save import FORMATS, save

    if out.suffix.removeprefix(".") not in FORMATS:
        raise BadInputError(
            option="out", given=str(out), remedy=f"it must end with .{' or .'.join(FORMATS)}"
        )
    request = RunRequest(**option_values)
    if file is not None:
        if record is not None or request.options():
            raise BadInputError(
                problem="a file has its own sites and links, beside `record` and options of a run",
                remedy="leave one of them out",
            )
        from farpath.lab.artifacts.user_topologies import user_network
        from farpath.planning.deployment_files import read_deployment
        from farpath.report.figures import site_map

        deployment = read_deployment(file, network_of=user_network)
        if text:
            print(site_map.as_text(deployment), end="")
            return
        save(site_map.draw(deployment), out)
        print(out)
        return
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
    save(wiring.draw(plan), out)
    print(out)
