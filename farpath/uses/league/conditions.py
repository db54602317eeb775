"""Conditions of a league: the runs under each set of them, with shares and chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from farpath.metrics.estimate import Spread
from farpath.uses.league.measure import Encounter, by_conditions, shares_of
from farpath.uses.league.share_intervals import Chance, chances


@dataclass(frozen=True)
class Conditions:
    """The runs of a league under one set of conditions.

    ``title``: the conditions as text, empty if a league has one set. ``found``: both sides of each
    run of two stacks. ``alone``: the runs of stacks alone.
    """

    title: str
    found: tuple[Encounter, ...]
    alone: tuple[Encounter, ...] = ()

    @cached_property
    def shares(self) -> dict[tuple[str, str], Spread]:
        """The share of each stack beside each other one, over the runs."""
        return shares_of(self.found)

    @cached_property
    def chances(self) -> dict[tuple[str, str], Chance]:
        """What chance leaves of them; empty without SciPy."""
        return chances(self.found, self.alone)

    def beside(self, stack: str, other: str) -> list[Encounter]:
        """Return the sides that a stack had beside another one."""
        return [each for each in self.found if (each.stack, each.other) == (stack, other)]

    def without_another(self, stack: str) -> list[Encounter]:
        """Return the runs of a stack alone."""
        return [each for each in self.alone if each.stack == stack]


def conditions_of(
    found: tuple[Encounter, ...], alone: tuple[Encounter, ...] = ()
) -> tuple[Conditions, ...]:
    """Return the runs of a league by their conditions; ``alone``: those of stacks alone."""
    solo = by_conditions(alone)
    return tuple(
        Conditions(title, group, solo.get(title, ()))
        for title, group in by_conditions(found).items()
    )
