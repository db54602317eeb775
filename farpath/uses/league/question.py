"""A league: every stack beside every other one and beside itself, as a run set."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest
from farpath.planning.stack_texts import parse_stacks
from farpath.runs.run_set import RunSet, draws_of, product_set

#: The sign between the two stacks of an encounter, as in STACK.
_BESIDE = "+"
STACK = "stack"


@dataclass(frozen=True)
class League:
    """The stacks, as typed, and the runs of each alone and of all their encounters."""

    stacks: tuple[str, ...]
    run_set: RunSet


def plan_league(
    base: RunRequest,
    stacks: Sequence[str],
    axes: Mapping[str, tuple[str, ...]],
    seeds: int,
    draws: int | None = 1,
) -> League:
    """Plan a run for each stack alone, and for each pair, a stack and itself included.

    ``base``: the options that all runs share. ``axes``: values of further options: each
    combination of these has all encounters. ``seeds``, ``draws``: of each encounter, as
    ``draws_of`` has them. Raises BadInputError for fewer than two stacks, for one
    that is several flows, and as ``product_set``.
    """
    if len(stacks) < 2:
        raise BadInputError(
            option="stack", given=",".join(stacks), problem="a league needs two stacks or more"
        )
    for stack in stacks:
        if len(parse_stacks(stack)) != 1:
            raise BadInputError(
                option="stack",
                given=stack,
                remedy="in a league each is one flow, and meets each of the others",
            )
    pairs = tuple(map(_BESIDE.join, itertools.combinations_with_replacement(stacks, 2)))
    run_set = product_set(
        base, {**axes, STACK: (*stacks, *pairs)}, seeds, draws=draws_of(draws, base, seeds)
    )
    return League(tuple(stacks), run_set)
