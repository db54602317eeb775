"""The command line: one subcommand for each step from plan to report.

Results go to stdout, progress to stderr. Commands and heavy libraries are imported where they are
used, so that every command starts fast.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path as FilePath
from types import FrameType
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup

from farpath.base.errors import (
    BadInputError,
    FarpathError,
    MachineLacksError,
    on_one_line,
    shortened,
)
from farpath.base.files import require_unicode, resource_errors
from farpath.cli import logs
from farpath.cli.command_groups import all_commands, called_by_make
from farpath.cli.completion import join_values
from farpath.cli.help import with_plain_help
from farpath.cli.streams import ReaderGone, check_stdout, open_streams

INTERRUPTED = 130
#: EX_SOFTWARE of sysexits.h
BUG_STATUS = 70
#: What the dynamic loader says of a shared library that it does not find (ld.so(8)).
NO_LIBRARY = re.compile(r"([\w.+-]+): cannot open shared object file")
#: Packages with the libraries that wheels of Python packages take from the machine.
PACKAGES = {"libstdc++.so.6": "libstdc++6 (Debian, Ubuntu, openSUSE) or libstdc++ (Fedora)"}

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
    """Return farpath's version and commit, and release and origin of the lab's kernel."""
    from farpath import __version__
    from farpath.base.project import IS_CLONE, PROJECT
    from farpath.lab.artifacts import lab_wheel
    from farpath.lab.provenance import git_commit

    try:
        kernel = _lab_of_clone(PROJECT) if IS_CLONE else lab_wheel.origin()
    except MachineLacksError:
        kernel = "no lab built"
    return f"farpath {__version__}, commit {git_commit() or 'unknown'}, {kernel}"


def _lab_of_clone(project: FilePath) -> str:
    from farpath.lab.artifacts.images import find_images

    images = find_images()
    release, built = images.manifests["kernel"]["release"], images.kernel.parents[1]
    return f"lab's kernel {release} of the clone {project}, built in {built}"


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


def command_line() -> TyperGroup:
    """Return the command line: the commands in their groups, each imported when it is called."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for command in all_commands():
        group.add_command(command)
    return with_plain_help(group)


class _EndedBySignal(SystemExit):
    """The end by a signal, with the status that a shell gives it."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def _exit_on_signal(number: int, _frame: FrameType | None) -> NoReturn:
    raise _EndedBySignal(number)


def _remove_stale_shares() -> None:
    """Remove shared directories that killed runs left among temporary files."""
    from farpath.lab.cleanup import remove_stale_shares

    with suppress(OSError):
        remove_stale_shares(FilePath(tempfile.gettempdir()))


def _as_typed(error: FarpathError) -> str:
    """Return an error's message, its options as they were typed: variables if Make runs this."""
    from farpath.planning.option_names import as_variable, typed_message

    return error.spelled(as_variable) if called_by_make() else typed_message(error)


def _require_working_directory() -> None:
    """Raise BadInputError if the working directory is gone, to which file names are relative."""
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise BadInputError(
            problem="the working directory was removed",
            remedy="go to another one with cd, then try again",
        ) from error


def _options_of(error: Exception) -> list[str] | None:
    """Return the options of the command that an error of the parser is about; None if none is."""
    context = getattr(error, "ctx", None)
    if context is None:
        return None
    return [text for parameter in context.command.params for text in parameter.opts]


def _command_of(error: Exception) -> str:
    """Return the name of the command that an error of the parser is about; empty if none is."""
    context = getattr(error, "ctx", None)
    return "" if context is None else str(context.command.name)


def _missing_library(error: BaseException | None) -> str:
    """Return the shared library for want of which an import failed; empty for other errors.

    The import may be of a package that another one needs.
    """
    if error is None:
        return ""
    found = NO_LIBRARY.search(str(error)) if isinstance(error, ImportError) else None
    return found[1] if found else _missing_library(error.__cause__)


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
            status = command_line()(standalone_mode=False) or 0
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
    except _EndedBySignal as end:
        print(f"farpath: ended by {end.name}; nothing half made is left", file=sys.stderr)
        raise
    except (KeyboardInterrupt, typer.Abort):
        print("farpath: interrupted; nothing half made is left", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Exception as error:
        if library := _missing_library(error):
            print(
                f"farpath: this machine has no {library}, which a Python package needs: install "
                f"{PACKAGES.get(library, 'the package that has it')}",
                file=sys.stderr,
            )
            sys.exit(MachineLacksError.exit_status)
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
        if _command_of(error) == "exec":
            from farpath.planning.option_names import as_option, spelled
            from farpath.planning.program_plan import with_reason

            text = spelled(with_reason(text), as_option)
        if message := shortened(text):
            print(f"farpath: {message} (see 'farpath --help')", file=sys.stderr)
        sys.exit(BadInputError.exit_status)
