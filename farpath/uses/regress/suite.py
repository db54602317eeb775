"""The suite: the short runs that reveal a change of a stack's behaviour (``suite.toml``)."""

from __future__ import annotations

import dataclasses
import difflib
import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.base.validation import validated
from farpath.lab.user_parts import BuiltParts
from farpath.mechanisms.quantities import RTT_MS
from farpath.planning.request import RunRequest
from farpath.programs.catalog import catalogue
from farpath.programs.registry import programs
from farpath.runs.cases import RunCase, matching, read_cases
from farpath.uses.regress.metrics import EXTRA_METRICS
from topologies import lay_out

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: Groups of cases for stacks that the suite does not name, by the type of stack.
TCP, UDT = "tcp", "udt"
SUITE = FilePath(__file__).with_name("suite.toml")
#: The largest relative change of the base RTT with further seeds.
RTT_VARIATION = 1e-3


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Case(RunCase):
    """One case: a run, the names of its groups of stacks, and its extra metrics.

    ``extra_metrics``: names of ``EXTRA_METRICS``.
    """

    groups: tuple[str, ...]
    extra_metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown extra metric."""
        if unknown := sorted(set(self.extra_metrics) - EXTRA_METRICS.keys()):
            raise ValueError(
                f"{unknown[0]} is no extra metric: allowed are {', '.join(EXTRA_METRICS)}"
            )


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Suite:
    """All cases, and the stacks of each of their groups."""

    groups: Mapping[str, tuple[str, ...]]
    cases: tuple[Case, ...]

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks that are run by default."""
        return tuple(dict.fromkeys(stack for group in self.groups.values() for stack in group))


@dataclass(frozen=True)
class Trial:
    """One case with one stack."""

    stack: str
    case: Case

    @property
    def name(self) -> str:
        """The trial for people and on the command line: ``htcp/one-loss``."""
        return f"{self.stack}/{self.case.name}"

    @property
    def request(self) -> RunRequest:
        """The request of its run with seed 1."""
        request = self.case.request(self.stack)
        if programs()[catalogue()[self.stack].program].is_tcp:
            return request
        # The kernel knows nothing of a program's own transport
        return request.changed(trace=None)

    @property
    def has_sides(self) -> bool:
        """Whether its run has a guest, and so may have a kernel, for each side of the path."""
        return lay_out(self.plan()).sites > 1

    def seeded(self, seed: int) -> RunRequest:
        """Return the request for a seed; with others than 1 the base RTT varies by a random bit.

        A single flow without random losses hardly depends on its seed. An RTT that differs by a
        thousandth changes only the phase of packets relative to each other, and no behaviour of a
        stack. A case on a named path then has a custom path with its other options.
        """
        request = dataclasses.replace(self.request, seed=str(seed))
        if seed == 1:
            return request
        assert request.rtt is not None
        variation = random.Random(f"{self.name} {seed}").uniform(-RTT_VARIATION, RTT_VARIATION)
        rtt_ms = RTT_MS.parse(request.rtt, "rtt") * (1 + variation)
        return dataclasses.replace(request, path=None, rtt=f"{rtt_ms:.3f}ms")

    def plan(self, seed: int = 1) -> Plan:
        """Return the plan of the request for a seed."""
        request = self.seeded(seed)
        return request.plan(user_parts=BuiltParts(request.lab))


@cache
def suite(file: FilePath = SUITE) -> Suite:
    """Return the suite in a file, by default the one that the project ships.

    Each case also has the file's ``options``, unless it has its own. Raises BadInputError for an
    invalid field.
    """
    return validated(Suite, read_cases(file, "cases"), str(file))


def trials(stacks: Sequence[str] = (), only: Sequence[str] = ()) -> tuple[Trial, ...]:
    """Return the trials of the given stacks, by default all, that match one of the patterns.

    A stack of the catalogue that the suite does not name has the cases of ``tcp``, or of ``udt`` if
    it is a program. ``only``: patterns of names, such as ``htcp/*``, ``*/one-loss`` or
    ``one-loss``. Raises BadInputError for an unknown stack, and for a pattern that matches nothing.
    """
    full_suite = suite()
    selected = {
        f"{stack}/{case.name}": Trial(stack, case)
        for stack in stacks or full_suite.stacks
        for case in full_suite.cases
        if set(case.groups) & _groups_of(stack)
    }
    otherwise = (
        f"no run of {', '.join(stacks) or 'the suite'} is called so; give one of "
        f"{', '.join(case.name for case in full_suite.cases)}, or a pattern such as 'htcp/*'"
    )
    return tuple(
        selected[name]
        for name in matching(
            {name: (name, trial.case.name) for name, trial in selected.items()}, only, otherwise
        )
    )


def _groups_of(stack: str) -> set[str]:
    """Return the groups that contain a stack, or those that fit its type."""
    full_suite = suite()
    if stack in full_suite.stacks:
        return {name for name, stacks in full_suite.groups.items() if stack in stacks}
    entry = catalogue().get(stack)
    if entry is None:
        near = difflib.get_close_matches(stack, catalogue(), 1)
        raise BadInputError(
            option="stacks",
            given=stack,
            problem="'farpath stacks' has none of that name",
            remedy=f"did you mean {near[0]}?" if near else "",
        )
    return {TCP if programs()[entry.program].is_tcp else UDT}
