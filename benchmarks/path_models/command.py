"""``farpath fit``: searches for a path model, or shows the best one so far."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated

import typer

from farpath.base.errors import BadInputError


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(fit)


def fit(
    name: Annotated[str, typer.Argument(help="A directory of experiments/path-models.")],
    trials: Annotated[
        int,
        typer.Option(metavar="N", help="Number of further models to try; 0 shows the best so far."),
    ] = 0,
    workers: Annotated[
        int, typer.Option(metavar="N", help="Number of runs at once, each on one core.")
    ] = 2,
    results: Annotated[
        FilePath, typer.Option(metavar="DIR", help="Directory of the runs' records.")
    ] = FilePath("results/path-models"),
) -> None:
    """Search for the path model that agrees best with the published numbers."""
    from benchmarks.path_models.search import continue_search, load_search
    from benchmarks.path_models.table import best_trial_table, trials_table
    from farpath.base.errors import FarpathError
    from farpath.base.project import PROJECT
    from farpath.lab.pool import Pool
    from farpath.metrics.results import run_summary
    from farpath.report.table import render, rich_table
    from farpath.runs.make import make_runs

    searches = {
        file.parent.name: file.parent
        for file in sorted((PROJECT / "experiments/path-models").glob("*/search.toml"))
    }
    if name not in searches:
        raise BadInputError(
            problem=f"there is no search '{name}'",
            remedy=f"it must be one of {', '.join(searches)}",
        )
    if trials < 0 or workers < 1:
        raise BadInputError(problem="`trials` must be at least 0 and `workers` at least 1")
    search = load_search(searches[name])
    with Pool(workers) as pool:
        make = partial(
            make_runs, out=results, measure=run_summary, pool=pool, fatal=(FarpathError,)
        )
        continue_search(search, trials, make, lambda line: print(line, file=sys.stderr))
    print(
        render(*(rich_table(table) for table in (best_trial_table(search), trials_table(search)))),
        end="",
    )
