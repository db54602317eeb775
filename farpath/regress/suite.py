"""Suite: the short runs by which a change of a stack's behaviour is found (``suite.toml``)."""

from __future__ import annotations

import dataclasses
import difflib
import fnmatch
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.lab.user_parts import BuiltParts
from farpath.planning.quantities import parse_rtt_ms
from farpath.planning.request import RunRequest
from farpath.planning.stack_catalog import USER_SPACE, catalogue
from farpath.regress.metrics import EXTRA_METRICS

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: Groups of cases by what a stack is that the suite does not name itself.
TCP, UDT = "tcp", "udt"
#: By how much of itself another seed's base RTT may be off.
RTT_OFF = 1e-3


@dataclass(frozen=True)
class Case:
    """One thing to look at: its words, with ``{stack}`` in them, and what is watched.

    ``groups``: of stacks, by name. ``watch``: names of :data:`EXTRA_METRICS`.
    """

    name: str
    title: str
    groups: tuple[str, ...]
    words: Mapping[str, str]
    watch: tuple[str, ...]


@dataclass(frozen=True)
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
    def asked(self) -> RunRequest:
        """Its run of seed 1 in the words of the command line."""
        words = {word: text.format(stack=self.stack) for word, text in self.case.words.items()}
        if catalogue()[self.stack].kind == USER_SPACE:
            # The kernel knows nothing of a program's own transport
            words.pop("trace", None)
        return RunRequest(**words)

    def plan(self, seed: int = 1) -> Plan:
        """What is run. With other seeds than 1 the base RTT is off by a drawn bit too.

        A single flow without random losses hardly knows its seed. What an RTT that is
        different by a thousandth changes is the phase of packets against each other, and
        no behaviour of a stack.
        """
        asked = dataclasses.replace(self.asked, seed=str(seed))
        if seed != 1:
            assert asked.rtt is not None
            off = random.Random(f"{self.name} {seed}").uniform(-RTT_OFF, RTT_OFF)
            asked = dataclasses.replace(asked, rtt=f"{parse_rtt_ms(asked.rtt) * (1 + off):.3f}ms")
        return asked.plan(user_parts=BuiltParts(asked.lab))


@cache
def suite() -> Suite:
    """The suite that the project brings."""
    text = resources.files("farpath.regress").joinpath("suite.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    cases = tuple(
        Case(
            name=case["name"],
            title=case["title"],
            groups=tuple(case["groups"]),
            words={**data["words"], **case["words"]},
            watch=tuple(case.get("watch", ())),
        )
        for case in data["cases"]
    )
    assert all(name in EXTRA_METRICS for case in cases for name in case.watch)
    return Suite({name: tuple(stacks) for name, stacks in data["groups"].items()}, cases)


def trials(stacks: Sequence[str] = (), only: Sequence[str] = ()) -> tuple[Trial, ...]:
    """The trials of some stacks, all if none is named, that match one of some patterns.

    A stack of the catalogue that the suite does not name has the cases of ``tcp``, or of
    ``udt`` if it is a program. ``only``: of names, as ``htcp/*`` or ``*/one-loss`` or
    ``one-loss``. Raises BadInputError for a stack that there is not, and for a pattern
    that matches nothing.
    """
    known = suite()
    found = [
        Trial(stack, case)
        for stack in stacks or known.stacks
        for case in known.cases
        if set(case.groups) & _groups_of(stack)
    ]
    if not only:
        return tuple(found)
    for pattern in only:
        if not any(_matches(trial, pattern) for trial in found):
            names = ", ".join(case.name for case in known.cases)
            raise BadInputError(
                f"ONLY is '{pattern}': no run of {', '.join(stacks) or 'the suite'} is called so; "
                f"give one of {names}, or a pattern such as 'htcp/*'"
            )
    return tuple(each for each in found if any(_matches(each, pattern) for pattern in only))


def _matches(trial: Trial, pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for name in (trial.name, trial.case.name))


def _groups_of(stack: str) -> set[str]:
    """The groups that have a stack, or those that fit its kind."""
    known = suite()
    if stack in known.stacks:
        return {name for name, stacks in known.groups.items() if stack in stacks}
    entry = catalogue().get(stack)
    if entry is None:
        near = difflib.get_close_matches(stack, catalogue(), 1)
        raise BadInputError(
            f"STACKS is '{stack}': 'farpath stacks' has none of that name"
            + (f"; did you mean {near[0]}?" if near else "")
        )
    return {UDT if entry.kind == USER_SPACE else TCP}
