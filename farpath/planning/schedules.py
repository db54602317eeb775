"""Parser of SCHEDULE's text, and the text of a schedule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from farpath.base.errors import BadInputError
from farpath.mechanisms import quantities
from farpath.spec.schedule import JOINING, SCHEDULES, Schedule, staggered

#: Whole seconds between the starts of two flows.
APART_S_RANGE = (1.0, quantities.REGION_S_RANGE[1])
EXAMPLE = f"{JOINING}:3s"
#: Makes a schedule from the labels of its stacks and the length of a region in s.
ScheduleMaker = Callable[[Sequence[str], float], Schedule]


def parse_schedule(text: str) -> tuple[str, ScheduleMaker]:
    """Return a schedule's name, and the function that makes it.

    Raises BadInputError for any other text.

    >>> parse_schedule("joining:3s")[1](["reno", "bbr"], 10.0).flows[1].start_s
    3.0
    """
    name, colon, apart = text.partition(":")
    if name not in SCHEDULES or (colon and name != JOINING):
        raise BadInputError(
            option="schedule",
            given=text,
            remedy=f"it must be one of {', '.join(SCHEDULES)}, or {EXAMPLE}",
        )
    if not colon:
        return name, SCHEDULES[name]
    apart_s = quantities.DURATION_S.parse(apart, f"schedule: {JOINING}", APART_S_RANGE)
    return name, partial(staggered, apart_s=apart_s)


def schedule_option(schedule: Schedule) -> str:
    """Return the text by which SCHEDULE names a schedule.

    >>> schedule_option(staggered(["reno", "bbr"], 10.0, 3.0))
    'joining:3s'
    """
    if schedule.name != JOINING or len(schedule.flows) < 2:
        return schedule.name
    apart_s = schedule.flows[1].start_s - schedule.flows[0].start_s
    return JOINING if apart_s == schedule.region_s else f"{JOINING}:{apart_s:g}s"
