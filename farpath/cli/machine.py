"""``farpath preflight`` and ``clean``: what a machine needs for a lab, and what runs left on it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from farpath.cli.shared_options import RESULTS, AsJson, RecordsDir
from farpath.planning.request import DEFAULT_STACK


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(preflight)
    app.command()(clean)


def preflight(
    lab: Annotated[str, typer.Option(metavar="LAB", help="virtual or host.")] = "virtual",
    stack: Annotated[
        str, typer.Option(metavar="STACK", help="Stacks that the flows would run.")
    ] = DEFAULT_STACK,
    as_json: AsJson = False,
) -> None:
    """Check whether this machine can run a lab: one line for each requirement, with its remedy."""
    from farpath.lab import preflight as lab_preflight
    from farpath.lab.platforms import LAB_PLATFORMS
    from farpath.planning.request import check_lab
    from farpath.planning.stack_texts import parse_stacks

    check_lab(lab)
    checks = LAB_PLATFORMS[lab].checks(parse_stacks(stack))
    print(
        json.dumps([asdict(check) for check in checks]) if as_json else lab_preflight.table(checks)
    )
    lab_preflight.require(checks, lab)


def clean(
    out: RecordsDir = RESULTS,
) -> None:
    """Clean up after killed runs, and restore the kernel settings that they changed."""
    from farpath.lab.cleanup import clean as clean_all

    messages = clean_all(out)
    for message in messages:
        print(message)
    if not messages:
        print("nothing is left of killed runs")
