"""``farpath exec``: runs programs of the user's on the hosts of a lab."""

from __future__ import annotations

import io
import json
import logging
import math
import os
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from farpath.base.errors import BadInputError, FarpathError
from farpath.base.files import require_directory, require_replaceable, write_text
from farpath.cli.logs import print_paths, print_warnings
from farpath.cli.run_options import with_options
from farpath.cli.shared_options import RESULTS, Cores, RecordsDir
from farpath.planning import program_plan as planning
from farpath.presets.registry import preset_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farpath.lab.exec.program_run import ProgramOutcome, WallTimeoutError
    from farpath.lab.exec.roots import Roots
    from farpath.report.junit import JunitCase
    from farpath.runs.program_runs import ProgramCall, ProgramResult
    from farpath.runs.run_set import RunSet
    from farpath.spec.plan import Plan
    from farpath.spec.programs import Programs

LOG = logging.getLogger(__name__)
DEFAULT_TIMEOUT = "600s"
#: The folder of the table of several runs among their records, and the table's file.
DEFAULT_REPORT, TABLE_FILE = "exec", "exec.csv"
#: Exit status of a program that the limit of its files ended, as shells have it.
TOO_LARGE = 128 + signal.SIGXFSZ
HELPS = {**planning.HELPS, "ip": "Addresses of the hosts: both families, or IPv 4 or 6 alone."}


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    # Options after the client's name are the client's
    app.command("exec", context_settings={"allow_interspersed_args": False})(execute)


@with_options(planning.OPTIONS, {**planning.DEFAULTS, "ip": planning.BOTH_FAMILIES}, HELPS)
def execute(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            show_default=False,
            help="The client and its arguments; it runs on host sender.",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET",
            help=f"Programs of a preset instead, and a verdict: {preset_words()}.",
        ),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="A server, which runs on host receiver: './server --port 80'; several.",
        ),
    ] = None,
    shell: Annotated[
        str | None,
        typer.Option(
            metavar="HOST",
            help="A shell for you on host sender or receiver, in place of a client.",
        ),
    ] = None,
    root: Annotated[
        str,
        typer.Option(
            hidden=True,
            metavar="ROOT",
            help="Files that programs see: those of this machine (machine), or the lab's (lab).",
        ),
    ] = "machine",
    image: Annotated[
        str | None,
        typer.Option(
            metavar="IMAGE", help="An image of yours instead: ./mine.tar, or receiver=./mine.tar."
        ),
    ] = None,
    share: Annotated[
        FilePath | None,
        typer.Option(
            hidden=True,
            metavar="DIR",
            help="Working directory of the programs, which they may read (default: .).",
        ),
    ] = None,
    collect: Annotated[
        FilePath | None,
        typer.Option(
            metavar="DIR", help="Directory in which programs may write files that come back."
        ),
    ] = None,
    timeout: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Longest run of the client in virtual time; then status is 124."
        ),
    ] = DEFAULT_TIMEOUT,
    wall_timeout: Annotated[
        str | None,
        typer.Option(
            hidden=True,
            metavar="TIME",
            help="Longest run of the lab in real time, as in 5min; then status is 124.",
        ),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            hidden=True,
            metavar="VARIABLE",
            help="A variable of the programs: NAME=value, or NAME to pass on yours.",
        ),
    ] = None,
    date: Annotated[
        str,
        typer.Option(
            hidden=True,
            metavar="DATE",
            help="What clocks show at the start, in UTC: a date, with a time or not.",
        ),
    ] = planning.DEFAULT_DATE,
    as_root: Annotated[
        bool, typer.Option("--as-root", hidden=True, help="Run the programs as root of the lab.")
    ] = False,
    user: Annotated[
        str | None,
        typer.Option(
            hidden=True,
            metavar="USER",
            help="Run the programs as this user of their root, as in --user=postgres.",
        ),
    ] = None,
    stdin: Annotated[
        bool | None,
        typer.Option(
            "--stdin/--no-stdin",
            hidden=True,
            help="Whether the client gets this command's stdin, read to its end before the start; "
            "by default it does if that is a pipe or a file.",
        ),
    ] = None,
    wait_for: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PORT", help="Start the client when host receiver listens: tcp:5432; several."
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the result as one JSON object; the record has the output."
        ),
    ] = False,
    junit: Annotated[
        FilePath | None,
        typer.Option(
            hidden=True,
            metavar="FILE",
            help="File for the results as JUnit XML, a case for each run.",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", help="How many seeds each path gets, from --seed on.")
    ] = 1,
    cores: Cores = None,
    memory: Annotated[
        str,
        typer.Option(hidden=True, metavar="SIZE", help="Memory for programs and what they write."),
    ] = "1GiB",
    output_limit: Annotated[
        str,
        typer.Option(
            hidden=True,
            metavar="SIZE",
            help="Largest output of a program, and largest file that it writes.",
        ),
    ] = "1GiB",
    out: RecordsDir = RESULTS,
    **option_values: Any,
) -> None:
    """Run any program over a path, in virtual time, with a server at its other end.

    The client's output is this command's, and so is its exit status. Both directions are alike.
    With several values of options, as in --rtt=20ms,160ms --loss=0,1%, or with --seeds=3 there is a
    run for each combination, and a table; the status is 1 if a client failed.
    """
    from farpath.lab.exec.limits import limits
    from farpath.lab.exec.roots import MACHINE, roots
    from farpath.lab.exec.stdin import read_input
    from farpath.lab.exec.users import current_user, named_user
    from farpath.mechanisms import quantities
    from farpath.planning.plan_warnings import plan_warnings
    from farpath.presets.registry import asked_preset, refuse_beside_preset
    from farpath.runs.axes import split_options
    from farpath.runs.program_runs import ProgramCall, program_set
    from farpath.spec.programs import CLIENT_HOST, SERVER_HOST, TIMEOUT_S_RANGE, Programs

    planning.require_path(option_values)
    asked_of = None
    servers = tuple(planning.parse_command(text, "server") for text in server or ())
    if preset is not None:
        asked_of = asked_preset(preset)
        refuse_beside_preset(
            {"command": command, "server": server, "share": share, "wait_for": wait_for,
             "stdin": stdin or None, "root": None if root == MACHINE else root}
        )  # fmt: skip
        if image is None:
            asked_of.preset.require_programs(asked_of.values)
        commands_of = asked_of.preset.commands(asked_of.values)
        command, servers = list(commands_of.client), commands_of.servers
        share, stdin = asked_of.preset.folder, False
        if asked_of.preset.refuses_root and user is None and not as_root and os.getuid() == 0:
            user = asked_of.preset.account
    planning.require_client(command, shell)
    command = command or []
    timeout_s = quantities.DURATION_S.parse(timeout, "timeout", TIMEOUT_S_RANGE)
    wall_s = (
        math.inf
        if wall_timeout is None
        else quantities.DURATION_S.parse(wall_timeout, "wall_timeout", TIMEOUT_S_RANGE)
    )
    program_bytes = quantities.SIZE_BYTES.parse(memory, "memory", planning.MEMORY_BYTES_RANGE)
    output_bytes = quantities.SIZE_BYTES.parse(
        output_limit, "--output-limit", planning.OUTPUT_BYTES_RANGE
    )
    run_set = program_set(*split_options(option_values), seeds, program_bytes, timeout_s)
    if shell is not None:
        planning.require_still([run.plan for run in run_set.runs])
        _require_no_record(collect=collect, json=as_json or None, junit=junit)
    print_paths(run.plan.path for run in run_set.runs)
    print_warnings(
        dict.fromkeys(
            warning for run in run_set.runs for warning in plan_warnings(run.plan, has_flows=False)
        )
    )
    commands = {CLIENT_HOST: (tuple(command),) if command else (), SERVER_HOST: servers}
    found = roots(root, image, share, env or (), commands)
    if user is not None and as_root:
        raise BadInputError(
            problem=f"`user` is '{user}' beside `as_root`", remedy="give one of them"
        )
    who = current_user(as_root) if user is None else named_user(user, found.files)
    date_s = planning.parse_date_s(date)
    ports = commands_of.ports if asked_of else planning.parse_wait_for(wait_for or ())
    if junit is not None:
        require_replaceable(junit)
        require_directory(junit.parent, "junit")
    given = read_input(0, False if shell else stdin)
    is_one = len(run_set.runs) == 1
    programs = Programs(
        client=tuple(command),
        servers=servers,
        places=found.with_variables(who.variables),
        user=who.user,
        group=who.group,
        groups=who.groups,
        timeout_s=timeout_s,
        share=str(found.share or ""),
        date_s=date_s,
        joined=is_one and not as_json and not asked_of and _go_to_one_place(sys.stdout, sys.stderr),
        collect=_collected(collect, {place.directory for place in found.places.values()}),
        input=given.kind,
        input_sha256=given.sha256,
        limits=limits(output_bytes),
        memory_bytes=program_bytes,
        wait_for=ports,
    )
    if shell is not None:
        (run,) = run_set.with_images(found.images).runs
        raise SystemExit(_run_shell(run.plan, programs, shell, found, out))
    asked = _Asked(
        run_set.with_images(found.images),
        ProgramCall(
            *(programs, found.share, collect, given.data, wall_s),
            preset=asked_of.text if asked_of else "",
        ),
        *(out, memory, output_limit, output_bytes, junit, as_json),
    )
    status = _run_one(asked) if is_one else _run_several(asked, cores)
    if status:
        # Not as an exit of typer's, where 130 means that this command was interrupted
        raise SystemExit(status)


def _require_no_record(**given: object) -> None:
    """Raise BadInputError for an option whose result would be a record's: a shell leaves none."""
    for name, value in given.items():
        if value is not None:
            raise BadInputError(
                option="shell",
                problem=f"it leaves no record, of which `{name}` has a part",
                remedy=f"leave `{name}` out, or give a client in place of the shell",
            )


def _run_shell(plan: Plan, programs: Programs, host: str, roots: Roots, out: FilePath) -> int:
    """Run the user's lines on a host; return the status of the shell."""
    from farpath.cli.shell import line_reader
    from farpath.lab.exec.end_shell import run_end_shell

    LOG.info(f"exec: a shell on host {host}; the clock stands while you write, Ctrl-D ends")
    return run_end_shell(
        *(plan, programs, host, roots.share, out, sys.stdout.buffer, sys.stderr.buffer),
        line_reader(f"{host}> "),
    )


@dataclass(frozen=True)
class _Asked:
    """What was asked for: the runs, the programs, and the options by which results are told."""

    run_set: RunSet
    call: ProgramCall
    out: FilePath
    memory: str
    output_limit: str
    output_bytes: int
    junit: FilePath | None
    as_json: bool

    @property
    def suite(self) -> str:
        """The suite of all runs in JUnit XML: the preset's name, or the client's."""
        return self.call.preset.partition(":")[0] or FilePath(self.call.programs.client[0]).name

    def write_junit(self, cases: Sequence[JunitCase]) -> None:
        """Write the file of JUnit XML if there is to be one."""
        from farpath.report.junit import junit_xml

        if self.junit is not None:
            write_text(self.junit, junit_xml("farpath exec", cases))


def _run_one(asked: _Asked) -> int:
    """Run the programs with the client's output as this command's; return its status."""
    from farpath.lab.exec.program_run import WallTimeoutError, run_programs
    from farpath.record.record_directory import short_fingerprint
    from farpath.report.tables.program_results import ended_case, failed_case
    from farpath.runs.program_runs import program_result
    from farpath.spec.programs import TIMED_OUT

    (run,), call = asked.run_set.runs, asked.call
    name = ", ".join(f"{name}={value}" for name, value in (run.request or {}).items())
    with open(os.devnull, "wb") as nowhere:
        is_silent = asked.as_json or call.preset
        streams = (nowhere, nowhere) if is_silent else (sys.stdout.buffer, sys.stderr.buffer)
        try:
            outcome = run_programs(
                *(run.plan, call.of(run), asked.out, call.share, call.collect),
                *streams,
                watch=_tell_server_end,
                stdin=call.stdin,
                wall_s=call.wall_s,
                preset=call.preset,
            )
        except FarpathError as error:
            if isinstance(error, WallTimeoutError) and asked.as_json:
                print(json.dumps(_result_so_far(error)))
            asked.write_junit([failed_case(asked.suite, name, error)])
            raise
    ending = outcome.ending
    if ending.status == TIMED_OUT and ending.took_s >= call.programs.timeout_s:
        LOG.info(
            f"the client did not end within {call.programs.timeout_s:g} virtual s (--timeout): it "
            "was ended"
        )
    if ending.killed_for_memory:
        memory_bytes = call.programs.memory_bytes
        LOG.warning(_without_memory(ending.killed_for_memory, asked.memory, memory_bytes))
    if warning := _at_output_limit(outcome, asked.output_limit, asked.output_bytes):
        LOG.warning(warning)
    LOG.info(
        f"exec: status {ending.status} after {ending.took_s:.3f} virtual s, record "
        f"{outcome.directory}, fingerprint {short_fingerprint(outcome.fingerprint)}"
    )
    if call.preset:
        result = _with_verdict(outcome.directory, asked.as_json)
    else:
        result = program_result(outcome.directory, ending)
    asked.write_junit([ended_case(asked.suite, name, result)])
    if asked.as_json:
        of_preset = {"findings": [one.as_dict() for one in result.findings]} if call.preset else {}
        print(json.dumps({**_result(outcome), **of_preset}))
    return ending.status or int(not result.passed)


def _with_verdict(directory: FilePath, as_json: bool) -> ProgramResult:
    """Write and print the verdict on a preset's record; return its result."""
    from farpath.presets.report import write_verdict
    from farpath.record.program_record import VERDICT_DIR, load_program_record

    result, report = write_verdict(load_program_record(directory))
    if not result.findings:
        LOG.warning(f"the client failed, and there is no verdict: {_last_line(result.messages)}")
    elif not as_json:
        report.print(directory / VERDICT_DIR, as_json=False)
    return result


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it said nothing"])[-1]


def _run_several(asked: _Asked, cores: int | None) -> int:
    """Run the programs over each path, and print a table; return 1 if a client failed, or 0."""
    from farpath.planning.option_names import typed_message
    from farpath.presets.report import with_verdict
    from farpath.report.report import Report, terminal_text
    from farpath.report.table import as_csv
    from farpath.report.tables.program_results import junit_cases, program_table
    from farpath.runs.program_runs import make_program_runs, measured
    from farpath.runs.run_set_progress import progress_printer

    report = asked.out / DEFAULT_REPORT
    require_directory(asked.out)
    require_directory(report)
    outcome = make_program_runs(
        *(asked.run_set, asked.call, asked.out, cores, progress_printer("exec")),
        measure=with_verdict if asked.call.preset else measured,
    )
    table = program_table(outcome)
    asked.write_junit(junit_cases(asked.suite, outcome.results))
    made = Report(
        {TABLE_FILE: as_csv(table)},
        terminal_text([table]),
        {"runs": table.objects, "failures": outcome.failures(typed_message)},
        {"records": asked.out, **({"junit": asked.junit} if asked.junit else {})},
    )
    made.write(report)
    made.print(report, asked.as_json)
    if outcome.failed:
        raise outcome.failed_error(typed_message)
    return int(any(not run.value.passed for run in outcome.runs))


def _result(outcome: ProgramOutcome) -> dict[str, Any]:
    """Return the programs' ends and the place of their output, as plain values."""
    return {
        "record": str(outcome.directory),
        "fingerprint": outcome.fingerprint,
        **asdict(outcome.ending),
        "outputs": _output_bytes(outcome.directory),
    }


def _result_so_far(error: WallTimeoutError) -> dict[str, Any]:
    """Return the result without a record of programs that were ended, as plain values."""
    return {
        "record": None,
        "fingerprint": None,
        "status": error.exit_status,
        "took_s": error.took_s,
        "servers": (),
        "killed_for_memory": 0,
        "outputs": _output_bytes(error.output),
        "output_directory": str(error.output),
    }


def _output_bytes(directory: FilePath) -> dict[str, int]:
    """Return the sizes of the files with the programs' output, in bytes."""
    outputs = sorted(directory.glob("*.out")) + sorted(directory.glob("*.err"))
    return {file.name: file.stat().st_size for file in outputs}


def _at_output_limit(outcome: ProgramOutcome, limit: str, limit_bytes: int) -> str:
    """Return the remedy for programs that reached their output limit; empty if none did."""
    full = [name for name, size in _output_bytes(outcome.directory).items() if size >= limit_bytes]
    if not full and outcome.ending.status != TOO_LARGE:
        return ""
    more = -(-3 * limit_bytes // (1 << 30))
    return (
        f"{', '.join(full) or 'a file'} has --output-limit={limit}, and what exceeds it is lost; "
        f"SIGXFSZ ends a program then (status 153): give more, as in --output-limit={more}GiB"
    )


def _tell_server_end(event: dict[str, Any]) -> None:
    """Say that a server has ended while the client runs."""
    if event["event"] == "server-ended":
        LOG.warning(
            f"the {event['label']} ended with status {event['status']} while the client ran, at "
            f"{event['t_s']:.3f} virtual s: {event['said']}"
        )


def _without_memory(killed: int, memory: str, program_bytes: int) -> str:
    """Return the remedy for programs that were killed for their memory."""
    processes = "a process was" if killed == 1 else f"{killed} processes were"
    from farpath.lab.exec.program_run import more_memory

    return (
        f"the programs took more than --memory={memory}, and {processes} killed (status 137): give "
        f"more, as in --memory={more_memory(program_bytes)}"
    )


def _go_to_one_place(stdout: TextIO, stderr: TextIO) -> bool:
    """Whether two streams are the same file or terminal, as with 2>&1."""
    try:
        return os.path.sameopenfile(stdout.fileno(), stderr.fileno())
    except io.UnsupportedOperation:
        return False


def _collected(directory: FilePath | None, working: set[str]) -> str:
    """Return the name of the directory that comes back; it is empty inside, so it holds no input.

    Raises BadInputError if programs work in it, and as ``require_directory``.
    """
    if directory is None:
        return ""
    require_directory(directory, "collect")
    path = os.path.abspath(directory)
    for place in working:
        if os.path.commonpath([path, place]) == path:
            raise BadInputError(
                option="collect",
                given=str(directory),
                problem=f"it is empty at first, and programs work in {place}",
                remedy="give a directory of its own, as in `collect=out`",
            )
    return path
