"""``farpath responsiveness``: round trips per minute of a path under load."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from dataclasses import asdict
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farpath.base.errors import BadInputError, LabFailedError
from farpath.cli.logs import print_paths, print_warnings
from farpath.cli.run_options import with_options
from farpath.cli.shared_options import RESULTS, AsJson, RecordsDir
from farpath.planning import program_plan as planning

if TYPE_CHECKING:
    from farpath.spec.plan import Plan
    from farpath.uses.responsiveness.measure import Method

LOG = logging.getLogger(__name__)
INTERVAL_S_RANGE = (0.5, 60.0)


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(responsiveness)


@with_options(planning.STILL_OPTIONS, planning.DEFAULTS, planning.HELPS)
def responsiveness(
    direction: Annotated[
        str,
        typer.Option(
            metavar="WAY", help="Which way the load goes, seen from the client: down, up or both."
        ),
    ] = "down",
    interval: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Time after which a connection is added and stability looked at."
        ),
    ] = "5s",
    timeout: Annotated[
        str, typer.Option(metavar="TIME", help="Longest test, in virtual time.")
    ] = "120s",
    figure: Annotated[
        FilePath | None,
        typer.Option(metavar="FILE", help="Draw probes, goodput and RPM: rpm.png or rpm.svg."),
    ] = None,
    out: RecordsDir = RESULTS,
    as_json: AsJson = False,
    **option_values: Any,
) -> None:
    """Measure round trips per minute under load, as draft-ietf-ippm-responsiveness says.

    A client and a server of HTTP/2 load the path with more and more connections and probe it.
    """
    from farpath.lab.user_parts import BuiltParts
    from farpath.mechanisms import quantities
    from farpath.planning.plan_warnings import plan_warnings
    from farpath.planning.request import RunRequest
    from farpath.report.figures.save import FORMATS
    from farpath.spec.settings import VIRTUAL
    from farpath.uses.responsiveness.measure import Method

    planning.require_path(option_values)
    plan = planning.program_plan(RunRequest(**option_values), BuiltParts(VIRTUAL), timeout_s=None)
    print_paths((plan.path,))
    print_warnings(plan_warnings(plan, has_flows=False))
    method = Method(
        direction=direction,
        interval_s=quantities.SHORT_TIME_S.parse(interval, "interval", INTERVAL_S_RANGE),
        limit_s=quantities.DURATION_S.parse(timeout, "timeout"),
        seed=plan.seed,
    )
    if figure is not None and figure.suffix.removeprefix(".") not in FORMATS:
        raise BadInputError(
            option="figure", given=str(figure), problem="end its name with .png or .svg"
        )
    result = json.loads(_run(plan, method, out))
    _show(result, figure, as_json)


def _run(plan: Plan, method: Method, out: FilePath) -> bytes:
    """Run client and server in the lab; return the client's output."""
    from farpath.base.project import PROJECT
    from farpath.lab.exec.program_run import run_programs
    from farpath.lab.exec.roots import MACHINE, roots
    from farpath.record.record_directory import short_fingerprint
    from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, Programs

    python = (sys.executable, "-B", "-m")
    client = (*python, "farpath.uses.responsiveness.client", json.dumps(asdict(method)))
    server = (*python, "farpath.uses.responsiveness.server")
    # Equal hashes, so that every set of Python has the same order in each run
    variables = (f"PYTHONPATH={PROJECT}", "PYTHONHASHSEED=0")
    commands = {CLIENT_HOST: (client,), SERVER_HOST: (server,)}
    found = roots(MACHINE, None, None, variables, commands)
    programs = Programs(
        client=client,
        servers=(server,),
        places=found.places,
        user=os.getuid(),
        group=os.getgid(),
        timeout_s=2 * method.limit_s,
    )
    output = io.BytesIO()
    errors = sys.stderr.buffer if LOG.isEnabledFor(logging.INFO) else io.BytesIO()
    outcome = run_programs(plan, programs, out, None, None, output, errors)
    LOG.info(f"record {outcome.directory}, fingerprint {short_fingerprint(outcome.fingerprint)}")
    if outcome.ending.status:
        raise LabFailedError(
            f"the client ended with status {outcome.ending.status}: its words are in "
            f"{outcome.directory / 'client.err'}"
        )
    return output.getvalue()


def _show(result: dict[str, Any], figure: FilePath | None, as_json: bool) -> None:
    from farpath.report.figures.save import save
    from farpath.report.table import render, rich_table
    from farpath.uses.responsiveness.figure import draw_responsiveness
    from farpath.uses.responsiveness.measure import Responsiveness
    from farpath.uses.responsiveness.table import probes_table, summary_lines

    found = Responsiveness.from_dict(result)
    if figure is not None:
        save(draw_responsiveness(found), figure)
    if as_json:
        print(json.dumps(result))
        return
    print("\n".join(summary_lines(found)))
    print(render(rich_table(probes_table(found))), end="")
    if figure is not None:
        print(f"figure      {figure}")
