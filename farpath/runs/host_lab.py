"""Runs of an experiment in the host lab, one after another.

They run on this machine's own kernel, or in a QEMU machine with Debian's kernel. The clock of that
machine counts instructions: a busy host changes nothing, and a cycle is an instruction.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path as FilePath

from farpath.base.errors import LabFailedError, MachineLacksError
from farpath.base.locks import fresh_partial
from farpath.lab.pool import Job, JobEvent, Pool
from farpath.lab.progress import time_left_text
from farpath.lab.qemu import CODE, OUT, Machine, Speed, parts
from farpath.lab.run import Finish, run
from farpath.planning.experiment import FILE, OWN_PATHS
from farpath.record.record import load_record
from farpath.runs.job import (
    TAIL_LINES,
    CampaignJob,
    campaign_directory,
    check_space,
    failed_error,
    other_results_notes,
    print_status,
)
from farpath.runs.status import RunStatus, move_damaged_records

#: A pool for one run at a time, and the job of each run, which returns its record's directory.
PoolAndJobs = tuple[Pool, list[Job[FilePath]]]
#: One core, so that no instruction of another core counts as a program's time. A microsecond has as
#: many instructions as cycles: /proc/cpuinfo says 1000 MHz of a time stamp counter in ns.
SPEED = Speed(cores=1, instruction_ns=1)
#: Real time in s that the machine may take to start, and for each run, on a busy host.
START_LIMIT_S, RUN_LIMIT_S = 900, 1800
#: The folder of experiments inside the machine.
EXPERIMENTS = f"{CODE}/experiments"


def run_on_host(job: CampaignJob, in_qemu: bool, finish: Finish) -> tuple[RunStatus, ...]:
    """Make the runs of a set that have no record in the job's directory of records.

    ``finish``: as ``farpath.lab.run.run`` takes it, for runs on this machine. Records that the
    project ships were made on another machine, and do not count here. Raises MachineLacksError
    before the first run, and LabFailedError at the end if runs failed.
    """
    with campaign_directory(job.out):
        states = job.local_states()
        for line in other_results_notes(states):
            print_status(line)
        todo = [state for state in states if state.record is None]
        print_status(f"{len(states) - len(todo)} of {len(states)} runs made, {len(todo)} left")
        if todo:
            check_space(job.out, 1)
            with _qemu_pool(job, todo) if in_qemu else _own_pool(job, todo, finish) as made:
                _make_all(todo, *made)
        return job.local_states()


def _make_all(todo: Sequence[RunStatus], pool: Pool, jobs: Sequence[Job[FilePath]]) -> None:
    def tell(event: JobEvent[FilePath]) -> None:
        label, progress = todo[event.index].run.label, event.progress
        if event.result is None:
            print_status(f"{label}: begun, {progress.ended + 1} of {len(todo)}")
        elif event.result.error is not None:
            print_status(f"{label}: failed: {event.result.error.message}")
        else:
            record_dir, left_s = event.result.unwrap(), progress.left_s
            end = f"; {time_left_text(left_s)}" if progress.waiting and left_s is not None else ""
            print_status(f"{label}: made, {record_dir.name}{end}")
            for warning in load_record(record_dir, verify=False).data["warnings"]:
                print_status(f"{label}: warning: {warning}")

    results = pool.run(jobs, tell, fatal=(MachineLacksError,))
    failed = [
        (state, result.error)
        for state, result in zip(todo, results, strict=True)
        if result.error is not None
    ]
    if failed:
        lines: list[str] = []
        for state, error in failed:
            output = [f"  {line}" for line in error.detail.splitlines()[-TAIL_LINES:]]
            lines += [f"{state.run.label}: {error.message}", *output]
        raise failed_error(f"{len(failed)} of {len(todo)} runs failed", lines)


@contextmanager
def _own_pool(job: CampaignJob, todo: Sequence[RunStatus], finish: Finish) -> Iterator[PoolAndJobs]:
    """Run on this machine's own kernel, after checking it for all stacks."""
    from farpath.lab import host, preflight

    preflight.require(host.checks_of_stacks([state.run.plan.stacks[0] for state in todo]))
    with Pool(1) as pool:
        yield (
            pool,
            [
                Job(partial(_make_here, job.out, state, finish), state.run.expected_s)
                for state in todo
            ],
        )


def _make_here(out: FilePath, state: RunStatus, finish: Finish) -> FilePath:
    """Make a run on this machine's own kernel, and show its progress."""
    from farpath.lab.progress import RunProgress

    plan = state.run.plan
    with RunProgress(state.run.label, plan.schedule.duration_s, "s") as progress:
        # A record that is there was not accepted, so it is replaced
        request = state.run.request.typed
        return run(plan, out, True, progress.watch, finish=finish, request=request).directory


@contextmanager
def _qemu_pool(job: CampaignJob, todo: Sequence[RunStatus]) -> Iterator[PoolAndJobs]:
    """Run in a QEMU machine, which the pool's worker starts and ends."""
    image_files = parts()
    print_status("starting a QEMU machine with Debian's kernel, a minute or two")
    limit_s = START_LIMIT_S + RUN_LIMIT_S * len(todo)
    with fresh_partial(job.out) as folder:
        jobs, experiments = folder / "jobs", folder / "experiments"
        jobs.mkdir()
        copy_experiment(job, experiments)
        machine = partial(Machine, image_files, jobs, SPEED, limit_s, {EXPERIMENTS: experiments})
        with Pool(1, machine) as pool:
            yield (
                pool,
                [
                    Job(partial(make_in_machine, job=job, state=state), state.run.expected_s)
                    for state in todo
                ],
            )


def copy_experiment(job: CampaignJob, folder: FilePath) -> None:
    """Copy an experiment without its records into a folder of experiments."""
    name = job.experiment.name
    source, target = job.experiments / name, folder / name
    target.mkdir(parents=True)
    shutil.copy(source / FILE, target)
    if (source / OWN_PATHS).is_dir():
        shutil.copytree(source / OWN_PATHS, target / OWN_PATHS)


def make_in_machine(machine: Machine, job: CampaignJob, state: RunStatus) -> FilePath:
    """Make a run in a machine that has its experiment, and move its record to this side."""
    index = [run.plan for run in job.runs].index(state.run.plan)
    done = machine.farpath(
        *("campaign", f"--experiment={job.experiment.name}", f"--experiments={EXPERIMENTS}"),
        *(f"--set={job.which}", f"--index={index}", f"--out={OUT}"),
    )
    output = done.stderr.strip().splitlines()
    if done.status != 0:
        reason = output[-1] if output else f"it ended with {done.status} and said nothing"
        raise LabFailedError(reason.removeprefix("farpath: "), "\n".join(output[:-1]))
    inner_dir = FilePath(done.stdout.strip().splitlines()[-1])
    # The record is complete on this side before it becomes one of the campaign
    machine.do("cp", "-r", str(inner_dir), "/jobs/")
    machine.do("rm", "-r", str(inner_dir))
    fresh = machine.jobs / inner_dir.name
    load_record(fresh)
    target = job.out / inner_dir.name
    for line in move_damaged_records(job.out, [dataclasses.replace(state, name=inner_dir.name)]):
        print_status(line)
    fresh.rename(target)
    return target
