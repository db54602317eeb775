"""Ranges in the texts of options, as in ``--buffer=0.1..8xBDP``, from which values are chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from farpath.base.errors import BadInputError

_NUMBER = r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"(?<![\w.])({_NUMBER})([A-Za-zµ%/]*)\.\.({_NUMBER})([A-Za-zµ%/]*)(?![\w.])")
#: A range above 0 whose ends differ by this factor or more is searched in logarithms.
LOG_FACTOR = 10.0
#: Values have so many significant digits, which command lines show in full.
DIGITS = 3


@dataclass(frozen=True)
class Range:
    """A range of values of an option, both ends included.

    ``name``: the option's, with a number if it has several. ``unit``: text after each value.
    ``whole``: only whole numbers.
    """

    name: str
    low: float
    high: float
    unit: str = ""
    whole: bool = False

    @property
    def log(self) -> bool:
        """Whether it is searched in logarithms."""
        return not self.whole and self.low > 0 and self.high / self.low >= LOG_FACTOR

    def rounded(self, value: float) -> float:
        """Return a value of the range as texts have it.

        >>> Range("jitter", 0, 10, "ms").rounded(3.14159)
        3.14
        """
        if self.whole:
            return round(value)
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)

    def text(self, value: float) -> str:
        """Return a value with its unit.

        >>> Range("rate", 1e3, 1e4, "kbit").text(1230.0), Range("loss", 0, 0.01).text(1e-6)
        ('1230kbit', '1e-06')
        """
        return f"{value:.12g}{self.unit}"


@dataclass(frozen=True)
class Template:
    """The text of an option, with ranges in it or without: texts and ranges in their order."""

    parts: tuple[str | Range, ...]

    @property
    def ranges(self) -> tuple[Range, ...]:
        """Its ranges."""
        return tuple(part for part in self.parts if isinstance(part, Range))

    def text(self, values: Mapping[str, float]) -> str:
        """Return the text with a value in the place of each range; ``values``: by range's name."""
        return "".join(
            part.text(values[part.name]) if isinstance(part, Range) else part for part in self.parts
        )


def parse_template(text: str, name: str, whole: bool = False) -> Template:
    """Parse the text of an option; raise BadInputError for a range that is none.

    ``name``: of the option. ``whole``: whether its ranges have whole numbers only; a range without
    a unit between whole numbers has no others either.

    >>> parse_template("rtt=20..80ms", "senders").text({"senders": 31.5})
    'rtt=31.5ms'
    """
    return Template(tuple(_parts(text, name, whole)))


def _parts(text: str, name: str, whole: bool) -> Iterator[str | Range]:
    end = 0
    for number, match in enumerate(_RANGE.finditer(text), start=1):
        low, low_unit, high, unit = match.groups()
        if low_unit not in ("", unit):
            raise BadInputError(
                option=name,
                given=match[0],
                remedy="give both ends of a range in one unit, as in 1..20ms",
            )
        if not float(low) < float(high):
            raise BadInputError(
                option=name,
                given=match[0],
                remedy="a range leads from a number to a greater one, as in 1..20ms",
            )
        has_digits_only = low.isdigit() and high.isdigit()
        if whole and not has_digits_only:
            raise BadInputError(
                option=name,
                given=match[0],
                remedy="give a range of whole numbers, as in 0..10s",
            )
        yield text[end : match.start()]
        yield Range(
            name if number == 1 else f"{name}{number}",
            *(float(low), float(high), unit),
            whole=whole or (has_digits_only and not unit),
        )
        end = match.end()
    yield text[end:]
