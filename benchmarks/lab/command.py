"""``farpath bench``: measures the lab, next to its goals."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated

import typer

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.cli.shared_options import AsJson


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(bench)


def bench(
    as_json: AsJson = False,
    quick: Annotated[bool, typer.Option("--quick", help="Make short runs only.")] = False,
    scale: Annotated[
        bool, typer.Option("--scale", help="Measure the cost of large runs only.")
    ] = False,
    idle_rtts: Annotated[
        int,
        typer.Option(
            "--idle-rtts",
            metavar="N",
            min=0,
            help="Check the idle RTTs of that many drawn ways only.",
        ),
    ] = 0,
) -> None:
    """Measure the lab's speed, memory and accuracy, compare it with others, and make large runs."""
    from benchmarks.lab.measure import measure
    from benchmarks.lab.report import render

    if quick and scale:
        raise BadInputError(problem="`quick` makes no large runs", remedy="give `quick` or `scale`")
    if idle_rtts:
        from benchmarks.lab.idle_rtt import measure_idle_rtts

        tally = measure_idle_rtts(idle_rtts)
        print(json.dumps(dataclasses.asdict(tally)) if as_json else tally)
        if tally.refused or tally.missed:
            raise CheckFailedError("the check of the idle RTT refused or missed what it should not")
        return
    figures = measure(quick, scale)
    print(json.dumps(figures) if as_json else render(figures))
