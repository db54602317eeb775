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
from contextlib import suppress
from pathlib import Path as FilePath
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from farpath.base.errors import (
    BadInputError,
    FarpathError,
    MachineLacksError,
    on_one_line,
    shortened,
)
from farpath.base.files import require_unicode, resource_errors
from farpath.cli import campaign, draw, fit, logs, packetdrill, paper, regress, run, site
from farpath.cli.run_options import DEFAULT_OUT
from farpath.lab.cleanup import remove_stale_shares
from farpath.planning.request import DEFAULT_STACK
from farpath.spec.settings import HOST

if TYPE_CHECKING:
    from farpath.lab.preflight import Check

INTERRUPTED = 130
#: EX_SOFTWARE of sysexits.h
BUG_STATUS = 70

app = typer.Typer(
    name="farpath",
    help="Real transport stacks over emulated long fat paths, in virtual time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


def version_line() -> str:
    """Farpath's version and commit, and the kernel that the lab was built with, if it was."""
    from farpath import __version__
    from farpath.lab.artifacts.images import find_images
    from farpath.lab.provenance import git_commit

    try:
        kernel = f"lab's kernel {find_images().manifests['kernel']['release']}"
    except MachineLacksError:
        kernel = "no lab built"
    return f"farpath {__version__}, commit {git_commit() or 'unknown'}, {kernel}"


@app.callback()
def main_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print version, commit and kernel.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print every command that is run.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no messages.")] = False,
) -> None:
    """Real transport stacks over emulated long fat paths, in virtual time."""
    logs.configure(verbose, quiet)


run.add_to(app)


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
def options(
    markdown: Annotated[bool, typer.Option("--markdown", help="As docs/usage.md has it.")] = False,
) -> None:
    """List the options of a run: units, ranges, defaults, and what Make calls them."""
    from farpath.cli import listing

    print(listing.options_markdown() if markdown else listing.all_options())


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
        from farpath.cli.option_names import named_as_typed

        print(f"farpath: {on_one_line(named_as_typed(error.message))}", file=sys.stderr)
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
        if message := shortened(on_one_line(said())):
            print(f"farpath: {message} (see 'farpath --help')", file=sys.stderr)
        sys.exit(BadInputError.exit_status)
