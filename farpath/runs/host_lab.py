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

from farpath.base.errors import LabFailedError
from farpath.base.locks import fresh_partial
from farpath.base.project import experiment_folder
from farpath.lab.pool import Pool
from farpath.lab.qemu import CODE, OUT, Machine, Speed, parts
from farpath.lab.run import Outcome
from farpath.record.record import load_record
from farpath.runs.experiment import FILE, OWN_PATHS
from farpath.runs.job import CampaignJob, print_status
from farpath.runs.run_set import PlannedRun
from farpath.runs.status import RunStatus, move_damaged_records

#: One core, so that no instruction of another core counts as a program's time. A microsecond has as
#: many instructions as cycles: /proc/cpuinfo says 1000 MHz of a time stamp counter in ns.
SPEED = Speed(cores=1, instruction_ns=1)
#: Real time in s that the machine may take to start, and for each run, on a busy host.
START_LIMIT_S, RUN_LIMIT_S = 900, 1800
#: The folder of experiments inside the machine.
EXPERIMENTS = f"{CODE}/experiments"


def require_host(todo: Sequence[RunStatus]) -> None:
    """Raise MachineLacksError if this machine's own kernel cannot make the runs."""
    from farpath.lab import host, preflight

    preflight.require(host.checks_of_stacks([state.run.plan.stacks[0] for state in todo]))


@contextmanager
def qemu_pool(job: CampaignJob, runs: int) -> Iterator[Pool]:
    """Give a pool for one run at a time; its worker starts and ends a QEMU machine."""
    image_files = parts()
    print_status("starting a QEMU machine with Debian's kernel, a minute or two")
    limit_s = START_LIMIT_S + RUN_LIMIT_S * runs
    with fresh_partial(job.out) as folder:
        jobs, experiments = folder / "jobs", folder / "experiments"
        jobs.mkdir()
        copy_experiment(job, experiments)
        machine = partial(Machine, image_files, jobs, SPEED, limit_s, {EXPERIMENTS: experiments})
        with Pool(1, machine) as pool:
            yield pool


def copy_experiment(job: CampaignJob, folder: FilePath) -> None:
    """Copy an experiment without its records into a folder of experiments."""
    name = job.experiment.name
    source = experiment_folder(name, job.experiments)
    target = folder / source.name
    target.mkdir(parents=True)
    shutil.copy(source / FILE, target)
    if (source / OWN_PATHS).is_dir():
        shutil.copytree(source / OWN_PATHS, target / OWN_PATHS)


def make_in_machine(
    run: PlannedRun, out: FilePath, _cores: int, machine: Machine, *, job: CampaignJob,
    state: RunStatus,
) -> Outcome:  # fmt: skip
    """Make a run in a machine that has its experiment, and move its record to ``out``."""
    index = [each.plan for each in job.runs].index(run.plan)
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
    target = out / inner_dir.name
    for line in move_damaged_records(out, [dataclasses.replace(state, name=inner_dir.name)]):
        print_status(line)
    fresh.rename(target)
    return Outcome(target, cached=False, wall_s=0.0)
