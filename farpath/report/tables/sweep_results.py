"""The results of a sweep: for each quantity of runs and flows a column with a value of each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from farpath.analysis.record_set import RUNS, Member, RecordSet, make_record_set
from farpath.analysis.results import RunSummary
from farpath.base.errors import BadInputError
from farpath.metrics.column import FLOW, RUN_RESULTS, Column, Shown, number
from farpath.metrics.flow_summary import FlowSummary, flows_of
from farpath.record.record import load_record
from farpath.runs.make import MadeSet
from farpath.runs.run_set import RunSet
from farpath.spec.plan import Plan

#: The quantities of each flow where runs have several: the ends of the keys of their columns.
THROUGHPUT, SHARE = "throughput_mbps", "share"
_OF_FLOWS = (THROUGHPUT, SHARE)


@dataclass(frozen=True)
class SweepColumn:
    """A column with a value of each run, NaN where it is not known."""

    column: Column[Any]
    values: tuple[float, ...]

    @property
    def key(self) -> str:
        """The key of the column."""
        return self.column.key

    @property
    def cells(self) -> list[Shown]:
        """The values with their texts; counts are whole numbers."""
        decimals = self.column.decimals
        return [
            Shown(
                None if math.isnan(value) else int(value) if decimals == 0 else value,
                number(value, decimals),
            )
            for value in self.values
        ]


def column_keys(sweep: RunSet) -> tuple[str, ...]:
    """Return the keys of the columns that a sweep will have, before it is made."""
    flows = _flow_names([run.plan for run in sweep.runs])
    return (
        *(metric.key for metric in RUN_RESULTS),
        *(f"{flow}_{key}" for flow in flows for key in _OF_FLOWS),
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
    """The recorded runs of a sweep, and the results of each of their flows."""

    outcome: MadeSet[RunSummary]

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The plan and the summary of each run."""
        return tuple(Member(made.run.plan, made.value) for made in self.outcome.runs)

    @property
    def records(self) -> RecordSet:
        """The records as a set, for tables."""
        return make_record_set(self.outcome.directory, self.members, RUNS)

    @cached_property
    def flows(self) -> tuple[dict[str, FlowSummary], ...]:
        """The flows of each run, by name; their records are read at first use."""
        records = (load_record(made.record, verify=False) for made in self.outcome.runs)
        return tuple({flow.flow: flow for flow in flows_of(record)} for record in records)

    @cached_property
    def flow_names(self) -> tuple[str, ...]:
        """The names of all flows; none if each run has one."""
        return _flow_names([made.run.plan for made in self.outcome.runs])

    def stacks_of(self, name: str) -> tuple[str, ...]:
        """Return the stack of a flow in each run, empty where there is no such flow."""
        return tuple(flows[name].stack if name in flows else "" for flows in self.flows)

    @cached_property
    def columns(self) -> tuple[SweepColumn, ...]:
        """The quantities of whole runs, then those of each flow if runs have several."""
        summaries = [made.value.summary for made in self.outcome.runs]
        of_runs = (
            SweepColumn(column, tuple(map(column.number_of, summaries))) for column in RUN_RESULTS
        )
        of_flows = (self._of_flow(name, FLOW[key]) for name in self.flow_names for key in _OF_FLOWS)
        return (*of_runs, *of_flows)

    def _of_flow(self, name: str, column: Column[FlowSummary]) -> SweepColumn:
        stacks = list(dict.fromkeys(filter(None, self.stacks_of(name))))
        stack = f" {stacks[0]}" if len(stacks) == 1 else ""
        named = replace(
            column,
            key=f"{name}_{column.key}",
            heading=f"{name}{stack} {column.heading}",
            words=column.words.format(f"{name} ({' or '.join(stacks)})"),
        )
        flows = (each.get(name) for each in self.flows)
        values = (math.nan if flow is None else column.number_of(flow) for flow in flows)
        return SweepColumn(named, tuple(values))

    def column(self, key: str) -> SweepColumn:
        """Return the column of a key; raise BadInputError for one that there is not."""
        check_column(key, self.outcome.run_set)
        return next(column for column in self.columns if column.key == key)
