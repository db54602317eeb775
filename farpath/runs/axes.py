"""Axes: options of a run that are given several values at once, separated by commas.

Sets of runs take lists (``10ms,50ms,200ms``), and searches take ranges (``10..200ms``). The one in
the place of the other is refused with what is to be typed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from farpath.base.errors import BadInputError
from farpath.base.units import split_quantity
from farpath.runs.ranges import Range, Template, parse_template

#: A comma between two values, but not one between words of a value (``fast:alpha=8,beta=2``), nor
#: before a change of it (``100Mbit,30s:20Mbit,repeat:60s``).
_SEPARATOR = re.compile(r",(?!\s*(?:[\w.]+=|[0-9.]+\s*[a-z]+\s*:|repeat\s*:))")
#: Options whose values may hold any comma: packets:7,8, and sender,receiver.
_UNSPLIT = ("drop", "capture")


def split_options(
    option_values: Mapping[str, str | None],
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Split options into fixed ones with their value and swept ones with their values.

    Raises BadInputError for a range.
    """
    values = {
        name: split_values(name, text) for name, text in option_values.items() if text is not None
    }
    single = {name: texts[0] for name, texts in values.items() if len(texts) == 1}
    return single, {name: texts for name, texts in values.items() if len(texts) > 1}


def split_values(name: str, text: str) -> tuple[str, ...]:
    """Return the values of an option that are separated by commas.

    >>> split_values("rtt", "20ms, 160ms"), split_values("stack", "cubic,fast:alpha=8,beta=2,bbr")
    (('20ms', '160ms'), ('cubic', 'fast:alpha=8,beta=2', 'bbr'))
    >>> split_values("rate", "100Mbit,30s:20Mbit,1Gbit")
    ('100Mbit,30s:20Mbit', '1Gbit')
    >>> split_values("drop", "packets:7,8"), split_values("capture", "sender,receiver")
    (('packets:7,8',), ('sender,receiver',))

    Raises BadInputError for a range.
    """
    if parse_template(text, name).ranges:
        values = _split(name, ",".join(_listed(each, name) for each in _split(name, text)))
        fits = all(split_quantity(value) for value in values)
        raise BadInputError(
            option=name,
            given=text,
            problem="that is a range, and each value is a run of its own",
            remedy=(
                f"list the values, as in `{name}={','.join(values)}`"
                if fits
                else "give one value, and call this once for each"
            ),
        )
    return _split(name, text)


def searched(name: str, text: str, whole: bool = False) -> Template:
    """Return the value or the range of an option that a search takes.

    ``whole``: as for ``parse_template``. Raises BadInputError for a list of values, and as
    ``parse_template``.

    >>> [each.high for each in searched("rtt", "10..200ms").ranges]
    [200.0]
    """
    values = _split(name, text)
    quantities = [split for value in values if (split := split_quantity(value))]
    if len(values) == 1 or len(quantities) < len(values):
        return parse_template(text, name, whole)
    numbers, units = [number for number, _ in quantities], {unit for _, unit in quantities}
    low, high = min(numbers), max(numbers)
    fits = len(units) == 1 and low < high
    example = f"{low:.12g}..{high:.12g}{units.pop()}"
    raise BadInputError(
        option=name,
        given=text,
        problem="those are several values, and a search takes one value or a range",
        remedy=f"write `{name}={example}`" if fits else "write a range, as in 10..200ms",
    )


def _split(name: str, text: str) -> tuple[str, ...]:
    """Split a text at the commas between values."""
    if name in _UNSPLIT:
        return (text,)
    return tuple(part.strip() for part in _SEPARATOR.split(text))


def _listed(text: str, name: str) -> str:
    """Return the ends of a range and a value between them as a list; a text without one as it is.

    >>> _listed("10ms..200ms", "rtt"), _listed("0..1%", "loss"), _listed("50ms", "rtt")
    ('10ms,40ms,200ms', '0%,0.5%,1%', '50ms')
    """
    template = parse_template(text, name)
    chosen: tuple[Callable[[Range], float], ...] = (
        lambda each: each.low,
        _between,
        lambda each: each.high,
    )
    texts = [template.text({each.name: of(each) for each in template.ranges}) for of in chosen]
    return ",".join(dict.fromkeys(texts))


def _between(range_: Range) -> float:
    """Return a round value between the ends of a range."""
    middle = (range_.low + range_.high) / 2
    if range_.log:
        middle = math.sqrt(range_.low * range_.high)
    rounded = range_.rounded(float(f"{middle:.1g}"))
    return rounded if range_.low < rounded < range_.high else range_.rounded(middle)
