"""The command line: one subcommand for each step from plan to report.

Results go to stdout, progress to stderr. Heavy libraries are imported where they are used, so
that every command starts fast.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pkgutil
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from importlib import import_module
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
from farpath.cli import (
    campaign,
    draw,
    exec,
    logs,
    packetdrill,
    paper,
    records,
    run,
    shell,
    site,
    sweep,
)
from farpath.cli.completion import completion, join_values
from farpath.cli.run_options import DEFAULT_OUT
from farpath.cli.streams import ReaderGone, check_stdout, open_streams
from farpath.lab.cleanup import remove_stale_shares
from farpath.planning.request import DEFAULT_STACK
from farpath.programs.catalog import catalogue
from farpath.spec.settings import HOST

if TYPE_CHECKING:
    from farpath.lab.preflight import Check

INTERRUPTED = 130
#: Packages whose folders bring commands of their own.
WITH_COMMANDS = ("farpath.uses", "benchmarks")
#: Environment variable that the Makefile sets, and its value.
CALLER, MAKE = "FARPATH_CALLER", "make"
#: EX_SOFTWARE of sysexits.h
BUG_STATUS = 70

app = typer.Typer(
    name="farpath",
    help="Real transport stacks over emulated long fat paths, in virtual time.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        print(version_line())
        raise typer.Exit


def version_line() -> str:
    """Return farpath's version and commit, and the release of the lab's kernel if it is built."""
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
            "-V",
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
sweep.add_to(app)


@app.command()
def stacks(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A stack whose parameters are explained.", autocompletion=completion(catalogue)
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the stacks that a flow can run, with their parameters and defaults."""
    from farpath.cli import listing

    if as_json:
        print(json.dumps({name: dataclasses.asdict(entry) for name, entry in catalogue().items()}))
    else:
        print(listing.all_stacks() if name is None else listing.one_stack(name))


@app.command()
def eras(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table of docs/reference/eras.md.")
    ] = False,
) -> None:
    """List how hosts of 2004 differ from today's: each setting, and the limits of the lab."""
    from farpath.cli import listing

    print(listing.eras_markdown() if markdown else listing.all_eras())


@app.command()
def options(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table of docs/reference/usage.md.")
    ] = False,
) -> None:
    """List the options of a run with their units, ranges, defaults and variables of Make."""
    from farpath.cli import listing

    print(listing.options_markdown() if markdown else listing.all_options())


@app.command()
def paths() -> None:
    """List the named paths."""
    from farpath.planning.path_files import named_paths, path_by_name

    all_paths = [path_by_name(name) for name in named_paths()]
    name_width = max(len(path.name) for path in all_paths)
    title_width = max(len(path.title) for path in all_paths)
    for path in all_paths:
        changing = ", changing" if path.is_changing else ""
        print(
            f"{path.name:<{name_width}}  {path.title:<{title_width}}  RTT {path.rtt_ms:g} ms, "
            f"{path.rate_bps / 1e6:g} Mbit/s{changing}, buffer {path.buffer_bytes / 1e6:g} MB, "
            f"loss {path.loss:g}, background {path.background or 'none'}"
        )


@app.command()
def preflight(
    lab: Annotated[str, typer.Option(help="virtual or host.")] = "virtual",
    stack: Annotated[str, typer.Option(help="Stacks that the flows would run.")] = DEFAULT_STACK,
) -> None:
    """Check whether this machine can run a lab: one line for each requirement, with its remedy."""
    from farpath.lab import preflight as lab_preflight
    from farpath.planning.request import check_lab

    check_lab(lab)
    checks = _host_checks(stack) if lab == HOST else _virtual_checks(stack)
    print(lab_preflight.table(checks))
    lab_preflight.require(checks, lab)


def _virtual_checks(stack: str) -> list[Check]:
    from farpath.lab import preflight as lab_preflight
    from farpath.lab.artifacts.user_stacks import is_own
    from farpath.planning.stack_texts import parse_stacks
    from farpath.programs.catalog import resolve_stack

    for text in parse_stacks(stack):
        # A user's own stack is not resolved: it is compiled for the lab's kernel, which may be
        # missing.
        if not is_own(text):
            resolve_stack(text)
    return lab_preflight.virtual_checks()


def _host_checks(stack: str) -> list[Check]:
    from farpath.lab import host
    from farpath.lab import preflight as lab_preflight
    from farpath.lab.user_parts import BuiltParts
    from farpath.planning.stack_texts import parse_stacks
    from farpath.programs.catalog import resolve_stack

    parts = BuiltParts(HOST)
    stacks = [parts.stack(text) or resolve_stack(text) for text in parse_stacks(stack)]
    return [*host.checks_of_stacks(stacks), *lab_preflight.further_checks()]


@app.command()
def clean(
    out: Annotated[FilePath, typer.Option(help="Directory of the records.")] = FilePath(
        DEFAULT_OUT
    ),
) -> None:
    """Remove files of killed runs, and restore the kernel's settings that they changed."""
    from farpath.lab.cleanup import clean as clean_all

    messages = clean_all(out)
    for message in messages:
        print(message)
    if not messages:
        print("nothing is left of killed runs")


campaign.add_to(app)
paper.add_to(app)
records.add_to(app)
site.add_to(app)
draw.add_to(app)
packetdrill.add_to(app)
exec.add_to(app)
shell.add_to(app)
for package in WITH_COMMANDS:
    for found in pkgutil.iter_modules(import_module(package).__path__):
        import_module(f"{package}.{found.name}.command").add_to(app)


def _exit_on_signal(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _remove_stale_shares() -> None:
    """Remove shared directories that killed runs left among temporary files."""
    with suppress(OSError):
        remove_stale_shares(FilePath(tempfile.gettempdir()))


def _as_typed(error: FarpathError) -> str:
    """Return an error's message, its options as they were typed: variables if Make runs this."""
    from farpath.planning.option_names import as_variable, typed_message

    return error.spelled(as_variable) if os.environ.get(CALLER) == MAKE else typed_message(error)


def _require_working_directory() -> None:
    """Raise BadInputError if the working directory is gone, to which file names are relative."""
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise BadInputError(
            "the working directory was removed: go to another one with cd, then try again"
        ) from error


def _options_of(error: Exception) -> list[str] | None:
    """Return the options of the command that an error of the parser is about; None if none is."""
    context = getattr(error, "ctx", None)
    if context is None:
        return None
    return [text for parameter in context.command.params for text in parameter.opts]


def main() -> None:
    """Run the command line; a user's error becomes one line and an exit status, no traceback.

    SIGINT is left as it is. A shell without job control starts background commands with SIGINT
    ignored, so that Ctrl-C ends the foreground only.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit_on_signal)
    open_streams()
    join_values(os.environ)
    try:
        _require_working_directory()
        _remove_stale_shares()
        for argument in sys.argv[1:]:
            require_unicode(argument)
        with resource_errors():
            status = app(standalone_mode=False) or 0
        # Some versions of typer return the status of an interruption, others raise it.
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        if not status:
            check_stdout()
        sys.exit(status)
    except ReaderGone as error:
        sys.exit(error.exit_status)
    except FarpathError as error:
        print(f"farpath: {on_one_line(_as_typed(error))}", file=sys.stderr)
        if error.detail:
            print("\n".join(f"  | {line}" for line in error.detail.splitlines()), file=sys.stderr)
        sys.exit(error.exit_status)
    except (KeyboardInterrupt, typer.Abort):
        print("farpath: interrupted; nothing half made is left", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        # typer raises click's exceptions for bad options, under names that depend on its
        # version; they have format_message. Any other exception is a bug of farpath.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            # Status 1, which Python would give, is that of a suite in which a run changed.
            traceback.print_exc()
            sys.exit(BUG_STATUS)
        # The message is empty if typer has already printed the help.
        from farpath.planning.option_names import with_meaning_elsewhere

        text = with_meaning_elsewhere(
            on_one_line(format_message()), _options_of(error), sys.argv[1:]
        )
        if message := shortened(text):
            print(f"farpath: {message} (see 'farpath --help')", file=sys.stderr)
        sys.exit(BadInputError.exit_status)
