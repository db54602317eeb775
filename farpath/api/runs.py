"""``farpath.run`` and ``farpath.load``: a run, or a record that exists, as an object."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.api.arguments import OptionValue, request_of, with_run_options
from farpath.api.making import ReadyRun, ready_run
from farpath.api.run_result import RunResult
from farpath.lab.progress import RunProgress
from farpath.notebook.renewed_line import NotebookProgress, in_notebook
from farpath.record.record import load_record

if TYPE_CHECKING:
    from farpath.lab.process import Watch

#: The directory of records, below the current one, as on the command line.
RESULTS = "results"


def run(
    *,
    out: str | os.PathLike[str] = RESULTS,
    force: bool = False,
    kernel: str | None = None,
    progress: bool = True,
    **options: OptionValue,
) -> RunResult:
    """Make a run in the lab and return its results; a run that is recorded is returned at once.

    ``options``: those of ``farpath run`` (``farpath options`` lists them), such as ``rtt="50ms"``,
    ``rate="100Mbit"``, ``stack="cubic"``, ``time="10s"``. A number is taken as the option takes it
    without a unit: ``rate=1e8`` in bit/s, ``loss=1e-4``, ``seed=2``.

    ``out``: the directory of the records. ``force``: run even if there is a record. ``kernel``: the
    lab's kernel, as ``--kernel``. ``progress``: show it, on stderr or in the notebook.

    Raises BadInputError for a value that is not allowed, MachineLacksError, LabFailedError and
    CheckFailedError as the command line does (farpath.base.errors); an interruption leaves nothing
    half made.
    """
    ready = ready_run(request_of(options), kernel)
    with _watch_of(ready, progress) as watch:
        outcome = ready.make(FilePath(out), force, watch)
    return RunResult(load_record(outcome.directory), outcome.cached, outcome.wall_s)


def load(directory: str | os.PathLike[str]) -> RunResult:
    """Return the results of the record in a directory; raises BadInputError if it holds none."""
    return RunResult(load_record(FilePath(directory)))


@contextmanager
def _watch_of(ready: ReadyRun, shown: bool) -> Iterator[Watch]:
    """Return the watcher of the lab's events, which shows them if ``shown``."""
    if not shown:
        yield lambda _event: None
        return
    show = NotebookProgress if in_notebook() else RunProgress
    with show(ready.label, ready.plan.schedule.duration_s, ready.time_unit) as progress:
        yield progress.watch


vars(run)["__signature__"] = with_run_options(inspect.signature(run, eval_str=True), OptionValue)
