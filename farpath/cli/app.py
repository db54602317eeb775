"""The command line: one subcommand per step of the pipeline.

stdout is for results, stderr for progress. Heavy libraries are imported where they
are used, so that every command answers at once.
"""

from __future__ import annotations

import dataclasses
import io
import json
import signal
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path as FilePath
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from farpath.base.errors import BadInputError, FarpathError, shortened
from farpath.base.files import require_unicode, resource_errors
from farpath.cli import campaign, draw, fit, packetdrill, paper, regress, site
from farpath.lab.cleanup import remove_stale_shares
from farpath.planning.request import DEFAULT_REGION, DEFAULT_STACK
from farpath.spec.schedule import SEVEN_REGIONS
from farpath.spec.settings import HOST

if TYPE_CHECKING:
    from farpath.lab.preflight import Check
    from farpath.lab.run import Outcome
    from farpath.record.record import Record
    from farpath.spec.host_image import HostImage
    from farpath.spec.plan import Plan

INTERRUPTED = 130
#: EX_SOFTWARE of sysexits.h
BUG_STATUS = 70
DEFAULT_OUT = "results"
#: Width of tables where no terminal tells its own.
PAGE_COLUMNS = 120

app = typer.Typer(
    name="farpath",
    help="Real transport stacks over emulated long fat paths, in virtual time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Text = Annotated[str | None, typer.Option()]


@app.command()
def run(
    path: Annotated[str | None, typer.Option(help="A named path: cern, ufl, caltech.")] = None,
    rtt: Annotated[str | None, typer.Option(help="Base round-trip time: 164ms.")] = None,
    rate: Annotated[str | None, typer.Option(help="Bottleneck rate: 450Mbit/s.")] = None,
    buffer: Annotated[str | None, typer.Option(help="Bottleneck buffer: 10.5MB.")] = None,
    loss: Annotated[str | None, typer.Option(help="Random loss: 2e-6 or 0.01%.")] = None,
    drop: Annotated[
        str | None, typer.Option(help="Packets to lose: every:1000, at:30s, ...")
    ] = None,
    background: Annotated[
        str | None,
        typer.Option(help="Part of the rate for other traffic, 25% or none, or cbr:200Mbit."),
    ] = None,
    jitter: Annotated[
        str | None, typer.Option(help="How far a packet's delay may be off: 1ms.")
    ] = None,
    reorder: Annotated[
        str | None, typer.Option(help="Packets that overtake all others: 0.1%.")
    ] = None,
    duplicate: Annotated[str | None, typer.Option(help="Packets that arrive twice: 0.1%.")] = None,
    mtu: Annotated[str | None, typer.Option(help="IP packet size in bytes: 1500.")] = None,
    window: Annotated[
        str | None, typer.Option(help="The largest window that receivers offer: 16MiB.")
    ] = None,
    sysctl: Annotated[
        str | None, typer.Option(help="Settings of end hosts: net.ipv4.tcp_sack=0,...")
    ] = None,
    acks: Annotated[
        str | None, typer.Option(help="delayed (each second packet's at once) or each.")
    ] = None,
    topology: Annotated[
        str | None, typer.Option(help="dumbbell, or parking-lot:3 for so many bottlenecks.")
    ] = None,
    senders: Annotated[
        str | None,
        typer.Option(help="Further senders, one a word: 'rtt=172ms mtu=1500,rtt=120ms'."),
    ] = None,
    reverse: Annotated[
        str | None, typer.Option(help="Stacks of flows in the other direction: reno, 2xreno.")
    ] = None,
    ip: Annotated[str | None, typer.Option(help="Version of IP: 4 or 6.")] = None,
    stack: Annotated[
        str,
        typer.Option(
            help="A name of 'farpath stacks', or name:parameter=value,...; of several flows "
            "htcp+reno, udt+4xreno."
        ),
    ] = DEFAULT_STACK,
    schedule: Annotated[
        str, typer.Option(help="seven-regions, together (all at once) or joining.")
    ] = SEVEN_REGIONS,
    era: Annotated[
        str | None,
        typer.Option(help="Hosts and stacks of 2004, or modern; the stack's own if absent."),
    ] = None,
    region: Annotated[str, typer.Option(help="Length of one region.")] = DEFAULT_REGION,
    sender_image: Annotated[
        str | None,
        typer.Option(help="An image for the hosts, ./mine.tar, or for one, receiver=./mine.tar."),
    ] = None,
    seed: Annotated[str, typer.Option(help="Decides every random choice.")] = "1",
    trace: Annotated[
        str | None, typer.Option(help="How often to note each TCP connection's state: 10ms.")
    ] = None,
    lab: Annotated[str, typer.Option(help="virtual, or host: this machine's kernel.")] = "virtual",
    clock: Annotated[
        str | None,
        typer.Option(help="virtual, cpu or wall; of the host lab wall. Default: the first."),
    ] = None,
    out: Annotated[FilePath, typer.Option(help="Where records go.")] = FilePath(DEFAULT_OUT),
    force: Annotated[bool, typer.Option("--force", help="Run even if recorded.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a test, of seven regions if not said otherwise, and show what its flows got."""
    from farpath.lab.progress import RunProgress
    from farpath.lab.run import run as run_plan
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.plan_warnings import plan_warnings
    from farpath.planning.request import RunRequest
    from farpath.report.html.run_page import save_pictures
    from farpath.spec.labels import stacks_label

    asked = RunRequest(
        path, rtt, rate, buffer, loss, drop, background, jitter, reorder, duplicate, mtu, window,
        sysctl, acks, topology, senders, reverse, ip, stack, schedule, era, region, seed, lab,
        clock, sender_image, trace,
    )  # fmt: skip
    plan = asked.plan(user_parts=BuiltParts(asked.lab))
    print(f"path {plan.path.name}: {plan.path.title}", file=sys.stderr)
    for line in _image_lines(plan):
        print(line, file=sys.stderr)
    for warning in plan_warnings(plan):
        print(f"warning: {warning}", file=sys.stderr)
    label = f"{plan.path.name} {stacks_label(plan.schedule)}"
    kind = "s" if plan.settings.clock == "wall" else "virtual s"
    with RunProgress(label, plan.schedule.duration_s, kind) as progress:
        outcome = run_plan(plan, out, force, progress.watch, finish=save_pictures)
    _report(outcome, as_json)


def _report(outcome: Outcome, as_json: bool) -> None:
    from farpath.record.record import load_record

    record = load_record(outcome.directory)
    if as_json:
        print(json.dumps(_as_json(record, outcome)))
        return
    _print_tables(record)
    if outcome.cached:
        print("already recorded: shown from there; FORCE=1 (--force) runs it again")
    else:
        speed = record.plan.schedule.duration_s / outcome.wall_s
        print(f"ran in {outcome.wall_s:.1f} s, {speed:.1f}x real time, the lab's start included")


def _as_json(record: Record, outcome: Outcome) -> dict[str, Any]:
    from farpath.report.overview import metrics_of

    return {
        "record": str(record.directory),
        "fingerprint": record.fingerprint,
        "cached": outcome.cached,
        "wall_s": outcome.wall_s,
        "images": {host: image.digest for host, image in record.plan.images.items()},
        "metrics": metrics_of(record),
    }


def _print_tables(record: Record) -> None:
    from rich.console import Console

    from farpath.planning.network import flow_routes
    from farpath.report.html.run_page import FIGURE_FILE, PAGE_FILE
    from farpath.report.overview import overview
    from farpath.report.tables.regions import fitting

    plan = record.plan
    print(f"path {plan.path.name}: {plan.path.title}")
    for name, source in plan.path.sources.items():
        value = getattr(plan.path, name)
        if isinstance(value, Mapping):
            value = f"{len(value)} settings"
        shown = f"{value:,}" if isinstance(value, int | float) else str(value)
        print(f"  {name:<12} {shown:>14}  {source}")
    for found in record.droppers:
        print(f"drop {found['dropper']}: {found['lost']:,} of {found['seen']:,} packets")
    if len({flow.sender for flow in plan.schedule.all_flows}) > 1:
        print("\n".join(flow_routes(plan)))
    _print_stacks(plan)
    console = Console()
    if not console.is_terminal:
        console = Console(width=PAGE_COLUMNS)
    for grid in overview(record):
        console.print(*fitting(grid, console.width), "", sep="\n")
    for warning in record.data["warnings"]:
        print(f"warning: {_on_one_line(warning)}")
    if record.trace is not None:
        every_ms = plan.settings.trace_interval_s * 1e3
        print(f"trace       {len(record.trace):,} samples, one each {every_ms:g} ms")
    print(f"record      {record.directory}")
    print(f"figure      {record.directory / FIGURE_FILE}")
    print(f"page        {record.directory / PAGE_FILE}")
    print(f"fingerprint {record.fingerprint}")


def _print_stacks(plan: Plan) -> None:
    """What was run and on which hosts, and the other form that there is of it."""
    from farpath.planning.era_catalog import title_of
    from farpath.planning.stack_catalog import catalogue

    for stack in plan.stacks:
        entry = catalogue().get(stack.name)
        print(
            f"stack {stack.label}: {entry.title}, {entry.source}"
            if entry
            else f"stack {stack.label}"
        )
        if entry and entry.form_2004:
            print(f"  its form of 2004 is {entry.form_2004}: ERA=2004 (--era=2004) runs it")
    print(f"era {plan.era.name}: {title_of(plan.era.name)}")
    for line in _image_lines(plan):
        print(line)


def _image_lines(plan: Plan) -> list[str]:
    """Which end hosts start from which image of the user's."""
    hosts: dict[HostImage, list[str]] = {}
    for host in plan.hosts:
        if host in plan.images:
            hosts.setdefault(plan.images[host], []).append(host)
    return [
        f"{', '.join(named)}: image {image.name}, {image.digest}" for image, named in hosts.items()
    ]


@app.command()
def show(
    directory: Annotated[FilePath, typer.Argument(help="A record's directory.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a record again, without a lab."""
    from farpath.lab.run import Outcome
    from farpath.record.record import load_record

    record = load_record(directory)
    if as_json:
        print(json.dumps(_as_json(record, Outcome(directory, cached=True, wall_s=0.0))))
    else:
        _print_tables(record)


@app.command()
def stacks(
    name: Annotated[str | None, typer.Argument(help="Explain this one's parameters.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the stacks a flow can run, with their parameters and defaults."""
    from farpath.cli import listing
    from farpath.planning.stack_catalog import catalogue

    if as_json:
        print(json.dumps({name: dataclasses.asdict(entry) for name, entry in catalogue().items()}))
    else:
        print(listing.all_stacks() if name is None else listing.one_stack(name))


@app.command()
def eras(
    markdown: Annotated[bool, typer.Option("--markdown", help="As docs/eras.md has it.")] = False,
) -> None:
    """List what the hosts of 2004 were, what is set back, and what cannot be."""
    from farpath.cli import listing

    print(listing.eras_markdown() if markdown else listing.all_eras())


@app.command()
def paths() -> None:
    """List the named paths."""
    from farpath.planning.path_files import named_paths, path_by_name

    known = [path_by_name(name) for name in named_paths()]
    name_letters = max(len(path.name) for path in known)
    title_letters = max(len(path.title) for path in known)
    for path in known:
        print(
            f"{path.name:<{name_letters}}  {path.title:<{title_letters}}  RTT {path.rtt_ms:g} ms, "
            f"{path.rate_bps / 1e6:g} Mbit/s, buffer {path.buffer_bytes / 1e6:g} MB, "
            f"loss {path.loss:g}, background {path.background or 'none'}"
        )


@app.command()
def preflight(
    lab: Annotated[str, typer.Option(help="virtual or host.")] = "virtual",
    stack: Annotated[str, typer.Option(help="What the flows would run.")] = DEFAULT_STACK,
) -> None:
    """Check what a lab needs of this machine: one line for each thing, and its remedy."""
    from farpath.lab import preflight as checks
    from farpath.planning.request import check_lab

    check_lab(lab)
    found = _host_checks(stack) if lab == HOST else _virtual_checks(stack)
    print(checks.table(found))
    checks.require(found, lab)


def _virtual_checks(stack: str) -> list[Check]:
    from farpath.lab import preflight as preflight_of_lab
    from farpath.lab.artifacts.user_stacks import is_own
    from farpath.planning.stack_catalog import resolve_stack
    from farpath.planning.stack_texts import parse_stacks

    for text in parse_stacks(stack):
        # A stack of the user's is compiled for the lab's kernel, which may be what is missing.
        if not is_own(text):
            resolve_stack(text)
    return preflight_of_lab.virtual_checks()


def _host_checks(stack: str) -> list[Check]:
    from farpath.lab import host
    from farpath.lab import preflight as preflight_of_lab
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.stack_catalog import resolve_stack
    from farpath.planning.stack_texts import parse_stacks

    parts = BuiltParts(HOST)
    stacks = [parts.stack(text) or resolve_stack(text) for text in parse_stacks(stack)]
    return [*host.checks_of_stacks(stacks), *preflight_of_lab.further_checks()]


@app.command()
def clean(
    out: Annotated[FilePath, typer.Option(help="Where records go.")] = FilePath(DEFAULT_OUT),
) -> None:
    """Remove what killed runs left, and give back the kernel's settings they changed."""
    from farpath.lab.cleanup import clean as clean_all

    done = clean_all(out)
    for sentence in done:
        print(sentence)
    if not done:
        print("nothing is left of killed runs")


@app.command()
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Short runs only.")] = False,
    scale: Annotated[bool, typer.Option("--scale", help="Only what scale costs.")] = False,
) -> None:
    """Measure the lab: speed, memory, accuracy, beside what it is compared with, and at scale."""
    from farpath.bench import measure, render

    if quick and scale:
        raise BadInputError("--quick measures nothing of scale: give --quick or --scale")
    figures = measure(quick, scale)
    print(json.dumps(figures) if as_json else render(figures))


campaign.add_to(app)
paper.add_to(app)
site.add_to(app)
fit.add_to(app)
draw.add_to(app)
regress.add_to(app)
packetdrill.add_to(app)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _sweep_temporary_files() -> None:
    """Remove what killed runs left among temporary files."""
    with suppress(OSError):
        remove_stale_shares(FilePath(tempfile.gettempdir()))


def _on_one_line(text: str) -> str:
    """A text that may repeat what was given, its line ends and control characters escaped."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _print_anything() -> None:
    """Let stdout and stderr take names and titles that their encoding lacks, escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Entry point: errors become one line and an exit status, never a traceback.

    A shell without job control starts what is in its background with SIGINT ignored, so that a
    terminal's Ctrl-C ends only what is in its foreground; that stays so.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    _print_anything()
    try:
        _sweep_temporary_files()
        for argument in sys.argv[1:]:
            require_unicode(argument)
        with resource_errors():
            status = app(standalone_mode=False) or 0
        # Some versions of typer return the status of an interruption, others raise.
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(status)
    except FarpathError as error:
        from farpath.planning.options import named_as_typed

        print(f"farpath: {_on_one_line(named_as_typed(error.message))}", file=sys.stderr)
        if error.detail:
            print("\n".join(f"  | {line}" for line in error.detail.splitlines()), file=sys.stderr)
        sys.exit(error.exit_status)
    except (KeyboardInterrupt, typer.Abort):
        print("farpath: interrupted; nothing half made is left", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        # The parser of options raises click's exceptions, by whichever name typer
        # brings them; anything else is our own fault.
        said = getattr(error, "format_message", None)
        if said is None:
            # Python's own status, 1, is that of a suite in which something changed
            traceback.print_exc()
            sys.exit(BUG_STATUS)
        # Without arguments the help has been printed, and there is nothing to add.
        if message := shortened(_on_one_line(said())):
            print(f"farpath: {message} (see 'farpath --help')", file=sys.stderr)
        sys.exit(BadInputError.exit_status)
