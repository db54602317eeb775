"""A campaign's job: the set of runs to make, their directory, and the common checks."""

from __future__ import annotations

import dataclasses
import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.base.errors import FarpathError, LabFailedError, MachineLacksError, on_one_line
from farpath.base.files import make_directory, user_errors
from farpath.base.locks import exclusive_lock, remove_stale_locks, remove_stale_partials
from farpath.base.project import EXPERIMENTS
from farpath.lab.machine import available_cores
from farpath.metrics.studies import study_of
from farpath.record.record import records_in
from farpath.runs.experiment import (
    WHOLE,
    Experiment,
    WantedRun,
    load_experiment,
)
from farpath.runs.status import RunStatus, begun_records, run_statuses, shipped_records

LOG = logging.getLogger(__name__)
#: Disk space of a run of 960 s, page included, and as much again while it is written.
RUN_BYTES = 12 << 20
#: The parts of the study's report, each a directory (experiments/Snakefile).
PARTS = ("tables", "claims", "figures", "page")
#: The parts of other reports: the study's documents make no claims about those runs.
PLAIN_RUN_PARTS = tuple(part for part in PARTS if part != "claims")
#: The lock file in the directory of records, held while a campaign runs there.
LOCK = ".campaign.lock"
#: Number of last lines of a failed run's output that are repeated at the end.
TAIL_LINES = 4


@dataclass(frozen=True)
class CampaignJob:
    """A set of runs to make, and the directories for its records and its report.

    ``cores``: how many runs at once. ``options``: further options for Snakemake.
    """

    experiment: Experiment
    which: str = WHOLE
    out: FilePath = FilePath("results")
    experiments: FilePath = EXPERIMENTS
    cores: int = field(default_factory=available_cores)
    options: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[WantedRun, ...]:
        """The runs, the longest first."""
        return self.experiment.runs(self.which)

    def states(self, runs: Sequence[WantedRun] | None = None) -> tuple[RunStatus, ...]:
        """Return the states of all runs or of some, shipped records included.

        Shipped host-lab records count only if this machine has made none.
        """
        wanted = self.runs if runs is None else runs
        if not self.on_host:
            begun = (begun_records(part, self.experiments) for part in self.experiment.parts)
            return run_statuses(wanted, [self.out, *self.shipped, *begun])
        local = self.local_states(wanted)
        return local if any(state.record for state in local) else run_statuses(wanted, self.shipped)

    def local_states(self, runs: Sequence[WantedRun] | None = None) -> tuple[RunStatus, ...]:
        """Return states as ``states`` does, but ignore shipped host-lab records.

        Those were measured on another machine.
        """
        wanted = self.runs if runs is None else runs
        return run_statuses(wanted, [self.out]) if self.on_host else self.states(wanted)

    @property
    def shipped(self) -> tuple[FilePath, ...]:
        """The directories of this set's shipped records, one for each experiment."""
        parts = self.experiment.parts
        return tuple(shipped_records(part, self.experiments, self.which) for part in parts)

    def of_all_mechanisms(self) -> CampaignJob:
        """Return the job of all mechanisms of the experiment, with the same length of regions."""
        part = dataclasses.replace(self.experiment.part, only=())
        whole = load_experiment(self.experiment.name, self.experiments, part=part)
        return dataclasses.replace(self, experiment=whole)

    @property
    def is_study(self) -> bool:
        """Whether these are runs of a study, so that the report follows its documents."""
        return study_of([run.plan for run in self.runs]) is not None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the report."""
        return PARTS if self.is_study else PLAIN_RUN_PARTS

    @property
    def on_host(self) -> bool:
        """Whether these are runs of the host lab."""
        return any(run.on_host for run in self.runs)


def check_space(out: FilePath, runs: int) -> None:
    """Raise MachineLacksError unless the disk has room for the records of that many runs.

    A run that ends with a full disk is lost.
    """
    free, needed = shutil.disk_usage(out).free, runs * RUN_BYTES
    if free < needed:
        raise MachineLacksError(
            f"no space left under {out}: {free >> 20} MiB are free and {runs} run"
            f"{'s take' if runs > 1 else ' takes'} {needed >> 20}: free some, or give another "
            "place with `out`"
        )


@contextmanager
def campaign_directory(out: FilePath) -> Iterator[None]:
    """Lock the directory of records for a campaign, and remove leftovers of killed runs there.

    Raises BadInputError if another campaign runs there, and as ``make_directory``.
    """
    with user_errors(out):
        make_directory(out)
        with exclusive_lock(out / LOCK, f"conducts a campaign in {out}"):
            remove_stale_partials(out)
            remove_stale_locks(out)
            yield


def ignored_record_notes(out: FilePath, states: Sequence[RunStatus]) -> list[str]:
    """Return sentences on records that do not count, and on those made by other code."""
    counted = {state.record.resolve() for state in states if state.record is not None}
    others = [record_dir for record_dir in records_in(out) if record_dir.resolve() not in counted]
    sentences = []
    if others:
        sentences.append(
            f"of another kernel, image or setting, and left out: {len(others)} of the records "
            f"in {out}"
        )
    return sentences + other_results_notes(states)


def other_results_notes(states: Sequence[RunStatus]) -> list[str]:
    """Return a sentence on the records that count but were made by other code, if there are any."""
    older = sum(state.other_results for state in states)
    return (
        [f"made by a farpath that gives other results, and counted: {older} records"]
        if older
        else []
    )


def failed_error(what: str, lines: Sequence[str]) -> LabFailedError:
    """Return the error that ends a campaign in which something failed, with the output of each."""
    return LabFailedError(
        f"{what}; what was made is kept, and the same command tries the rest again",
        "\n".join(lines),
    )


def failure_lines(out: FilePath, state: RunStatus, error: FarpathError | None) -> list[str]:
    """Return a failed run's command, and its error or else the end of its log."""
    command = " ".join([*state.run.command, f"--out={out}"])
    log = out / "logs" / f"{state.name}.log"
    if error is not None:
        said = [on_one_line(error.message), *error.detail.splitlines()[-TAIL_LINES:]]
    elif log.is_file() and (text := log.read_text(errors="replace").strip()):
        said = text.splitlines()[-TAIL_LINES:]
    elif shutil.disk_usage(out).free < RUN_BYTES:
        said = [f"it could say nothing: no space is left under {out}"]
    else:
        said = []
    return [f"{state.run.label}: {command}", *(f"  {line}" for line in said)]


def print_status(line: str) -> None:
    """Log one line for people."""
    LOG.info("campaign: %s", line)
