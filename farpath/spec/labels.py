"""Labels: names of a run's stacks and flows for tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from farpath.spec.schedule import SEVEN_REGIONS

if TYPE_CHECKING:
    from farpath.spec.schedule import Flow, Schedule


def stacks_label(schedule: Schedule) -> str:
    """Return the stacks of a schedule's flows in order, with the number of equal ones in a row.

    The flows of the seven regions take the stacks in turn, so their label holds each stack once.

    >>> from farpath.spec.schedule import seven_regions, simultaneous
    >>> stacks_label(simultaneous(["reno", "bbr", "cubic", "cubic"], 10.0))
    'reno + bbr + 2xcubic'
    >>> stacks_label(seven_regions("htcp", 10.0))
    'htcp'
    """
    stacks = [flow.stack for flow in schedule.flows]
    return counted(_cycle(stacks) if schedule.name == SEVEN_REGIONS else stacks)


def counted(stacks: Sequence[str]) -> str:
    """Join stacks in their order, with the number of equal ones in a row.

    >>> counted(["reno", "cubic", "cubic"]), counted([])
    ('reno + 2xcubic', '')
    """
    rows = [(stack, len(list(row))) for stack, row in groupby(stacks)]
    return " + ".join(stack if count == 1 else f"{count}x{stack}" for stack, count in rows)


def _cycle(stacks: list[str]) -> list[str]:
    """Return the shortest prefix that gives the whole list when it is repeated."""
    for length in range(1, len(stacks)):
        if all(stack == stacks[index % length] for index, stack in enumerate(stacks)):
            return stacks[:length]
    return stacks


def flow_label(flow: Flow) -> str:
    """Return a flow's name and its stack."""
    return f"{flow.name} {flow.stack}"
