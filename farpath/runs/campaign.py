"""Campaigns on this machine: the runs of an experiment that have no record, several at once.

Runs of the virtual lab say their progress in a log each, below the records. Those of the host lab
are made one after another, on this machine's own kernel or in a QEMU machine.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import FarpathError, MachineLacksError, on_one_line
from farpath.lab.pool import Pool
from farpath.lab.progress import RunProgress
from farpath.lab.run import Finish, Outcome
from farpath.record.identity import plan_identity
from farpath.record.record import Record
from farpath.runs.host_lab import make_in_machine, qemu_pool, require_host
from farpath.runs.job import (
    CampaignJob,
    campaign_directory,
    check_space,
    failed_error,
    failure_lines,
    ignored_record_notes,
    other_results_notes,
    print_status,
)
from farpath.runs.make import FailedRun, MadeSet, Make, make_one, make_runs
from farpath.runs.run_set import PlannedRun, RunSet
from farpath.runs.run_set_progress import progress_printer
from farpath.runs.status import RunStatus, move_damaged_records


def make_campaign(job: CampaignJob, finish: Finish, in_qemu: bool = False) -> tuple[RunStatus, ...]:
    """Make the runs of a job that have no record; return the states of all.

    ``finish``: as ``farpath.lab.run.run`` takes it, for runs on this machine. Records of the host
    lab that the project ships were made on another machine, and do not count here. Raises
    MachineLacksError before the first run, and LabFailedError at the end if runs failed.
    """
    with campaign_directory(job.out):
        before = job.local_states()
        notes = (
            other_results_notes(before) if job.on_host else ignored_record_notes(job.out, before)
        )
        for line in [*move_damaged_records(job.out, before), *notes]:
            print_status(line)
        # Experiments may share a run, which has one place then
        missing = [state for state in before if state.record is None]
        todo = list({plan_identity(state.run.plan): state for state in missing}.values())
        made_before = sum(state.record is not None for state in before)
        if todo:
            check_space(job.out, 1 if job.on_host else min(job.cores, len(todo)))
        print_status(f"{made_before} of {len(before)} runs made, {len(todo)} left")
        if not todo:
            return before
        made = _make(job, todo, finish, in_qemu, made_before)
        for result in made.runs if job.on_host else ():
            for warning in result.value:
                print_status(f"{result.run.name}: warning: {warning}")
        lines = [
            line
            for state, result in zip(todo, made.results, strict=True)
            if isinstance(result, FailedRun)
            for line in failure_lines(job.out, state, result.error)
        ]
        if made.failed:
            raise failed_error(f"{len(made.failed)} of {len(before)} runs failed", lines)
        return job.local_states()


def _make(
    job: CampaignJob, todo: Sequence[RunStatus], finish: Finish, in_qemu: bool, made_before: int
) -> MadeSet[tuple[str, ...]]:
    runs = (
        PlannedRun(
            *(state.run.label, state.run.plan),
            request=state.run.request.typed,
            expected_s=state.run.expected_s,
        )
        for state in todo
    )
    fatal: tuple[type[FarpathError], ...] = ()
    makes: list[Make]
    with ExitStack() as stack:
        if in_qemu:
            pool = stack.enter_context(qemu_pool(job, len(todo)))
            makes = [partial(make_in_machine, job=job, state=state) for state in todo]
        elif job.on_host:
            require_host(todo)
            pool = stack.enter_context(Pool(1))
            # A record that is there was not accepted, so it is replaced
            makes = [partial(make_shown, unit="s", force=True, finish=finish)] * len(todo)
        else:
            pool = stack.enter_context(Pool(job.cores))
            logs = job.out / "logs"
            logs.mkdir(exist_ok=True)
            makes = [
                partial(make_shown, finish=finish, log=logs / f"{state.name}.log") for state in todo
            ]
        if job.on_host:
            fatal = (MachineLacksError,)
        watch = progress_printer("campaign", before=made_before)
        return make_runs(
            RunSet(tuple(runs)), job.out, None, watch,
            measure=warnings_of, make=makes, pool=pool, fatal=fatal,
        )  # fmt: skip


def warnings_of(record: Record) -> tuple[str, ...]:
    """Return the warnings of a record."""
    return tuple(record.data["warnings"])


def make_shown(
    run: PlannedRun,
    out: FilePath,
    cores: int,
    *,
    unit: str = "virtual s",
    log: FilePath | None = None,
    **options: Any,
) -> Outcome:
    """Make one run as ``make_one``, which takes ``options``, and show its progress.

    ``unit``: of its schedule. ``log``: the file that gets its messages, by default stderr.
    """
    with (
        nullcontext() if log is None else said_in(log),
        RunProgress(run.name, run.plan.schedule.duration_s, unit) as progress,
    ):
        return make_one(run, out, cores, watch=progress.watch, **options)


@contextmanager
def said_in(log: FilePath) -> Iterator[None]:
    """Let this process say everything in a file, the error by which a run fails included."""
    logger = logging.getLogger("farpath")
    handlers = logger.handlers
    with ExitStack() as stack:
        file = stack.enter_context(log.open("w", buffering=1, encoding="utf-8"))
        for number in (1, 2):
            kept = os.dup(number)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, number)
            os.dup2(file.fileno(), number)
        stack.callback(setattr, logger, "handlers", handlers)
        stack.callback(sys.stderr.flush)
        logger.handlers = [logging.StreamHandler(file)]
        try:
            yield
        except FarpathError as error:
            file.write(f"farpath: {on_one_line(error.message)}\n")
            file.writelines(f"  | {line}\n" for line in error.detail.splitlines())
            raise
