"""The selection of a companion experiment's records: the reader's own, else those shipped.

None of this needs a lab: a record belongs to the run with the same plan.
An experiment of whose runs documents print results may have a selection of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.errors import BadInputError, FarpathError
from farpath.base.project import EXPERIMENTS, experiment_folder
from farpath.metrics.measures import MEASURES_FILE, Measure, read_measures
from farpath.record.identity import plan_identity
from farpath.record.record import RECORD_FILE, load_record, records_in
from farpath.report.figures.experiments import figures
from farpath.report.measures_report import verdicts_of
from farpath.report.table import Table
from farpath.report.tables.measures_table import measure_tables
from farpath.runs.analyses import campaign_command, experiment_with, measures_of
from farpath.runs.claims import ClaimVerdict, as_text
from farpath.runs.claims.claim_rules import claims_of
from farpath.runs.experiment import (
    QUICK,
    WHOLE,
    Experiment,
    RecordedRun,
    WantedRun,
    load_experiment,
)
from farpath.runs.status import shipped_records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from farpath.spec.plan import Plan

#: The directory below results in which `make campaign EXPERIMENT=companion` puts records;
#: runs of one experiment alone are in a folder of its name.
OWN = "companion"
#: The shipped sets of runs; the first that has records is shown.
SHIPPED = {WHOLE: "the whole campaign", QUICK: "the quick set"}
#: At most this many missing runs are named.
MAX_NAMED_RUNS = 12


@dataclass(frozen=True, eq=False)
class ExperimentSelection:
    """The records and measures of an experiment, their origin, and the missing runs.

    ``problems``: a sentence for each record that cannot be read.
    """

    experiment: Experiment
    origin: str
    done: tuple[RecordedRun, ...]
    missing: tuple[WantedRun, ...]
    measures: tuple[Measure, ...]
    problems: tuple[str, ...] = ()

    def closest_run(self, **options: str) -> RecordedRun | None:
        """Return the run whose request matches most of these options; None without records.

        ``options``: those of the command line: ``path``, ``stack``, ``acks``...
        """

        def matches(recorded: RecordedRun) -> int:
            request = recorded.run.request
            return sum(getattr(request, name) == value for name, value in options.items())

        return max(self.done, key=matches, default=None)

    def show_closest_run(self, **options: str) -> None:
        """Show the label and the curves of ``closest_run`` in a notebook; nothing without one."""
        from IPython.display import display

        from farpath.notebook.explorer import show_figure
        from farpath.report.html.run_page import curves

        if chosen := self.closest_run(**options):
            display({"text/plain": chosen.run.label}, raw=True)  # type: ignore[no-untyped-call]
            show_figure(curves(chosen.record))

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures that there are measures or runs for."""
        return tuple(figure for _, figure in figures(self.measures, self.done))

    @property
    def tables(self) -> tuple[Table, ...]:
        """One table of measured values, theory and published values; empty without measures."""
        return measure_tables(self.measures, {self.experiment.name: self.experiment.title})

    @property
    def verdicts(self) -> tuple[ClaimVerdict, ...]:
        """The verdicts on the claims that this experiment decides."""
        claim_ids = claims_of(self.experiment.name)
        return tuple(verdict for verdict in verdicts_of(self.measures) if verdict.id in claim_ids)

    @property
    def verdicts_text(self) -> str:
        """The verdicts as lines of text."""
        return as_text(self.verdicts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on origin, counts, missing runs and problems."""
        name, runs = self.experiment.name, len(self.done) + len(self.missing)
        releases = {recorded.record.kernel for recorded in self.done}
        return (
            f"{self.origin}: {len(self.done)} of {runs} runs of {name}.",
            *([f"Missing: {_named(self.missing)}."] if self.missing else []),
            *([f"MIXED: kernels {', '.join(sorted(releases))}."] if len(releases) > 1 else []),
            *(f"Left out: {problem}." for problem in self.problems),
        )

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Print the sentences in a notebook."""
        printer.text("\n".join(self.sentences))


def experiment_to_show(
    name: str, results: FilePath | str, experiments: FilePath = EXPERIMENTS
) -> ExperimentSelection:
    """Select the reader's own records of an experiment below ``results``, else shipped ones.

    Of either, the whole set of runs is taken if some of it exists, else the quick set. A run of an
    own set takes a shipped record if it has no other, as in a campaign. Measures are those shipped
    with the records, else they are calculated. Where nothing is measured yet, the selection is
    empty and its origin names the commands that make records. Raises BadInputError if there are
    records and none can be read.
    """
    experiment = load_experiment(name, experiments)
    folders = (FilePath(results) / OWN, FilePath(results) / name)
    own, own_problems = _by_plan(
        record_dir for own_dir in folders for record_dir in records_in(own_dir)
    )
    folder = shipped_records(name, experiments)
    shipped, problems = _by_plan(records_in(folder))
    measures: tuple[Measure, ...] | None
    file = experiment_folder(name, experiments) / MEASURES_FILE
    if which := _set_of(experiment, own):
        origin, by_plan, measures = f"Your own records, {SHIPPED[which]}", {**shipped, **own}, None
        problems = (*own_problems, *problems)
    elif own_problems and not own:
        raise BadInputError(
            problem="Your own records: none can be read", remedy="; ".join(own_problems)
        )
    elif which := _set_of(experiment, shipped):
        origin, by_plan = f"The records that farpath ships, {SHIPPED[which]}", shipped
        measures = read_measures(file) if which == WHOLE and file.is_file() else None
    elif file.is_file():
        which, origin = WHOLE, "The measures that farpath ships, without records"
        by_plan, measures = {}, read_measures(file)
    else:
        which, by_plan, measures = WHOLE, {}, ()
        own_dir = FilePath(results) / experiment_with(name, experiments)
        origin = (
            f"Nothing is measured yet, neither in {own_dir} nor in {folder}; make records with "
            f"'{campaign_command(name, QUICK, experiments)}', which takes minutes, or "
            f"'{campaign_command(name, experiments=experiments)}', which takes hours"
        )
    runs = experiment.runs(which)
    done, unreadable = _load(runs, by_plan)
    if unreadable and not done:
        raise BadInputError(problem=f"{origin}: none can be read", remedy="; ".join(unreadable))
    missing = tuple(run for run in runs if run not in [recorded.run for recorded in done])
    if measures is None:
        measures = measures_of(done, experiments=experiments)
    return ExperimentSelection(
        experiment, origin, done, missing, measures, (*unreadable, *problems)
    )


def load_plan(record_dir: FilePath) -> Plan:
    """Return the plan of a record without reading its samples.

    Raises BadInputError as ``farpath.record.record.load_record`` does.
    """
    return load_record(record_dir, verify=False).plan


def _by_plan(record_dirs: Iterable[FilePath]) -> tuple[dict[str, FilePath], tuple[str, ...]]:
    """Return the latest record of each plan, and a sentence for each that cannot be read."""
    by_plan, problems = {}, []
    for record_dir in sorted(
        record_dirs, key=lambda record_dir: (record_dir / RECORD_FILE).stat().st_mtime
    ):
        try:
            by_plan[plan_identity(load_plan(record_dir))] = record_dir
        except FarpathError as error:
            problems.append(error.message)
    return by_plan, tuple(problems)


def _set_of(experiment: Experiment, by_plan: dict[str, FilePath]) -> str | None:
    """Return the set that records belong to: WHOLE if one is not of the quick set, else QUICK.

    Returns None without records of either.
    """
    of_whole, of_quick = (
        {plan_identity(run.plan) for run in experiment.runs(which)} & set(by_plan)
        for which in (WHOLE, QUICK)
    )
    if of_whole - of_quick:
        return WHOLE
    return QUICK if of_quick else None


def _load(
    runs: Sequence[WantedRun], by_plan: dict[str, FilePath]
) -> tuple[tuple[RecordedRun, ...], tuple[str, ...]]:
    """Load the records of runs, and return a sentence for each that cannot be read."""
    done, problems = [], []
    for run in runs:
        record_dir = by_plan.get(plan_identity(run.plan))
        if record_dir is None:
            continue
        try:
            done.append(RecordedRun(run, load_record(record_dir)))
        except FarpathError as error:
            problems.append(error.message)
    return tuple(done), tuple(problems)


def _named(runs: Sequence[WantedRun]) -> str:
    """Return the labels of runs and their droppers; of many runs only the first are named."""
    texts = []
    for run in runs[:MAX_NAMED_RUNS]:
        drop = run.request.drop
        texts.append(
            run.label if drop is None or drop in run.label else f"{run.label}, drop {drop}"
        )
    remainder = [f"and {len(runs) - MAX_NAMED_RUNS} others"] if len(runs) > MAX_NAMED_RUNS else []
    return "; ".join([*texts, *remainder])
