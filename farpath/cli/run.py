"""``farpath run`` and ``farpath show``: make one run, and show its record."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farpath.base.errors import BadInputError, on_one_line
from farpath.base.options import LAB
from farpath.cli.logs import is_verbose, print_warnings
from farpath.cli.run_options import with_run_options
from farpath.cli.shared_options import RESULTS, AsJson
from farpath.cli.show_captures import GRAPHS, show_captures

if TYPE_CHECKING:
    from farpath.lab.run import Outcome
    from farpath.record.record import Record
    from farpath.report.table import Table
    from farpath.spec.host_image import HostImage
    from farpath.spec.path import Path
    from farpath.spec.plan import Plan

#: Width of tables in characters if stdout is no terminal.
PAGE_COLUMNS = 120


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(run)
    app.command()(show)


@with_run_options
def run(
    out: Annotated[
        FilePath, typer.Option(metavar="DIR", help="Directory of the records.", rich_help_panel=LAB)
    ] = RESULTS,
    force: Annotated[
        bool,
        typer.Option("--force", help="Run even if there is a record already.", rich_help_panel=LAB),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=LAB)
    ] = False,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL",
            help="Kernel of the lab: 7.3, a Linux tree, or of one side: receiver=7.3.",
            rich_help_panel=LAB,
        ),
    ] = None,
    **option_values: Any,
) -> None:
    """Make a run, by default the test of seven regions, and show the results of its flows."""
    from farpath.api.making import ready_run
    from farpath.lab.progress import RunProgress
    from farpath.metrics.run_settings import path_headline
    from farpath.planning.plan_warnings import plan_warnings
    from farpath.planning.request import RunRequest

    ready = ready_run(RunRequest(**option_values), kernel, path_by_rtt=True)
    plan = ready.plan
    print(path_headline(plan.path), file=sys.stderr)
    for line in _image_lines(plan):
        print(line, file=sys.stderr)
    print_warnings(plan_warnings(plan))
    with RunProgress(ready.label, plan.schedule.duration_s, ready.time_unit) as progress:
        outcome = ready.make(out, force, progress.watch)
    _report(outcome, as_json, progress.is_shared)


def _report(outcome: Outcome, as_json: bool, is_shared: bool) -> None:
    """Print the results of a run; ``is_shared``: whether other runs held cores beside it."""
    from farpath.record.record import load_record

    record = load_record(outcome.directory)
    if as_json:
        print(json.dumps(_as_json(record, outcome.cached, outcome.wall_s)))
        return
    _print_tables(record)
    if outcome.cached:
        print("already recorded: shown from there; FORCE=1 (--force) runs it again")
    else:
        speed = record.plan.schedule.duration_s / outcome.wall_s
        beside = ", beside other runs on its cores" if is_shared else ""
        took = f"{outcome.wall_s:.1f} s, {speed:.1f}x real time"
        print(f"ran in {took}, the lab's start included{beside}")


def _as_json(record: Record, cached: bool, wall_s: float) -> dict[str, Any]:
    from farpath.metrics.record_metrics import metrics_of

    return {
        "record": str(record.directory),
        "fingerprint": record.fingerprint,
        "cached": cached,
        "wall_s": wall_s,
        "images": {host: image.digest for host, image in record.plan.images.items()},
        "metrics": metrics_of(record),
    }


def _print_tables(record: Record, whole: bool = False) -> None:
    """Print the results of a run, its settings and the places of its files.

    ``whole``: also the meaning of columns, the paper's tables, and the source of each value of the
    path.
    """
    from farpath.metrics.one_draw import is_one_draw, one_draw_text
    from farpath.metrics.run_settings import path_headline, path_line
    from farpath.planning.network_options import flow_routes
    from farpath.report.html.run_page import FIGURE_FILE, PAGE_FILE
    from farpath.report.overview import overview, results

    plan = record.plan
    whole = whole or is_verbose()
    print(path_headline(plan.path))
    if whole:
        _print_grids(overview(record))
    else:
        _print_grids((replace(table, note="") for table in results(record)), end="")
    for warning in record.data["warnings"]:
        print(f"warning: {on_one_line(warning)}")
    if is_one_draw(plan):
        print(f"one draw    {one_draw_text()}")
    _print_lines(record, of_hosts=False)
    if len({flow.sender for flow in plan.schedule.all_flows}) > 1:
        print("\n".join(flow_routes(plan)))
    print(f"path        {path_line(plan.path)}")
    if whole:
        _print_sources(plan.path)
    _print_stacks(plan, whole)
    if record.has_kernels_by_side:
        print(f"kernels: {record.kernel}")
    _print_lines(record, of_hosts=True)
    print(f"record      {record.directory}")
    files = {"figure": record.directory / FIGURE_FILE, "page": record.directory / PAGE_FILE}
    for name in files if whole else ("page",):
        # Shipped records and those of sets of runs have neither
        if files[name].exists():
            print(f"{name:<11} {files[name]}")
    print(f"fingerprint {record.fingerprint}")
    if not whole:
        print(f"more        farpath show -v {record.directory}")


def _print_lines(record: Record, of_hosts: bool) -> None:
    """Print what mechanisms of the path, or of hosts, did in a run."""
    from farpath.mechanisms.mechanism import OF_HOSTS
    from farpath.mechanisms.registry import mechanisms

    for mechanism in mechanisms():
        if (mechanism.order >= OF_HOSTS) == of_hosts:
            for line in mechanism.lines(record):
                print(line)


def _print_sources(path: Path) -> None:
    """Print each value of a path with its source."""
    width = max(map(len, path.sources), default=0)
    for name, source in path.sources.items():
        value = getattr(path, name)
        if isinstance(value, Mapping):
            value = f"{len(value)} settings"
        if isinstance(value, tuple):
            value = f"{len(value):,} {'routers' if name == 'hops' else 'times'}"
        value_text = f"{value:,}" if isinstance(value, int | float) else str(value)
        print(f"  {name:<{width}} {value_text:>14}  {source}")


def _print_grids(grids: Iterable[Table], end: str = "\n") -> None:
    """Print tables, columns of wide ones below each other, and ``end`` after each."""
    from rich.console import Console

    from farpath.report.table import fitting

    console = Console()
    if not console.is_terminal:
        console = Console(width=PAGE_COLUMNS)
    for grid in grids:
        console.print(*fitting(grid, console.width), sep="\n", end=end)


def _show_programs(directory: FilePath, as_json: bool) -> None:
    """Print the results of programs and of their path."""
    from farpath.mechanisms.registry import mechanism_lines
    from farpath.metrics.run_settings import path_headline
    from farpath.presets.registry import asked_preset
    from farpath.presets.report import record_tables
    from farpath.record.program_record import load_program_record
    from farpath.report.program_overview import program_metrics, program_overview

    record = load_program_record(directory)
    if as_json:
        description = {
            "record": str(directory),
            "fingerprint": record.fingerprint,
            "client": record.programs.client,
            "servers": record.programs.servers,
            "status": record.ending.status,
            "took_s": record.ending.took_s,
            "server_endings": [asdict(server) for server in record.ending.servers],
            "killed_for_memory": record.ending.killed_for_memory,
            "metrics": program_metrics(record),
        }
        if record.preset:
            findings = asked_preset(record.preset).findings(record)
            description["preset"] = record.preset
            description["findings"] = [one.as_dict() for one in findings]
        print(json.dumps(description))
        return
    print(path_headline(record.plan.path))
    _print_grids((*record_tables(record), *program_overview(record)))
    for line in mechanism_lines(record):
        print(line)
    for warning in record.data["warnings"]:
        print(f"warning: {on_one_line(warning)}")
    print(f"output      {directory / 'client.out'}, {directory / 'client.err'}")
    print(f"record      {directory}")
    print(f"fingerprint {record.fingerprint}")


def _show_services(directory: FilePath, as_json: bool) -> None:
    """Print the results of services and of the links between their sites."""
    from farpath.record.service_record import load_service_record
    from farpath.report.service_overview import service_metrics, service_overview

    record = load_service_record(directory)
    if as_json:
        description = {
            "record": str(directory),
            "fingerprint": record.fingerprint,
            **asdict(record.ending),
            "metrics": service_metrics(record),
        }
        print(json.dumps(description))
        return
    _print_grids(service_overview(record))
    for warning in record.data["warnings"]:
        print(f"warning: {on_one_line(warning)}")
    print(f"record      {directory}")
    print(f"fingerprint {record.fingerprint}")


def _print_stacks(plan: Plan, whole: bool) -> None:
    """Print the stacks of a plan, their forms of 2004, the era, and the user's images.

    ``whole``: also the source of each stack.
    """
    from farpath.mechanisms.era.mechanism import era_text, title_of
    from farpath.programs.catalog import catalogue

    for stack in plan.stacks:
        entry = catalogue().get(stack.name)
        words = [entry.title, *([entry.source] if whole else ())] if entry else []
        print(f"stack {': '.join([stack.label, *([', '.join(words)] if words else ())])}")
        if whole and entry and entry.form_2004:
            print(f"  its form of 2004 is {entry.form_2004}: ERA=2004 (--era=2004) runs it")
    print(f"era {era_text(plan.era)}: {title_of(plan.era.name)}")
    for line in _image_lines(plan):
        print(line)


def _image_lines(plan: Plan) -> list[str]:
    """Return a line for each of the user's images with the end hosts that start from it."""
    by_image: dict[HostImage, list[str]] = {}
    for host in plan.hosts:
        if host in plan.images:
            by_image.setdefault(plan.images[host], []).append(host)
    return [
        f"{', '.join(hosts)}: image {image.name}, {image.digest}"
        for image, hosts in by_image.items()
    ]


def show(
    places: Annotated[
        list[FilePath],
        typer.Argument(
            metavar="RECORD", help="Directory of a record; or a capture (pcap, pcapng), or two."
        ),
    ],
    as_json: AsJson = False,
    whole: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also say what columns mean and where each value of the path is from; compare "
            "with the paper where it has such a run.",
        ),
    ] = False,
    graph: Annotated[
        str,
        typer.Option(
            metavar="GRAPHS",
            help="Draw a TCP connection of a capture: stevens (time and sequence numbers), window, "
            "rtt, delay, separated by commas, or all.",
        ),
    ] = "",
    connection: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Its number, or an end as address:port (default: that with most data).",
        ),
    ] = "",
    span: Annotated[
        str, typer.Option(metavar="FROM-TO", help="The part of its time, as in 2s-2.5s.")
    ] = "",
    out: Annotated[
        FilePath, typer.Option(metavar="DIR", help="Directory of picture and page.")
    ] = GRAPHS,
) -> None:
    """Show the results of a record again, without a lab; records of exec too. Draw captures.

    Two captures of one connection give one-way delays, as a record of both hosts does.
    """
    from farpath.record.program_record import EXEC_FILE
    from farpath.record.record import load_record
    from farpath.record.service_record import UP_FILE

    directory = places[0]
    if graph or len(places) > 1 or directory.is_file():
        show_captures(places, graph, connection, span, out, as_json)
        return
    for option, given in (("connection", connection), ("span", span)):
        if given:
            raise BadInputError(
                option=option, given=given, problem="it is of a graph", remedy="add `graph=all`"
            )
    if (directory / EXEC_FILE).is_file():
        _show_programs(directory, as_json)
        return
    if (directory / UP_FILE).is_file():
        _show_services(directory, as_json)
        return
    record = load_record(directory)
    if as_json:
        print(json.dumps(_as_json(record, cached=True, wall_s=0.0)))
    else:
        _print_tables(record, whole)
