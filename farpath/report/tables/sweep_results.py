"""The results of a sweep: for each quantity of runs and flows a column with a value of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from farpath.base.column import Column
from farpath.base.errors import BadInputError
from farpath.mechanisms.registry import mechanism_columns
from farpath.metrics.catalogue import FLOW, FLOWS_RTT, RUN_RESULTS, SPURIOUS
from farpath.metrics.flow_summary import FlowSummary, flows_of
from farpath.metrics.record_set import RUNS, Member, RecordSet, make_record_set, member_of
from farpath.metrics.results import RunSummary
from farpath.metrics.run import Summary
from farpath.record.record import Record, load_record
from farpath.runs.make import MadeRun, MadeSet
from farpath.runs.run_set import RunSet
from farpath.spec.plan import Plan

#: The quantities of each flow where runs have several: the ends of the keys of their columns.
SHARE = "share"
OF_FLOWS = ("throughput_mbps", SHARE, *FLOWS_RTT)


@dataclass(frozen=True)
class SweptRun:
    """A recorded run of a sweep; its record is read when its flows are first asked for."""

    made: MadeRun[RunSummary]

    @property
    def plan(self) -> Plan:
        """Its plan."""
        return self.made.run.plan

    @property
    def values(self) -> Mapping[str, str]:
        """The swept options with its values, as typed."""
        return self.made.run.values

    @cached_property
    def record(self) -> Record:
        """Its record; the samples are read when they are first asked for."""
        return load_record(self.made.record, verify=False)

    @cached_property
    def member(self) -> Member:
        """It as one of a set."""
        return member_of(self.record, self.made.value)

    @cached_property
    def flows(self) -> dict[str, FlowSummary]:
        """Its flows, by name."""
        return {flow.flow: flow for flow in flows_of(self.record)}


def _summary_of(run: SweptRun) -> Summary:
    return run.made.value.summary


#: The quantities of whole runs.
OF_RUNS: tuple[Column[SweptRun], ...] = (
    *(column.seen_from(_summary_of) for column in RUN_RESULTS),
    *(column.seen_from(lambda run: run.record) for column in FLOWS_RTT.values()),
    SPURIOUS.seen_from(lambda run: run.flows.values()),
)


def column_keys(sweep: RunSet) -> tuple[str, ...]:
    """Return the keys of the columns that a sweep will have, before it is made."""
    flows = _flow_names([run.plan for run in sweep.runs])
    return (
        *(column.key for column in OF_RUNS),
        *(column.key for column in mechanism_columns()),
        *(f"{flow}_{key}" for flow in flows for key in OF_FLOWS),
    )


def check_column(key: str, sweep: RunSet) -> None:
    """Raise BadInputError for a key that no column of a sweep has."""
    keys = column_keys(sweep)
    if key not in keys:
        raise BadInputError(
            option="metric", given=key, remedy=f"it must be one of {', '.join(keys)}"
        )


def _flow_names(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return the names of the runs' flows, each once; none if all runs have one flow."""
    if all(len(plan.schedule.flows) == 1 for plan in plans):
        return ()
    return tuple(dict.fromkeys(flow.name for plan in plans for flow in plan.schedule.flows))


@dataclass(frozen=True)
class SweepResults:
    """The recorded runs of a sweep, and their columns."""

    outcome: MadeSet[RunSummary]

    @cached_property
    def runs(self) -> tuple[SweptRun, ...]:
        """The recorded runs, in the order of the sweep."""
        return tuple(map(SweptRun, self.outcome.runs))

    @property
    def records(self) -> RecordSet:
        """The records as a set, for tables."""
        return make_record_set(self.outcome.directory, [run.member for run in self.runs], RUNS)

    @cached_property
    def flow_names(self) -> tuple[str, ...]:
        """The names of all flows; none if each run has one."""
        return _flow_names([run.plan for run in self.runs])

    def stacks_of(self, name: str) -> tuple[str, ...]:
        """Return the stack of a flow in each run, empty where there is no such flow."""
        return tuple(run.flows[name].stack if name in run.flows else "" for run in self.runs)

    @cached_property
    def columns(self) -> tuple[Column[SweptRun], ...]:
        """The quantities of whole runs, of mechanisms, and of each flow if runs have several."""
        of_flows = (self.column_of_flow(name, key) for name in self.flow_names for key in OF_FLOWS)
        return (*OF_RUNS, *self.of_mechanisms, *of_flows)

    @property
    def of_mechanisms(self) -> tuple[Column[SweptRun], ...]:
        """The columns that mechanisms add."""
        return tuple(column.seen_from(lambda run: run.record) for column in mechanism_columns())

    @property
    def shares(self) -> tuple[Column[SweptRun], ...]:
        """The share of each flow; none if each run has one flow."""
        return tuple(self.column_of_flow(name, SHARE) for name in self.flow_names)

    def column_of_flow(self, name: str, key: str) -> Column[SweptRun]:
        """Return a quantity of the flow of that name; a run without it has no value."""
        stacks = list(dict.fromkeys(filter(None, self.stacks_of(name))))
        stack = f" {stacks[0]}" if len(stacks) == 1 else ""
        column = FLOW[key]
        return replace(
            column.seen_from(lambda run: run.flows.get(name)),
            key=f"{name}_{column.key}",
            heading=f"{name}{stack} {column.heading}",
            words=column.words.format(f"{name} ({' or '.join(stacks)})"),
        )

    def column(self, key: str) -> Column[SweptRun]:
        """Return the column of a key; raise BadInputError for one that there is not."""
        check_column(key, self.outcome.run_set)
        return next(column for column in self.columns if column.key == key)
