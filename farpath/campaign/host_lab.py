"""Runs of an experiment in the host lab, one after another.

They run on this machine's own kernel, or in a QEMU machine with Debian's kernel. The clock of that
machine counts instructions: a busy host changes nothing, and a cycle is an instruction.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path as FilePath

from farpath.base.errors import FarpathError, LabFailedError, MachineLacksError
from farpath.base.files import user_errors
from farpath.base.locks import (
    exclusive_lock,
    fresh_partial,
    remove_stale_locks,
    remove_stale_partials,
)
from farpath.campaign.snakemake import LOCK, CampaignJob, check_space, print_status
from farpath.campaign.status import RunStatus, move_damaged_records
from farpath.lab.progress import time_left_s, time_left_text
from farpath.lab.qemu import CODE, OUT, Machine, Speed, parts
from farpath.lab.run import Finish, run
from farpath.planning.experiment import FILE, OWN_PATHS
from farpath.record.record import load_record

#: Makes a run's record in a directory of records, and returns the record's directory.
Maker = Callable[[RunStatus], FilePath]
#: One core, so that no instruction of another core counts as a program's time. A microsecond has as
#: many instructions as cycles: /proc/cpuinfo says 1000 MHz of a time stamp counter in ns.
SPEED = Speed(cores=1, instruction_ns=1)
#: Real time in s that the machine may take to start, and for each run, on a busy host.
START_LIMIT_S, RUN_LIMIT_S = 900, 1800
#: The folder of experiments inside the machine.
EXPERIMENTS = f"{CODE}/experiments"
#: How many lines of a failed run's output are shown.
TAIL_LINES = 4


def run_on_host(job: CampaignJob, in_qemu: bool, finish: Finish) -> tuple[RunStatus, ...]:
    """Make the runs of a set that have no record in the job's directory of records.

    ``finish``: as ``farpath.lab.run.run`` takes it, for runs on this machine. Records that the
    project ships were made on another machine, and do not count here. Raises MachineLacksError
    before the first run, and LabFailedError at the end if runs failed.
    """
    with user_errors(job.out):
        job.out.mkdir(parents=True, exist_ok=True)
        with exclusive_lock(job.out / LOCK, f"conducts a campaign in {job.out}"):
            remove_stale_partials(job.out)
            remove_stale_locks(job.out)
            states = job.local_states()
            if older := sum(state.other_results for state in states):
                print_status(
                    f"made by a farpath that gives other results, and counted: {older} records"
                )
            todo = [state for state in states if state.record is None]
            print_status(f"{len(states) - len(todo)} of {len(states)} runs made, {len(todo)} left")
            if todo:
                check_space(job.out, 1)
                runs_here = partial(_own_maker, job, todo, finish)
                with _qemu_maker(job, len(todo)) if in_qemu else runs_here() as make:
                    _make_all(todo, make)
            return job.local_states()


def _make_all(todo: Sequence[RunStatus], make: Maker) -> None:
    failed: list[str] = []
    began_s = time.monotonic()
    for number, state in enumerate(todo, 1):
        print_status(f"{state.run.label}: begun, {number} of {len(todo)}")
        try:
            record_dir = make(state)
        except MachineLacksError:
            raise
        except FarpathError as error:
            output = [f"  {line}" for line in error.detail.splitlines()[-TAIL_LINES:]]
            failed += [f"{state.run.label}: {error.message}", *output]
            print_status(f"{state.run.label}: failed: {error.message}")
        else:
            left_s = time_left_s(number, len(todo), time.monotonic() - began_s)
            end = f"; {time_left_text(left_s)}" if number < len(todo) else ""
            print_status(f"{state.run.label}: made, {record_dir.name}{end}")
            for warning in load_record(record_dir, verify=False).data["warnings"]:
                print_status(f"{state.run.label}: warning: {warning}")
    if failed:
        count = sum(not line.startswith(" ") for line in failed)
        raise LabFailedError(
            f"{count} of {len(todo)} runs failed; what was made is kept, and the same command "
            "tries the rest again",
            "\n".join(failed),
        )


@contextmanager
def _own_maker(job: CampaignJob, todo: Sequence[RunStatus], finish: Finish) -> Iterator[Maker]:
    """Run on this machine's own kernel, after checking it for all stacks."""
    from farpath.lab import host, preflight
    from farpath.lab.progress import RunProgress

    preflight.require(host.checks_of_stacks([state.run.plan.stacks[0] for state in todo]))

    def make(state: RunStatus) -> FilePath:
        plan = state.run.plan
        with RunProgress(state.run.label, plan.schedule.duration_s, "s") as progress:
            # A record that is there was not accepted, so it is replaced
            return run(plan, job.out, True, progress.watch, finish=finish).directory

    yield make


@contextmanager
def _qemu_maker(job: CampaignJob, runs: int) -> Iterator[Maker]:
    """Run in a QEMU machine, which exists as long as the context."""
    image_files = parts()
    print_status("starting a QEMU machine with Debian's kernel, a minute or two")
    limit_s = START_LIMIT_S + RUN_LIMIT_S * runs
    with fresh_partial(job.out) as folder:
        jobs, experiments = folder / "jobs", folder / "experiments"
        jobs.mkdir()
        copy_experiment(job, experiments)
        with Machine(image_files, jobs, SPEED, limit_s, {EXPERIMENTS: experiments}) as machine:
            yield lambda state: make_in_machine(machine, job, state)


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
