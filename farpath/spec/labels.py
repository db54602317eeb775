"""Labels: how the stacks and the flows of a run are called, in the order of the flows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from farpath.spec.schedule import SEVEN_REGIONS

if TYPE_CHECKING:
    from farpath.spec.schedule import Flow, Schedule


def stacks_label(schedule: Schedule) -> str:
    """The stacks of a schedule's flows in their order, each with how many it has in a row.

    The flows of the seven regions take the stacks in turn: then one turn is the label.

    >>> from farpath.spec.schedule import seven_regions, simultaneous
    >>> stacks_label(simultaneous(["reno", "bbr", "cubic", "cubic"], 10.0))
    'reno + bbr + 2xcubic'
    >>> stacks_label(seven_regions("htcp", 10.0))
    'htcp'
    """
    stacks = [flow.stack for flow in schedule.flows]
    return counted(_turn(stacks) if schedule.name == SEVEN_REGIONS else stacks)


def counted(stacks: Sequence[str]) -> str:
    """Stacks in their order, each with how many there are in a row.

    >>> counted(["reno", "cubic", "cubic"]), counted([])
    ('reno + 2xcubic', '')
    """
    rows = [(stack, len(list(row))) for stack, row in groupby(stacks)]
    return " + ".join(stack if count == 1 else f"{count}x{stack}" for stack, count in rows)


def _turn(stacks: list[str]) -> list[str]:
    """The shortest beginning that gives all of a list when it is taken again and again."""
    for length in range(1, len(stacks)):
        if all(stack == stacks[place % length] for place, stack in enumerate(stacks)):
            return stacks[:length]
    return stacks


def flow_label(flow: Flow) -> str:
    """A flow's name and its stack."""
    return f"{flow.name} {flow.stack}"
