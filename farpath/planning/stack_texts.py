"""What STACK names: one stack for each flow."""

from __future__ import annotations

import re

from farpath.base.errors import BadInputError
from farpath.spec.schedule import MOST_FLOWS

_TIMES = re.compile(r"([0-9]{1,4})x([^0-9].*)")


def parse_stacks(text: str, name: str = "STACK") -> tuple[str, ...]:
    """The stacks of a text, one for each flow: ``htcp``, ``htcp+reno``, ``udt+4xreno``.

    >>> parse_stacks("udt+2xreno")
    ('udt', 'reno', 'reno')
    """
    found: list[str] = []
    for part in text.split("+"):
        times = _TIMES.fullmatch(part.strip())
        count, stack = (int(times[1]), times[2]) if times else (1, part.strip())
        if not stack or count < 1:
            raise BadInputError(f"{name} is '{text}': give stacks, as in htcp+reno or udt+4xreno")
        found += [stack] * count
        if len(found) > MOST_FLOWS:
            raise BadInputError(f"{name} is '{text}': a run has at most {MOST_FLOWS} flows")
    return tuple(found)
