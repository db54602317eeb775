"""Parser of the text of STACK: one stack for each flow."""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.spec.schedule import MOST_FLOWS

_TIMES = re.compile(r"([0-9]{1,4})x([^0-9].*)")


def parse_stacks(text: str, name: str = "stack") -> tuple[str, ...]:
    """Parse stacks joined by a plus and return one for each flow; ``2xreno`` is two flows.

    ``name``: the option in errors. Raises BadInputError for any other text, and for too many flows.

    >>> parse_stacks("udt+2xreno")
    ('udt', 'reno', 'reno')
    """
    if "+" in text and FilePath(text.partition(":")[0]).exists():
        raise BadInputError(
            option=name,
            given=text,
            problem="a + joins stacks, so a path cannot have one",
            remedy="rename the file or its folder, or give a link to it",
        )
    stacks: list[str] = []
    for part in text.split("+"):
        times = _TIMES.fullmatch(part.strip())
        count, stack = (int(times[1]), times[2]) if times else (1, part.strip())
        if not stack or count < 1:
            raise BadInputError(
                option=name, given=text, remedy="give stacks, as in htcp+reno or udt+4xreno"
            )
        stacks += [stack] * count
        if len(stacks) > MOST_FLOWS:
            raise BadInputError(
                option=name, given=text, remedy=f"a run has at most {MOST_FLOWS} flows"
            )
    return tuple(stacks)
