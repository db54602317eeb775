"""``farpath starvation``: seeks the conditions under which one of two flows starves."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farpath.base.errors import BadInputError
from farpath.cli.logs import print_paths
from farpath.cli.run_options import with_options
from farpath.cli.shared_options import RESULTS, AsJson, Cores, Draws, RecordsDir
from farpath.planning.request import RunRequest
from farpath.runs.axes import split_values

if TYPE_CHECKING:
    from farpath.report.report import Report
    from farpath.spec.path import Path
    from farpath.spec.plan import Plan
    from farpath.uses.starvation.question import Starvation, Trial
    from farpath.uses.starvation.table import Searches

TABLE_FILE, FIGURE_FILE, PAGE_FILE = "starvation.csv", "starvation.png", "starvation.html"
#: Trials that are chosen together.
BATCH, BATCH_RANGE = 4, (1, 256)
MOST_TRIALS = 5_000
#: The folder of a search's files among its records.
DEFAULT_REPORT = "starvation"
#: Options of a run that a search sets itself, or that name other flows.
_NOT_HERE = ("region", "schedule", "parallel", "bytes", "flows")
OPTIONS = tuple(field.name for field in fields(RunRequest) if field.name not in _NOT_HERE)
DEFAULTS = {"time": "10s", "jitter": "0..10ms", "buffer": "0.1..8xBDP", "stack": "bbr"}
_RANGE = "A value, or a range that is searched."
HELPS = {
    "time": "How long both flows send together.",
    "stack": "Two stacks, separated by commas; of more each pair; one beside itself.",
    "jitter": f"Largest deviation of a packet's delay. {_RANGE}",
    "buffer": f"Bottleneck buffer. {_RANGE}",
    "seed": "Seed of all random choices, of the runs and of the search.",
}


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(starvation)


@with_options(OPTIONS, DEFAULTS, HELPS)
def starvation(
    start: Annotated[
        str,
        typer.Option(
            metavar="TIME", help=f"How long after the first flow the second starts. {_RANGE}"
        ),
    ] = "0..5s",
    trials: Annotated[
        int, typer.Option(metavar="N", help="How many runs each pair of stacks gets.")
    ] = 30,
    batch: Annotated[
        int,
        typer.Option(metavar="N", help="How many are chosen together: as many cores are of use."),
    ] = BATCH,
    draws: Draws = None,
    out: RecordsDir = RESULTS,
    report: Annotated[
        FilePath | None,
        typer.Option(
            metavar="DIR",
            help="Directory of trials, page, figure and table (default: starvation in --out).",
        ),
    ] = None,
    cores: Cores = None,
    as_json: AsJson = False,
    **option_values: Any,
) -> None:
    """Seek conditions under which one of two flows starves, as in --stack=bbr,cubic --rtt=40ms.

    Any option may hold a range, as in --rtt=10..80ms, --loss=0..1% or --senders=rtt=40..160ms, the
    RTT of the second flow. Each trial is a run; the same command continues.
    """
    from farpath.base.files import require_directory
    from farpath.uses.starvation.question import plan_starvation
    from farpath.uses.starvation.search import make_starvation

    if trials not in range(1, MOST_TRIALS + 1):
        raise BadInputError(
            option="trials", given=str(trials), remedy=f"it must be from 1 to {MOST_TRIALS:,}"
        )
    if batch not in range(BATCH_RANGE[0], BATCH_RANGE[1] + 1):
        raise BadInputError(
            option="batch",
            given=str(batch),
            remedy=f"it must be from {BATCH_RANGE[0]} to {BATCH_RANGE[1]}",
        )
    report = report or out / DEFAULT_REPORT
    require_directory(out)
    require_directory(report, "report")
    stacks = split_values("stack", option_values.pop("stack"))
    time = option_values.pop("time")
    options = {name: text for name, text in option_values.items() if text is not None}
    searches = plan_starvation(options, stacks, start, time, batch, draws)
    print_paths(_paths(searches[0]))

    def watch(search: Starvation, trial: Trial, made: Sequence[Trial]) -> None:
        print(f"starvation: {_line(search, trial, made, trials)}", file=sys.stderr, flush=True)

    found = make_starvation(searches, trials, report, out, cores, watch)
    made = _report(found, report, out)
    made.write(report)
    made.print(report, as_json)


def _paths(search: Starvation) -> list[Path]:
    """Return the paths of a search's runs with the lowest and with the highest values."""
    from farpath.lab.user_parts import BuiltParts

    requests = [search.request(corner) for corner in islice(search.corners(), 2)]
    return [request.plan(user_parts=BuiltParts(request.lab)).path for request in requests]


def _worst_plan(search: Starvation, trials: Sequence[Trial]) -> Plan:
    """Return the plan of a run of the trial in which a flow had the least."""
    from farpath.lab.user_parts import BuiltParts
    from farpath.uses.starvation.question import worst

    request, *_ = search.requests(worst(trials).values)
    return request.plan(user_parts=BuiltParts(request.lab))


def _line(search: Starvation, trial: Trial, made: Sequence[Trial], count: int) -> str:
    """Return the line about a trial after its run."""
    from farpath.uses.starvation.question import worst
    from farpath.uses.starvation.table import share_text

    options = ", ".join(f"{name} {text}" for name, text in trial.options.items())
    return (
        f"{search.name}, trial {trial.number} of {count}: least share {share_text(trial)} % "
        f"(least so far {share_text(worst(made))} %), {options}"
    )


def _report(found: Searches, report: FilePath, out: FilePath) -> Report:
    """Return the table of all trials, the figure and the page."""
    from farpath.metrics.one_draw import one_draw_sentences
    from farpath.record.record import load_record
    from farpath.report.figures.save import image_of
    from farpath.report.report import Report
    from farpath.report.table import TEXT_COLUMNS, as_csv, render, rich_table
    from farpath.uses.starvation.figure import draw_starvation
    from farpath.uses.starvation.page import render_starvation
    from farpath.uses.starvation.question import worst
    from farpath.uses.starvation.table import as_json, trials_table, worst_table

    figure = draw_starvation(found, [load_record(out / worst(made).record) for _, made in found])
    shared = [f"{option.variable}={text}" for option, text in found[0][0].base.values()]
    remarks = (f"All runs have {', '.join(shared)}",) if shared else ()
    texts = []
    for search, trials in found:
        table = rich_table(worst_table(search, trials))
        texts += [render(table, width_columns=TEXT_COLUMNS).rstrip()]
        texts += one_draw_sentences(_worst_plan(search, trials))
        texts += [f"worst       {worst(trials).command}"]
        texts += [f"fingerprint {worst(trials).fingerprint}"]
    return Report(
        {
            PAGE_FILE: render_starvation(found, image_of(figure, "png"), remarks),
            FIGURE_FILE: figure,
            TABLE_FILE: as_csv(trials_table(found)),
        },
        "\n".join(texts),
        {"report": str(report), "searches": as_json(found)},
    )
