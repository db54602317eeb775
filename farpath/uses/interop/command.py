"""``farpath interop``: cases of the QUIC interop runner between images, in virtual time."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.base.files import require_directory, require_replaceable, write_text
from farpath.cli.shared_options import RESULTS, AsJson, Cores, ReportsDir

#: Directory of the report below that of the records.
REPORT = "interop"


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(interop)


def interop(
    endpoints: Annotated[
        list[str],
        typer.Argument(
            metavar="ENDPOINT...",
            help="Images of the runner (./quiche.tar, or a name that a local engine knows), "
            "machine:COMMAND, or tcp; NAME=IMAGE names one. Each is server and client of each.",
        ),
    ],
    case: Annotated[
        str | None,
        typer.Option(
            metavar="CASES", help="Cases by name or letters: handshake,G (default: all of them)."
        ),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An endpoint that is a server; several (default: all)."),
    ] = None,
    client: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An endpoint that is a client; several (default: all)."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of all random choices.")] = 1,
    rules: Annotated[
        bool, typer.Option("--rules", help="A broken rule over qlog fails the command too.")
    ] = False,
    junit: Annotated[
        FilePath | None, typer.Option(metavar="FILE", help="File for the results as JUnit XML.")
    ] = None,
    cores: Cores = None,
    out: ReportsDir = RESULTS,
    as_json: AsJson = False,
) -> None:
    """Run cases of the QUIC interop runner between images, or programs, in virtual time.

    An endpoint gets the environment, directories and keys of the runner. A case passes if the
    client has all files and the packets are those of the case. The status is 1 if one failed.
    Endpoints' own logs (qlog) are held against rules of RFC 9000 and RFC 9002.
    """
    from farpath.planning.option_names import typed_message
    from farpath.planning.request import parse_seed
    from farpath.report.junit import junit_xml
    from farpath.report.report import Report, terminal_text
    from farpath.report.table import as_csv
    from farpath.runs.run_set_progress import progress_printer
    from farpath.uses.interop.implementation import chosen
    from farpath.uses.interop.implementation import endpoints as found_endpoints
    from farpath.uses.interop.measure import run_meetings
    from farpath.uses.interop.meeting import meetings
    from farpath.uses.interop.rules_table import (
        broken_rules,
        rule_cases,
        rule_results,
        rules_table,
        unread_logs,
    )
    from farpath.uses.interop.table import (
        junit_cases,
        matrix_table,
        outcome_of,
        reasons,
        results_table,
    )
    from farpath.uses.interop.testcases import asked_cases
    from farpath.uses.interop.verdict import FAILED

    cases = asked_cases(case)
    number = parse_seed(str(seed))
    found = found_endpoints(endpoints)
    met = meetings(chosen(found, server, "server"), chosen(found, client, "client"), cases, number)
    if junit is not None:
        require_replaceable(junit)
        require_directory(junit.parent, "junit")
    report = out / REPORT
    require_directory(out)
    require_directory(report)
    made = run_meetings(met, out, cores, progress_printer("interop"))
    table = results_table(made)
    ruled = rule_results(made.results)
    of_rules = [rules_table(ruled)] if ruled else []
    if junit is not None:
        write_text(
            junit, junit_xml("farpath interop", [*junit_cases(made.results), *rule_cases(ruled)])
        )
    told = Report(
        {f"{each.name}.csv": as_csv(each) for each in (table, *of_rules)},
        terminal_text([results_table(made, all_of_them=False), matrix_table(made), *of_rules])
        + reasons(made)
        + broken_rules(ruled)
        + unread_logs(made.results),
        {
            "cases": table.objects,
            "rules": of_rules[0].objects if of_rules else [],
            "failures": made.failures(typed_message),
        },
        {"records": out, **({"junit": junit} if junit else {})},
    )
    told.write(report)
    told.print(report, as_json)
    if made.failed:
        raise made.failed_error(typed_message)
    failed = any(outcome_of(run) == FAILED for run in made.results)
    if failed or (rules and any(one.broken for one in ruled)):
        raise SystemExit(1)
