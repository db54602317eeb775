"""Shown: what notebooks show of a companion experiment: the reader's own records, else shipped.

Nothing here needs a lab: a record is of a run of which the same was asked. As
:mod:`farpath.notebook.paper_records` is for the seven regions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.analysis.claims import ClaimVerdict
from farpath.analysis.claims.study_rules import claims_of
from farpath.analysis.studies.measure import MEASURES_FILE, Measure, RecordedRun, read_measures
from farpath.analysis.studies.registry import measures_of
from farpath.base.errors import BadInputError, FarpathError
from farpath.base.project import EXPERIMENTS
from farpath.campaign.status import records_in, shipped_records
from farpath.notebook.paper_records import SHIPPED, plan_at
from farpath.planning.experiment import QUICK, WHOLE, Experiment, WantedRun, load_experiment
from farpath.record.identity import plan_identity
from farpath.record.record import RECORD_FILE, load_record
from farpath.report.study import verdicts_of
from farpath.report.tables.formats import ResultTable
from farpath.report.tables.studies import study_tables

#: Where `make companion` and `make companion-quick` put records, below results; runs of one
#: experiment alone have a folder of its name.
OWN = "companion"
#: So many runs that are missing are named.
NAMED = 12


@dataclass(frozen=True, eq=False)
class StudySelection:
    """What is there of an experiment: whose it is, runs with records, runs without, measures.

    ``problems``: a sentence for each record that cannot be read.
    """

    experiment: Experiment
    whose: str
    done: tuple[RecordedRun, ...]
    missing: tuple[WantedRun, ...]
    measures: tuple[Measure, ...]
    problems: tuple[str, ...] = ()

    def like(self, **words: str) -> RecordedRun | None:
        """The run of which most was asked in these words; None if no run has a record.

        ``words`` are those of the command line: ``path``, ``stack``, ``acks``...
        """

        def alike(each: RecordedRun) -> int:
            return sum(getattr(each.run.asked, word) == value for word, value in words.items())

        return max(self.done, key=alike, default=None)

    @property
    def tables(self) -> tuple[ResultTable, ...]:
        """Measured beside theory and published: one table, none without a measure."""
        return study_tables(self.measures, {self.experiment.name: self.experiment.title})

    @property
    def verdicts(self) -> tuple[ClaimVerdict, ...]:
        """What the measures say of the claims that this experiment decides."""
        mine = claims_of(self.experiment.name)
        return tuple(verdict for verdict in verdicts_of(self.measures) if verdict.id in mine)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Whose records these are, how many, what is missing, what is wrong."""
        name, runs = self.experiment.name, len(self.done) + len(self.missing)
        kernels = [each.record.data["provenance"].get("kernel", {}) for each in self.done]
        releases = {kernel.get("release", "") for kernel in kernels}
        return (
            f"{self.whose}: {len(self.done)} of {runs} runs of {name}.",
            *([f"Missing: {_named(self.missing)}."] if self.missing else []),
            *([f"MIXED: kernels {', '.join(sorted(releases))}."] if len(releases) > 1 else []),
            *(f"Left out: {said}." for said in self.problems),
        )

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """What a notebook shows."""
        printer.text("\n".join(self.sentences))


def experiment_to_show(
    name: str, results: FilePath | str, experiments: FilePath = EXPERIMENTS
) -> StudySelection:
    """The reader's own records of an experiment below ``results``, else those that are shipped.

    Of either the whole set of runs is taken if some of it is there, else the quick set. A
    run of an own set of which only a shipped record is there has that, as in a campaign.
    Measures are those shipped with the records, else made of these. Raises BadInputError
    that names the command to make some, if there is nothing to show.
    """
    experiment = load_experiment(name, experiments)
    places = (FilePath(results) / OWN, FilePath(results) / name)
    own, own_problems = _found(place for folder in places for place in records_in(folder))
    folder = shipped_records(name, experiments)
    shipped, problems = _found(records_in(folder))
    file = experiments / name / MEASURES_FILE
    if which := _set_of(experiment, own):
        whose, taken, measures = f"Your own records, {SHIPPED[which]}", {**shipped, **own}, None
        problems = (*own_problems, *problems)
    elif own_problems and not own:
        raise BadInputError(f"Your own records: none can be read: {'; '.join(own_problems)}")
    elif which := _set_of(experiment, shipped):
        whose, taken = f"The records that farpath ships, {SHIPPED[which]}", shipped
        measures = read_measures(file) if which == WHOLE and file.is_file() else None
    elif file.is_file():
        which, whose = WHOLE, "The measures that farpath ships, without records"
        taken, measures = {}, read_measures(file)
    else:
        raise BadInputError(
            f"there are no records to show of {name}, neither in {places[0]} nor in {folder}: make "
            "some with 'make companion-quick', which takes minutes, or 'make companion', which "
            "takes hours"
        )
    runs = experiment.runs(which)
    done, unreadable = _load(runs, taken)
    if unreadable and not done:
        raise BadInputError(f"{whose}: none can be read: {'; '.join(unreadable)}")
    missing = tuple(run for run in runs if run not in [each.run for each in done])
    if measures is None:
        measures = measures_of(done)
    return StudySelection(experiment, whose, done, missing, measures, (*unreadable, *problems))


def _found(places: Iterable[FilePath]) -> tuple[dict[str, FilePath], tuple[str, ...]]:
    """Records by what was asked, the latest of each, and a sentence for each that is none."""
    found, problems = {}, []
    for place in sorted(places, key=lambda place: (place / RECORD_FILE).stat().st_mtime):
        try:
            found[plan_identity(plan_at(place))] = place
        except FarpathError as error:
            problems.append(error.message)
    return found, tuple(problems)


def _set_of(experiment: Experiment, found: dict[str, FilePath]) -> str | None:
    """The set that records are of: the whole if one is of no run of the quick set too."""
    whole, quick = (
        {plan_identity(run.plan) for run in experiment.runs(which)} & set(found)
        for which in (WHOLE, QUICK)
    )
    if whole - quick:
        return WHOLE
    return QUICK if quick else None


def _load(
    runs: Sequence[WantedRun], found: dict[str, FilePath]
) -> tuple[tuple[RecordedRun, ...], tuple[str, ...]]:
    """The runs whose records can be read, and a sentence for each other record."""
    done, problems = [], []
    for run in runs:
        place = found.get(plan_identity(run.plan))
        if place is None:
            continue
        try:
            done.append(RecordedRun(run, load_record(place)))
        except FarpathError as error:
            problems.append(error.message)
    return tuple(done), tuple(problems)


def _named(runs: Sequence[WantedRun]) -> str:
    """Runs by their labels and what they lose; of many the first."""
    said = []
    for run in runs[:NAMED]:
        drop = run.asked.drop
        said.append(run.label if drop is None or drop in run.label else f"{run.label}, drop {drop}")
    more = [f"and {len(runs) - NAMED} others"] if len(runs) > NAMED else []
    return "; ".join([*said, *more])
