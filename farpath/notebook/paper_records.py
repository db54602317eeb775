"""Shown: the records that notebooks show: the reader's own, else those the project ships.

Nothing here needs a lab: shipped records are found by what was run, not by what made it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.analysis.paper_stacks import intended_differences, labels_by_paper_name
from farpath.analysis.published import PUBLISHED_PATH
from farpath.analysis.results import ResultSet, RunSummary, mixed, result_set_of, summarise_records
from farpath.analysis.studies.registry import shipped_measures
from farpath.base.errors import BadInputError, FarpathError
from farpath.base.project import EXPERIMENTS
from farpath.campaign.status import records_in, shipped_records
from farpath.planning.experiment import CPU, PAPER, WHOLE, load_experiment
from farpath.record.record import Record, load_record

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: Where `make paper` and `make paper-quick` link the records that count, below results.
OWN = {"make paper": "paper/records", "make paper-quick": "paper-quick/records"}
#: Where `make paper` links those in which CPU was counted.
OWN_CPU = "paper/cpu-records"
#: The shipped sets of runs, the first that there is counts.
SHIPPED = {WHOLE: "the whole campaign", "quick": "the quick set"}
_Key = tuple[str, tuple[str, ...], int, float, str, str]


@dataclass(frozen=True)
class RecordSelection:
    """Records to show: whose they are, where each is by its name, and their figures.

    ``problems``: a sentence for each record that cannot be read.
    """

    whose: str
    places: Mapping[str, FilePath]
    campaign: ResultSet
    problems: tuple[str, ...] = ()

    def run(self, stack: str, path: str = PUBLISHED_PATH, seed: int | None = None) -> RunSummary:
        """The run of a stack on a path, of the smallest seed if none is given.

        ``stack``: a label, or the paper's name of one. Raises BadInputError naming the
        runs there are.
        """
        label = labels_by_paper_name(self.campaign).get(stack, stack)
        found = [run for run in self.campaign.of(path, label) if seed in (None, run.seed)]
        if not found:
            of_seed = "" if seed is None else f" with seed {seed}"
            raise BadInputError(
                f"there is no record of {stack} on path {path}{of_seed}: there are "
                f"{', '.join(self.campaign.stacks)} on {', '.join(self.campaign.paths)}, seeds "
                f"{', '.join(map(str, self.seeds))}"
            )
        return found[0]

    def place(self, run: RunSummary) -> FilePath:
        """The directory of a run's record."""
        return self.places[run.record]

    def record(self, stack: str, path: str = PUBLISHED_PATH, seed: int | None = None) -> Record:
        """The record of :meth:`run`, which raises for one that is not there."""
        return load_record(self.place(self.run(stack, path, seed)))

    @property
    def seeds(self) -> tuple[int, ...]:
        """All seeds."""
        return tuple(sorted({run.seed for run in self.campaign.runs}))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Whose records these are, of what, how they differ from the paper's, what is wrong."""
        runs = self.campaign.runs
        of = f"{len(self.campaign.stacks)} stacks on {', '.join(self.campaign.paths)}"
        seeds = f"seed{'s' if len(self.seeds) > 1 else ''} {', '.join(map(str, self.seeds))}"
        return (
            f"{self.whose}: {len(runs)} runs, {of}, {seeds}.",
            *intended_differences(runs),
            *(f"MIXED: {said}." for said in mixed(self.campaign)),
            *(f"Left out: {said}." for said in self.problems),
        )

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """What a notebook shows."""
        printer.text("\n".join(self.sentences))


def records_to_show(
    results: FilePath | str, experiments: FilePath = EXPERIMENTS
) -> RecordSelection:
    """The reader's own records below ``results``, else the shipped whole campaign or quick set.

    Own are those that `make paper` or else `make paper-quick` made. Raises BadInputError
    that names the command to make some, if there are none. Figures on CPU are of own or
    shipped records in which it was counted. What the companion experiments measured is
    what farpath ships.
    """
    counted = records_in(FilePath(results) / OWN_CPU)
    counted = counted or records_in(shipped_records(PAPER, experiments, CPU))
    whose, places, unreadable = places_to_show(FilePath(results), experiments)
    shown = _shown(whose, places, unreadable, counted)
    measured = dataclasses.replace(shown.campaign, measures=shipped_measures(experiments))
    return dataclasses.replace(shown, campaign=measured)


def places_to_show(
    results: FilePath, experiments: FilePath = EXPERIMENTS
) -> tuple[str, list[FilePath], tuple[str, ...]]:
    """Whose records :func:`records_to_show` takes, where they are, and what it leaves out."""
    for command, place in OWN.items():
        if own := records_in(results / place):
            lost = [link for link in (results / place).iterdir() if not link.exists()]
            said = tuple(f"{link}: leads nowhere: run '{command}' again" for link in sorted(lost))
            return f"Your own records, of '{command}'", own, said
    shipped = shipped_records(PAPER, experiments)
    found, unreadable = _by_key(records_in(shipped))
    if found:
        experiment = load_experiment(PAPER, experiments)
        for which, set_title in SHIPPED.items():
            wanted = {_key(run.plan) for run in experiment.runs(which)}
            if places := [place for place, key in found.items() if key in wanted]:
                return f"The records that farpath ships, {set_title}", places, unreadable
    raise BadInputError(
        f"there are no records to show, neither in {results / OWN['make paper']} nor in {shipped}: "
        "make some with 'make paper-quick', which takes minutes, or 'make paper', which takes hours"
    )


def records_of(directory: FilePath | str) -> RecordSelection:
    """All records in a directory; raises BadInputError if it holds none."""
    return _shown(f"The records in {directory}", records_in(FilePath(directory)))


def _shown(
    whose: str,
    places: Iterable[FilePath],
    unreadable: tuple[str, ...] = (),
    counted: Iterable[FilePath] = (),
) -> RecordSelection:
    by_name = {place.name: place for place in places}
    runs, problems = summarise_records(by_name.values())
    if not runs:
        said = "; ".join(problems) or "give a directory that 'farpath run' wrote to"
        raise BadInputError(f"{whose}: none can be read: {said}")
    cpu_runs, cpu_problems = summarise_records(counted)
    campaign = result_set_of(runs, cpu_runs)
    return RecordSelection(whose, by_name, campaign, (*problems, *unreadable, *cpu_problems))


def plan_at(place: FilePath) -> Plan:
    """What was run in a record, whose samples are not read.

    Raises what :func:`farpath.record.record.load_record` does.
    """
    return load_record(place, verify=False).plan


def _by_key(places: Iterable[FilePath]) -> tuple[dict[FilePath, _Key], tuple[str, ...]]:
    """What was run in each record, and a sentence for each that does not say it."""
    found, problems = {}, []
    for place in places:
        try:
            found[place] = _key(plan_at(place))
        except FarpathError as error:
            problems.append(error.message)
    return found, tuple(problems)


def _key(plan: Plan) -> _Key:
    """What tells one run of an experiment from another."""
    stacks = tuple(stack.label for stack in plan.stacks)
    schedule, clock = plan.schedule, plan.settings.clock
    return plan.path.name, stacks, plan.seed, schedule.region_s, plan.era.name, clock
