"""Units that people write after numbers, and the parser of every quantity that has one.

Decimal prefixes are powers of 1000 (``10.5MB``), binary ones powers of 1024 (``16MiB``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from farpath.base.errors import BadInputError, on_one_line

Number = TypeVar("Number", int, float)

_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(\S*)")
_NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_PARTS = {"": 1.0, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3}
_MULTIPLES = {
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}
_NAMES = {
    "n": "nano",
    "u": "micro",
    "m": "milli",
    "k": "kilo",
    "M": "mega",
    "G": "giga",
    "T": "tera",
    "Ki": "kibi",
    "Mi": "mebi",
    "Gi": "gibi",
    "Ti": "tebi",
}


def _units(prefixes: Mapping[str, float], sizes: Mapping[str, float]) -> dict[str, float]:
    """Return the size of each unit with each prefix, and with each prefix's name."""
    return {
        written + unit: factor * size
        for prefix, factor in prefixes.items()
        for written in {prefix, _NAMES.get(prefix, prefix)}
        for unit, size in sizes.items()
    }


#: Units of time in seconds. No text without a unit is among them: a time needs one.
TIMES: Mapping[str, float] = {
    **_units(_PARTS, dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
}
#: Units of frequency in Hz; one is needed.
FREQUENCIES: Mapping[str, float] = _units(_MULTIPLES, {"Hz": 1.0, "hertz": 1.0})
_BYTES = dict.fromkeys(("B", "byte", "bytes"), 1.0)
_SIZES = {**_units(_MULTIPLES, _BYTES | {"bit": 1 / 8, "bits": 1 / 8}), "KB": 1e3}
_LETTERS = {
    letter: _MULTIPLES[prefix] for prefix in "kMGT" for letter in (prefix, prefix.swapcase())
}
#: Units of size in bytes, and those of payload, whose prefixes may stand alone as iperf3's: ``1G``.
SIZES: Mapping[str, float] = {"": 1.0, **_SIZES}
PAYLOADS: Mapping[str, float] = {**SIZES, **_LETTERS}
_IN_BYTES = re.compile(r"B(ps|/s|/sec|/second)?$")
#: Units of rate in bit/s, as tc, iperf3 and users of mahimahi write them. All but those of ``B``
#: are in lower case here, and may be typed in either.
RATES: Mapping[str, float] = {
    unit if _IN_BYTES.search(unit) else unit.lower(): rate
    for unit, rate in {
        "": 1.0,
        **_LETTERS,
        **_units(_MULTIPLES, {"bps": 1.0, "b/s": 1.0}),
        **{
            unit + per: 8 * size
            for unit, size in _SIZES.items()
            for per in ("", "/s", "/sec", "/second", "ps")
            if per not in ("", "ps") or "byte" not in unit
        },
    }.items()
}
FRACTIONS: Mapping[str, float] = {"": 1.0, "%": 0.01}
NUMBERS: Mapping[str, float] = {"": 1.0}
#: Units of values that are not those of their tables.
_OWN_UNITS = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9, "MiB": 2.0**20}
#: Larger units of a unit, and how many of it they hold.
_LARGER_UNITS = {
    "bit/s": (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)),
    "bytes": (("GiB", 2.0**30), ("MiB", 2.0**20), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)),
    "ms": (("s", 1e3),),
    "s": (("h", 3600.0),),
    "Hz": (("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3)),
}


def bound_text(bound: float, unit: str) -> str:
    """Format an end of a range in the largest unit of which it is a whole number.

    >>> bound_text(1e10, "bit/s"), bound_text(1 << 30, "bytes"), bound_text(0.01, "ms")
    ('10 Gbit/s', '1 GiB', '0.01 ms')
    >>> bound_text(10_800, "s"), bound_text(576, "bytes"), bound_text(0.5, "")
    ('3 h', '576 bytes', '0.5')
    """
    for larger, size in _LARGER_UNITS.get(unit, ()):
        if bound >= size and bound % size == 0:
            return f"{bound / size:,.12g} {larger}"
    return f"{bound:,.12g} {'byte' if (bound, unit) == (1, 'bytes') else unit}".rstrip()


def split_quantity(text: str) -> tuple[float, str] | None:
    """Split a quantity into its number and its unit; None for a text that is no quantity.

    >>> split_quantity("0.5 Gbit/s"), split_quantity("12"), split_quantity("reno")
    ((0.5, 'Gbit/s'), (12.0, ''), None)
    """
    match = _QUANTITY.fullmatch(text.strip())
    return (float(match[1]), match[2]) if match else None


def converted(number: float, unit: str, units: Mapping[str, float], symbol: str) -> float | None:
    """Convert a number to the unit ``symbol``; None for a unit that is none of the table.

    Zero is zero in every unit.

    >>> converted(30, "Mbit", RATES, "bit/s"), converted(2, "ms", TIMES, "us")
    (30000000.0, 2000.0)
    """
    if not unit and not number:
        return 0.0
    if units is RATES and not _IN_BYTES.search(unit):
        unit = unit.lower()
    if unit not in units:
        return None
    value = number * units[unit] / _OWN_UNITS.get(symbol, 1.0)
    # Conversion rounds; with fewer digits 10s and 0.01ms are within the range
    return float(f"{value:.{15 if '' in units else 12}g}") if unit else value


def whole_number_of(step: float = 1.0, words: str = "") -> Callable[[float], str]:
    """Return the rule that a value is a whole number of steps; ``words`` names these."""

    def problem(value: float) -> str:
        count = value / step
        is_whole = math.isclose(count, round(count), rel_tol=1e-12)
        return "" if is_whole else f"is no whole number{words and f' of {words}'}"

    return problem


def _no_problem(value: float) -> str:
    return ""


@dataclass(frozen=True)
class Quantity(Generic[Number]):
    """Quantity of a quantity, and the parser of its texts.

    ``noun``, ``example``: as errors say what a value must be. ``units``: a table of this module.
    ``symbol``: unit of a value, of its range, and of a text without a unit where the table has
    that. ``number``: makes a value of the number that was read. ``problem``: a rule beside the
    range; it returns what is wrong, as the end of a sentence, or nothing.
    """

    noun: str
    example: str
    units: Mapping[str, float]
    symbol: str
    allowed: tuple[float, float]
    number: Callable[[float], Number]
    problem: Callable[[float], str] = _no_problem

    def parse(self, text: str, name: str, allowed: tuple[float, float] | None = None) -> Number:
        """Parse a text. ``allowed``: a range for this one.

        ``name``: the option in errors, as a field, and behind a colon what the text is of it:
        ``era: cpu``. Raises BadInputError with what is wrong with the text, what is allowed, and an
        example.
        """
        low, high = allowed or self.allowed
        bounds = " and ".join(bound_text(bound, self.symbol) for bound in (low, high))
        requirement: str = f"it must be {self.noun} such as {self.example}, between {bounds}"
        with_unit = f"write, for example, {self.example}; {requirement}"

        def error(problem: str, remedy: str = requirement) -> BadInputError:
            option, _, part = name.partition(": ")
            if part:
                wrong = f", {problem}" if problem else ""
                problem, given = f"{part} is {quoted(text)}{wrong}", None
            else:
                given = on_one_line(text)
            return BadInputError(option=option, given=given, problem=problem, remedy=remedy)

        split = split_quantity(text)
        if _NOT_FINITE.match(text.strip()) or (split and math.isinf(split[0])):
            raise error("that is no finite number")
        if split is None:
            raise error("")
        number, unit = split
        if not unit and unit not in self.units and number:
            raise error("a number without a unit", with_unit)
        value = converted(number, unit, self.units, self.symbol)
        if value is None:
            raise error(f"{quoted(unit)} is no unit of {self.noun}")
        if not low <= value <= high:
            problem = "out of range"
            if not unit and self.symbol:
                problem = f"a number without a unit, so in {self.symbol}, and {problem}"
                if (split_quantity(self.example) or (0.0, ""))[1]:
                    raise error(problem, with_unit)
            elif not unit and self.units is FRACTIONS and value >= 1 and low <= value / 100 <= high:
                problem += f" (did you mean {text.strip()}%?)"
            raise error(problem)
        if problem := self.problem(value):
            raise error(f"that {problem}")
        # Adding zero turns -0.0 into 0.0
        return self.number(value + 0.0)


def quoted(text: str) -> str:
    """Return a text as errors quote it, on one line and not too long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
