"""Host runs: those of an experiment that are of the host lab, one after another.

On this machine's own kernel, or in a QEMU machine with Debian's, whose clock counts
instructions: there a busy host changes nothing, and a cycle is an instruction.
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
from farpath.campaign.snakemake import LOCK, CampaignJob, check_space, hours, say
from farpath.campaign.status import RunStatus, put_aside
from farpath.lab.qemu import CODE, OUT, Machine, Speed, parts
from farpath.lab.run import Finish, run
from farpath.planning.experiment import FILE, OWN_PATHS
from farpath.record.record import load_record

#: Makes a run's record in a directory of records; its place there.
Maker = Callable[[RunStatus], FilePath]
#: One core, so that no instruction of another core counts as a program's time, and as many
#: a microsecond as its cycles: /proc/cpuinfo says 1000 MHz of a time stamp counter in ns.
SPEED = Speed(cores=1, instruction_ns=1)
#: Real time that a machine may take: to start, and for each run, on a busy host.
START_LIMIT_S, RUN_LIMIT_S = 900, 1800
#: Where experiments are in the machine.
EXPERIMENTS = f"{CODE}/experiments"
#: How many lines of what a failed run said are shown.
TAIL_LINES = 4


def run_on_host(job: CampaignJob, in_qemu: bool, finish: Finish) -> tuple[RunStatus, ...]:
    """Make the runs of a set that have no record in its place for records.

    ``finish``: as :func:`farpath.lab.run.run` takes it, for runs on this machine. Records that the
    project ships are of another machine, and do not count here. Raises
    LabFailedError at the end if runs failed, and what the machine lacks before the first.
    """
    with user_errors(job.out):
        job.out.mkdir(parents=True, exist_ok=True)
        with exclusive_lock(job.out / LOCK, f"conducts a campaign in {job.out}"):
            remove_stale_partials(job.out)
            remove_stale_locks(job.out)
            found = job.states_here()
            if older := sum(state.other_code for state in found):
                say(f"made by another version of farpath's code, and counted: {older} records")
            todo = [state for state in found if state.record is None]
            say(f"{len(found) - len(todo)} of {len(found)} runs made, {len(todo)} left")
            if todo:
                check_space(job.out, 1)
                runs_here = partial(_own_maker, job, todo, finish)
                with _qemu_maker(job, len(todo)) if in_qemu else runs_here() as make:
                    _make_all(todo, make)
            return job.states_here()


def _make_all(todo: Sequence[RunStatus], make: Maker) -> None:
    failed: list[str] = []
    began_s = time.monotonic()
    for number, state in enumerate(todo, 1):
        say(f"{state.run.label}: begun, {number} of {len(todo)}")
        try:
            place = make(state)
        except MachineLacksError:
            raise
        except FarpathError as error:
            said = [f"  {line}" for line in error.detail.splitlines()[-TAIL_LINES:]]
            failed += [f"{state.run.label}: {error.message}", *said]
            say(f"{state.run.label}: failed: {error.message}")
        else:
            left_s = (time.monotonic() - began_s) / number * (len(todo) - number)
            end = f"; {hours(left_s)}" if number < len(todo) else ""
            say(f"{state.run.label}: made, {place.name}{end}")
            for warning in load_record(place, verify=False).data["warnings"]:
                say(f"{state.run.label}: warning: {warning}")
    if failed:
        count = sum(not line.startswith(" ") for line in failed)
        raise LabFailedError(
            f"{count} of {len(todo)} runs failed; what was made is kept, and the same command "
            "tries the rest again",
            "\n".join(failed),
        )


@contextmanager
def _own_maker(job: CampaignJob, todo: Sequence[RunStatus], finish: Finish) -> Iterator[Maker]:
    """Runs on this machine's own kernel, which is looked at first for all of them."""
    from farpath.lab import host, preflight
    from farpath.lab.progress import RunProgress

    preflight.require(host.checks_of_stacks([state.run.plan.stacks[0] for state in todo]))

    def make(state: RunStatus) -> FilePath:
        plan = state.run.plan
        with RunProgress(state.run.label, plan.schedule.duration_s, "s") as progress:
            # What is there already was not taken, so that it is replaced
            return run(plan, job.out, True, progress.watch, finish=finish).directory

    yield make


@contextmanager
def _qemu_maker(job: CampaignJob, runs: int) -> Iterator[Maker]:
    """Runs in a QEMU machine, which is there as long as the context."""
    made_of = parts()
    say("starting a QEMU machine with Debian's kernel, a minute or two")
    limit_s = START_LIMIT_S + RUN_LIMIT_S * runs
    with fresh_partial(job.out) as folder:
        jobs, experiments = folder / "jobs", folder / "experiments"
        jobs.mkdir()
        copy_experiment(job, experiments)
        with Machine(made_of, jobs, SPEED, limit_s, {EXPERIMENTS: experiments}) as machine:
            yield lambda state: make_in(machine, job, state)


def copy_experiment(job: CampaignJob, folder: FilePath) -> None:
    """Copy an experiment without its records into a folder of experiments."""
    name = job.experiment.name
    source, target = job.experiments / name, folder / name
    target.mkdir(parents=True)
    shutil.copy(source / FILE, target)
    if (source / OWN_PATHS).is_dir():
        shutil.copytree(source / OWN_PATHS, target / OWN_PATHS)


def make_in(machine: Machine, job: CampaignJob, state: RunStatus) -> FilePath:
    """Make a run in a machine that has its experiment, and take its record out of it."""
    index = [run.plan for run in job.runs].index(state.run.plan)
    done = machine.farpath(
        *("campaign", f"--experiment={job.experiment.name}", f"--experiments={EXPERIMENTS}"),
        *(f"--set={job.which}", f"--index={index}", f"--out={OUT}"),
    )
    said = done.stderr.strip().splitlines()
    if done.status != 0:
        why = said[-1] if said else f"it ended with {done.status} and said nothing"
        raise LabFailedError(why.removeprefix("farpath: "), "\n".join(said[:-1]))
    place = FilePath(done.stdout.strip().splitlines()[-1])
    # Whole on this side before it is a record of the campaign
    machine.do("cp", "-r", str(place), "/jobs/")
    machine.do("rm", "-r", str(place))
    fresh = machine.jobs / place.name
    load_record(fresh)
    target = job.out / place.name
    for line in put_aside(job.out, [dataclasses.replace(state, name=place.name)]):
        say(line)
    fresh.rename(target)
    return target
