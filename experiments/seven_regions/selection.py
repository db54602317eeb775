"""The selection of records that notebooks show: the reader's own, else those that farpath ships.

None of this needs a lab: shipped records are found by their plans, not by their provenance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError, FarpathError
from farpath.base.project import EXPERIMENTS
from farpath.metrics.results import ResultSet, RunSummary, mixed, result_set_of, summarise_records
from farpath.notebook.experiment_records import SHIPPED, load_plan
from farpath.record.identity import plan_identity
from farpath.record.record import Record, load_record, records_in
from farpath.runs.analyses import shipped_measures
from farpath.runs.experiment import CPU, load_experiment
from farpath.runs.status import shipped_records

from .paper_stacks import intended_differences, labels_by_paper_name
from .published import PUBLISHED_PATH

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: The name of the experiment.
EXPERIMENT = "seven-regions"
#: By command of Make the directory below results in which it links its records.
OWN = {"make paper": "paper/records", "make campaign SET=quick": "paper-quick/records"}
#: The directory in which `make paper` links the records with CPU counted.
OWN_CPU = "paper/cpu-records"


@dataclass(frozen=True)
class RecordSelection:
    """Records to show: their origin, their directories by name, and their summaries.

    ``problems``: a sentence for each record that cannot be read.
    """

    origin: str
    record_dirs: Mapping[str, FilePath]
    campaign: ResultSet
    problems: tuple[str, ...] = ()

    def run(self, stack: str, path: str = PUBLISHED_PATH, seed: int | None = None) -> RunSummary:
        """Return the run of a stack on a path, of the smallest seed if none is given.

        ``stack``: a label, or the paper's name of one. Raises BadInputError naming the runs that
        exist.
        """
        label = labels_by_paper_name(self.campaign).get(stack, stack)
        runs = [run for run in self.campaign.of(path, label) if seed in (None, run.seed)]
        if not runs:
            of_seed = "" if seed is None else f" with seed {seed}"
            raise BadInputError(
                problem=f"there is no record of {stack} on path {path}{of_seed}",
                remedy=(
                    f"there are {', '.join(self.campaign.stacks)} on "
                    f"{', '.join(self.campaign.paths)}, seeds "
                    f"{', '.join(map(str, self.seeds))}"
                ),
            )
        return runs[0]

    def record_dir(self, run: RunSummary) -> FilePath:
        """Return the directory of a run's record."""
        return self.record_dirs[run.record]

    def record(self, stack: str, path: str = PUBLISHED_PATH, seed: int | None = None) -> Record:
        """Load the record of a run; raise BadInputError as ``run`` does."""
        return load_record(self.record_dir(self.run(stack, path, seed)))

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds in ascending order."""
        return tuple(sorted({run.seed for run in self.campaign.runs}))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on origin, contents, differences from the paper, and problems."""
        runs = self.campaign.runs
        contents = f"{len(self.campaign.stacks)} stacks on {', '.join(self.campaign.paths)}"
        seeds = f"seed{'s' if len(self.seeds) > 1 else ''} {', '.join(map(str, self.seeds))}"
        return (
            f"{self.origin}: {len(runs)} runs, {contents}, {seeds}.",
            *intended_differences(runs),
            *(f"MIXED: {sentence}." for sentence in mixed(self.campaign)),
            *(f"Left out: {problem}." for problem in self.problems),
        )

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Print the sentences in a notebook."""
        printer.text("\n".join(self.sentences))


def records_to_show(
    results: FilePath | str, experiments: FilePath = EXPERIMENTS
) -> RecordSelection:
    """Select the reader's own records below ``results``, else those that farpath ships.

    Own records are those of `make paper` or else of its quick set; shipped ones are the whole
    campaign or else the quick set, of the runs as they are now or else of earlier settings. Raises
    BadInputError naming the command to make some, if there are none. Values on CPU come from own or
    shipped records in which it was counted. Measures of the companion experiments are those that
    farpath ships.
    """
    cpu_record_dirs = records_in(FilePath(results) / OWN_CPU)
    cpu_record_dirs = cpu_record_dirs or records_in(shipped_records(EXPERIMENT, experiments, CPU))
    origin, record_dirs, unreadable = select_records(FilePath(results), experiments)
    selection = _selection(origin, record_dirs, unreadable, cpu_record_dirs)
    with_measures = dataclasses.replace(selection.campaign, measures=shipped_measures(experiments))
    return dataclasses.replace(selection, campaign=with_measures)


def select_records(
    results: FilePath, experiments: FilePath = EXPERIMENTS
) -> tuple[str, list[FilePath], tuple[str, ...]]:
    """Return the origin and directories that ``records_to_show`` takes, and problems."""
    for command, folder in OWN.items():
        if own_dirs := records_in(results / folder):
            broken_links = [link for link in (results / folder).iterdir() if not link.exists()]
            problems = tuple(
                f"{link}: leads nowhere: run '{command}' again" for link in sorted(broken_links)
            )
            return f"Your own records, of '{command}'", own_dirs, problems
    shipped_dir = shipped_records(EXPERIMENT, experiments)
    plans, unreadable = _plans(records_in(shipped_dir))
    experiment = load_experiment(EXPERIMENT, experiments)
    # Records of other settings are shown only where none is of the runs as they are now
    for key_of, settings in ((plan_identity, ""), (_test, ", of earlier settings")):
        for which, set_title in SHIPPED.items():
            wanted = {key_of(run.plan) for run in experiment.runs(which)}
            if selected := [folder for folder, plan in plans.items() if key_of(plan) in wanted]:
                origin = f"The records that farpath ships, {set_title}{settings}"
                return origin, selected, unreadable
    raise BadInputError(
        problem="there are no records to show, neither in "
        f"{results / OWN['make paper']} nor in {shipped_dir}",
        remedy="make some with 'make campaign SET=quick', which takes minutes, or "
        "'make paper', which takes hours",
    )


def records_of(directory: FilePath | str) -> RecordSelection:
    """Select all records in a directory; raise BadInputError if it holds none."""
    return _selection(f"The records in {directory}", records_in(FilePath(directory)))


def _selection(
    origin: str,
    record_dirs: Iterable[FilePath],
    unreadable: tuple[str, ...] = (),
    cpu_record_dirs: Iterable[FilePath] = (),
) -> RecordSelection:
    by_name = {record_dir.name: record_dir for record_dir in record_dirs}
    runs, problems = summarise_records(by_name.values())
    if not runs:
        reason = "; ".join(problems) or "give a directory that 'farpath run' wrote to"
        raise BadInputError(problem=f"{origin}: none can be read", remedy=reason)
    cpu_runs, cpu_problems = summarise_records(cpu_record_dirs)
    campaign = result_set_of(runs, cpu_runs)
    return RecordSelection(origin, by_name, campaign, (*problems, *unreadable, *cpu_problems))


def _plans(record_dirs: Iterable[FilePath]) -> tuple[dict[FilePath, Plan], tuple[str, ...]]:
    """Return the plan of each record, and a sentence for each record that cannot be read."""
    plans, problems = {}, []
    for record_dir in record_dirs:
        try:
            plans[record_dir] = load_plan(record_dir)
        except FarpathError as error:
            problems.append(error.message)
    return plans, tuple(problems)


def _test(plan: Plan) -> str:
    """Return what a run tests: path, stacks, seed, length, era and clock, whatever their settings.

    As a text, so that it takes the place of a plan's identity.
    """
    labels = "+".join(stack.label for stack in plan.stacks)
    of_run = (plan.seed, plan.schedule.region_s, plan.era.name, plan.settings.clock)
    return " ".join(map(str, (plan.path.name, labels, *of_run)))
