"""The records of one directory, as a study's or as plain runs.

``default_view`` alone decides which. Records of a study are shown as in its documents, with the
published numbers. All others are shown as runs, each with its settings, and as means over seeds
where only the seed differs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.column import Value
from farpath.base.errors import BadInputError
from farpath.mechanisms.draw.mechanism import drawn, undrawn
from farpath.mechanisms.registry import values_of
from farpath.metrics.catalogue import FLOWS_RTT
from farpath.metrics.estimate import Estimate, are_alike, estimate_over_seeds
from farpath.metrics.one_draw import is_random
from farpath.metrics.results import (
    ResultSet,
    RunSummary,
    load_runs,
    measure_directory,
    result_set_of,
    run_summary,
)
from farpath.metrics.studies import Study, studies, study_of, titles
from farpath.record.identity import plan_identity
from farpath.record.record import Record
from farpath.spec.labels import stacks_label

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: The view of records as a table of runs. Each study has a view of its own.
RUNS = "runs"


def views() -> tuple[str, ...]:
    """Return all views: those of the studies, and that of plain runs."""
    return (*(study.VIEW for study in studies()), RUNS)


def default_view(plans: Sequence[Plan]) -> str:
    """Return a study's view if each run is one of the study and none occurs twice, else RUNS."""
    study = study_of(plans)
    return RUNS if study is None else study.VIEW


@dataclass(frozen=True)
class Member:
    """One run of a set: its plan, its summary, and the values that only its record has, by key.

    These are of mechanisms' columns and of those on its flows' RTTs.
    """

    plan: Plan
    run: RunSummary
    values: Mapping[str, Value] = field(default_factory=dict)

    @property
    def stacks(self) -> str:
        """The stacks of its flows, in the order of the flows."""
        return stacks_label(self.plan.schedule)

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key of the run: path, then stacks and test, then seed."""
        path, schedule = self.plan.path, self.plan.schedule
        of_path = (path.name, path.rtt_ms, path.rate_bps, path.buffer_bytes, path.loss)
        of_test = (self.stacks, schedule.name, schedule.region_s)
        return (*of_path, *of_test, self.plan.seed, self.run.record)


def member_of(record: Record, run: RunSummary) -> Member:
    """Return the run of a record, of which ``run`` is the summary, as one of a set."""
    of_flows = {key: column.of(record) for key, column in FLOWS_RTT.items()}
    return Member(record.plan, run, {**of_flows, **values_of(record)})


@dataclass(frozen=True)
class Group:
    """Runs that differ only in their seeds, or as draws, in the order of the seeds."""

    members: tuple[Member, ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds in ascending order, each once."""
        return tuple(sorted({member.plan.seed for member in self.members}))

    def over_seeds(self, figure: Callable[[Member], float]) -> Estimate:
        """Return a metric's mean over the seeds; two records of one seed count as their mean."""
        by_seed: dict[int, list[float]] = {}
        for member in self.members:
            by_seed.setdefault(member.plan.seed, []).append(figure(member))
        fingerprints = [member.run.fingerprint for member in self.members]
        means = [statistics.fmean(values) for values in by_seed.values()]
        return estimate_over_seeds(means, fingerprints)

    @property
    def are_alike(self) -> bool:
        """Whether the runs of several seeds are equal packet for packet."""
        return len(self.seeds) > 1 and are_alike(
            [member.run.fingerprint for member in self.members]
        )

    @property
    def are_hardly_random(self) -> bool:
        """Whether nothing in runs of several seeds is random, and yet they are not equal."""
        several = len(self.seeds) > 1 and not self.are_alike
        return several and not any(is_random(member.plan) for member in self.members)


@dataclass(frozen=True)
class RecordSet:
    """The records of a directory: its runs in order, and how they are shown.

    ``cpu_runs``: further runs, in which CPU was counted. ``problems``: a sentence for each record
    that is left out because it cannot be read.
    """

    directory: FilePath
    members: tuple[Member, ...]
    view: str
    cpu_runs: tuple[RunSummary, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def study(self) -> Study | None:
        """The study as whose records they are shown; None for plain runs."""
        return next((study for study in studies() if self.view == study.VIEW), None)

    @property
    def results(self) -> ResultSet:
        """The runs as results; BadInputError if two have one path, stack and seed."""
        return result_set_of([member.run for member in self.members], self.cpu_runs)

    @property
    def runs(self) -> ResultSet:
        """All runs, of which several may have the same path, stack and seed."""
        return ResultSet(tuple(member.run for member in self.members))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The runs in groups that differ only in their seeds."""
        by_key: dict[tuple[str, ...], list[Member]] = {}
        for member in self.members:
            run, plan = member.run, replace(undrawn(member.plan), seed=0)
            is_draw = str(drawn(member.plan) is not None)
            key = (plan_identity(plan), is_draw, run.kernel, run.lab, run.parts, run.code)
            by_key.setdefault(key, []).append(member)
        return tuple(Group(tuple(members)) for members in by_key.values())

    def of_path(self, path: str | None) -> RecordSet:
        """Return the runs on one path; raise BadInputError for a path without runs."""
        names = tuple(dict.fromkeys(member.plan.path.name for member in self.members))
        if path is None:
            return self
        if path not in names:
            raise BadInputError(
                problem=f"there is no record of path '{path}'",
                remedy=f"it must be one of {', '.join(names)}",
            )
        members = tuple(member for member in self.members if member.plan.path.name == path)
        return replace(self, members=members)


def make_record_set(
    directory: FilePath,
    members: Iterable[Member],
    view: str | None = None,
    problems: tuple[str, ...] = (),
    cpu_runs: tuple[RunSummary, ...] = (),
) -> RecordSet:
    """Return a set of runs, shown as ``view`` or, without one, by ``default_view``."""
    if view is not None and view not in views():
        raise BadInputError(
            option="view", given=view, remedy=f"it must be one of {', '.join(views())}"
        )
    ordered = tuple(sorted(members, key=lambda member: member.order))
    chosen_view = view or default_view([member.plan for member in ordered])
    return RecordSet(directory, ordered, chosen_view, cpu_runs, problems)


def load_record_set(
    directory: FilePath, view: str | None = None, cpu_directory: FilePath | None = None
) -> RecordSet:
    """Load all records in a directory and check their fingerprints.

    Raises BadInputError for a directory without records, for an unknown view, and for records with
    CPU counted that accompany others than a study's.
    """
    members, problems = measure_directory(
        directory, lambda record: member_of(record, run_summary(record))
    )
    cpu_runs, cpu_problems = load_runs(cpu_directory) if cpu_directory else ((), ())
    loaded = make_record_set(directory, members, view, (*problems, *cpu_problems), cpu_runs)
    if cpu_directory and loaded.study is None:
        raise BadInputError(
            option="cpu_records",
            given=str(cpu_directory),
            problem=f"it goes with records of {titles()}, and those in {directory} are not",
            remedy="leave it out",
        )
    return loaded
