"""Droppers of DROP's text (:mod:`farpath.spec.dropper` says what each kind means)."""

from __future__ import annotations

import math
import re
from itertools import combinations

from farpath.base.errors import BadInputError
from farpath.planning import quantities
from farpath.spec.dropper import KINDS, Dropper

_NUMBER = re.compile(r"[0-9]{1,10}(e[0-9])?")


def parse_droppers(text: str) -> tuple[Dropper, ...]:
    """The droppers of a text: one or more, apart by blanks.

    >>> [str(dropper) for dropper in parse_droppers("every:1000 at:30s,direction=back")]
    ['every:1000', 'at:30s,direction=back']
    """
    found = tuple(_parse_one(word) for word in text.split())
    if not found:
        raise BadInputError("DROP is empty: leave it out, or give one, as in every:1000")
    for one, other in combinations(found, 2):
        if one.direction == other.direction and (
            "" in (one.flow, other.flow) or one.flow == other.flow
        ):
            raise BadInputError(f"DROP has '{one}' and '{other}', which take the same packets")
    return found


def _parse_one(word: str) -> Dropper:
    kind, _, rest = word.partition(":")
    if kind not in KINDS:
        raise BadInputError(
            f"DROP is '{word}': it must begin with one of {', '.join(KINDS)}, as in every:1000"
        )
    parts = rest.split(",") if rest else []
    options: dict[str, str] = {}
    for name, equals, value in (part.partition("=") for part in parts):
        if equals and name not in ("flow", "direction"):
            raise BadInputError(f"DROP is '{word}': '{name}' is not flow or direction")
        if equals and (not value or name in options):
            raise BadInputError(f"DROP is '{word}': give {name} once, as in flow=flow1")
        if equals:
            options[name] = value
        elif not name:
            raise BadInputError(f"DROP is '{word}': nothing stands before or after a comma")
    numbers = tuple(_PARSERS[kind](part) for part in parts if "=" not in part)
    return Dropper(kind, numbers, **options)


def _parse_count(text: str) -> float:
    number = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not number.is_integer():
        raise BadInputError(f"DROP has '{text}', which is no whole number")
    return number


def _parse_moment(text: str) -> float:
    return quantities.parse_moment_s(text, "DROP")


def _parse_probability(text: str) -> float:
    return quantities.parse_fraction(text, "DROP", (0.0, 1.0))


_PARSERS = {
    "every": _parse_count,
    "packets": _parse_count,
    "at": _parse_moment,
    "random": _parse_probability,
    "burst": _parse_probability,
}
