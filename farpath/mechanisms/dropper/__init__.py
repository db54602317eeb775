"""Parser of DROP's text; ``farpath.spec.dropper`` says what each kind of dropper means."""

from __future__ import annotations

import math
import re
from itertools import combinations

from farpath.base.errors import BadInputError
from farpath.mechanisms import quantities
from farpath.spec.dropper import KINDS, Dropper

_NUMBER = re.compile(r"[0-9]{1,10}(e[0-9])?")


def parse_droppers(text: str) -> tuple[Dropper, ...]:
    """Parse one or more droppers, separated by blanks.

    Raises BadInputError for text that describes no dropper, and for two droppers that count the
    same packets.

    >>> [str(dropper) for dropper in parse_droppers("every:1000 at:30s,direction=back")]
    ['every:1000', 'at:30s,direction=back']
    """
    droppers = tuple(_parse_dropper(dropper_text) for dropper_text in text.split())
    if not droppers:
        raise BadInputError("DROP is empty: leave it out, or give a dropper, as in every:1000")
    for first, second in combinations(droppers, 2):
        if first.direction == second.direction and (
            "" in (first.flow, second.flow) or first.flow == second.flow
        ):
            raise BadInputError(
                f"DROP has '{first}' and '{second}', which count the same packets: leave one out"
            )
    return droppers


def _parse_dropper(text: str) -> Dropper:
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise BadInputError(
            f"DROP is '{text}': it must begin with one of {', '.join(KINDS)}, as in every:1000"
        )
    parts = rest.split(",") if rest else []
    options: dict[str, str] = {}
    for name, equals, value in (part.partition("=") for part in parts):
        if equals and name not in ("flow", "direction"):
            raise BadInputError(
                f"DROP is '{text}': '{name}' is no option of a dropper: give flow or direction"
            )
        if equals and (not value or name in options):
            raise BadInputError(f"DROP is '{text}': give {name} once, as in flow=flow1")
        if equals:
            options[name] = value
        elif not name:
            raise BadInputError(
                f"DROP is '{text}': a comma must separate two numbers or options, as in "
                "packets:100,2000"
            )
    numbers = tuple(_PARSERS[kind](part) for part in parts if "=" not in part)
    return Dropper(kind, numbers, **options)


def _parse_count(text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not number.is_integer():
        raise BadInputError(
            f"DROP has '{text}': it must be a whole number of packets, such as 1000"
        )
    return number


def _parse_moment(text: str) -> float:
    return quantities.MOMENT_S.parse(text, "DROP")


def _parse_probability(text: str) -> float:
    return quantities.FRACTION.parse(text, "DROP", (0.0, 1.0))


_PARSERS = {
    "every": _parse_count,
    "packets": _parse_count,
    "at": _parse_moment,
    "random": _parse_probability,
    "burst": _parse_probability,
}
