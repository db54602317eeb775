"""Units: quantities as people write them, to plain numbers in the units of names.

The only module that reads unit suffixes. Decimal prefixes are powers of 1000
(``10.5MB``), binary ones powers of 1024 (``16MiB``). Every function raises
:class:`~farpath.base.errors.BadInputError` with one line that says what was wrong,
what was got, what is allowed and an example.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.spec.background import PART_RANGE
from farpath.spec.path import (
    BUFFER_BYTES_RANGE,
    JITTER_MS_RANGE,
    LOSS_RANGE,
    MTU_BYTES_RANGE,
    RATE_BPS_RANGE,
    RTT_MS_RANGE,
    WINDOW_BYTES_RANGE,
)
from farpath.spec.trace import INTERVAL_S_RANGE, TICK_S

if TYPE_CHECKING:
    from pint import UnitRegistry

#: Curves are smoothed over 5 s, so a region is no shorter; iperf3 runs for at most
#: 86400 s, and the longest flow spans eight regions.
REGION_S_RANGE = (5.0, 10_800.0)
MOMENT_S_RANGE = (0.0, 86_400.0)

_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(\S*)")
_NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_UNIT = re.compile(r"[A-Za-zµμ][A-Za-zµμ/]{0,30}")
#: Rates as tc, iperf3 and people write them: prefix, bits, per second.
_RATE_UNIT = re.compile(r"([kmgt]?)(i?)(?:bits?/s(?:ec)?|bits?|bps|b/s)", re.IGNORECASE)
_RATE_BYTES = re.compile(r"[kKmMgGtT]?i?B(?:/s(?:ec)?|ps)?")
_DECIMAL_PREFIX = {"": "", "k": "kilo", "m": "mega", "g": "giga", "t": "tera"}
_BINARY_PREFIX = {"k": "kibi", "m": "mebi", "g": "gibi", "t": "tebi"}


@dataclass(frozen=True)
class _Kind:
    """What a quantity may be: how errors describe it, its unit and its range."""

    noun: str
    example: str
    unit: str
    allowed: tuple[float, float]
    shown_unit: str

    def sentence(self) -> str:
        low, high = (f"{bound:.12g}" for bound in self.allowed)
        unit = f" {self.shown_unit}" if self.shown_unit else ""
        return f"it must be {self.noun} such as {self.example}, between {low} and {high}{unit}"


@cache
def _registry() -> UnitRegistry[float]:
    import pint

    return pint.UnitRegistry()


def _shown(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."
    return repr(short)


def _refuse(name: str, text: str, kind: _Kind, why: str = "") -> BadInputError:
    return BadInputError(f"{name} is {_shown(text)}{why}: {kind.sentence()}")


def _split(name: str, text: str, kind: _Kind) -> tuple[float, str]:
    """Number and unit of a quantity."""
    found = _QUANTITY.fullmatch(text.strip())
    if _NOT_FINITE.match(text.strip()) or (found and math.isinf(float(found[1]))):
        raise _refuse(name, text, kind, ", which is no finite number")
    if not found:
        raise _refuse(name, text, kind)
    return float(found[1]), found[2]


def _converted(name: str, text: str, kind: _Kind, number: float, unit: str) -> float:
    """``number`` of ``unit`` in the unit of ``kind``; pint knows the units."""
    import pint

    if not _UNIT.fullmatch(unit):
        raise _refuse(name, text, kind)
    registry = _registry()
    try:
        quantity = registry.Quantity(number, unit)
    except Exception as error:  # pint raises many types for text that is no unit
        raise _refuse(name, text, kind, f", and '{unit}' is no known unit") from error
    try:
        return float(quantity.to(kind.unit).magnitude)
    except (pint.PintError, ArithmeticError) as error:
        raise _refuse(name, text, kind, f", and '{unit}' is no unit of {kind.noun}") from error


def _in_range(name: str, text: str, kind: _Kind, value: float) -> float:
    low, high = kind.allowed
    if not low <= value <= high:
        raise _refuse(name, text, kind, ", which is out of range")
    return value


def _parse_time(name: str, text: str, kind: _Kind) -> float:
    number, unit = _split(name, text, kind)
    if not unit:
        raise BadInputError(
            f"{name} is {_shown(text)}, a number without a unit: write {kind.example} or the "
            f"like; {kind.sentence()}"
        )
    # The tolerance keeps "10s" and "0.01ms" inside although conversion rounds.
    value = float(f"{_converted(name, text, kind, number, unit):.12g}")
    return _in_range(name, text, kind, value)


def parse_rtt_ms(text: str, name: str = "RTT") -> float:
    """A round-trip time in ms; a unit is required.

    >>> parse_rtt_ms("0.164 s")
    164.0
    """
    return _parse_time(name, text, _Kind("a time", "164ms", "millisecond", RTT_MS_RANGE, "ms"))


def parse_jitter_ms(text: str, name: str = "JITTER") -> float:
    """How far a delay may be off, in ms; a unit is required.

    >>> parse_jitter_ms("200us")
    0.2
    """
    return _parse_time(name, text, _Kind("a time", "1ms", "millisecond", JITTER_MS_RANGE, "ms"))


def parse_duration_s(
    text: str, name: str = "REGION", allowed: tuple[float, float] = REGION_S_RANGE
) -> float:
    """A duration in s; a unit is required, and whole seconds, as iperf3 takes them.

    >>> parse_duration_s("2min")
    120.0
    """
    kind = _Kind("a time in whole seconds", "120s", "second", allowed, "s")
    value = _parse_time(name, text, kind)
    if value != round(value):
        raise _refuse(name, text, kind, ", which is not a whole number of seconds")
    return value


def parse_moment_s(text: str, name: str) -> float:
    """A time from a schedule's start, in s; a unit is required.

    >>> parse_moment_s("1.5min", "AT")
    90.0
    """
    return _parse_time(name, text, _Kind("a time", "30s", "second", MOMENT_S_RANGE, "s"))


def parse_trace_s(text: str, name: str = "TRACE") -> float:
    """The interval of a trace in s; a unit is required, and whole milliseconds.

    >>> parse_trace_s("10ms")
    0.01
    """
    kind = _Kind("a time in whole milliseconds", "10ms", "second", INTERVAL_S_RANGE, "s")
    value = _parse_time(name, text, kind)
    if abs(value / TICK_S - round(value / TICK_S)) > 1e-6:
        raise _refuse(name, text, kind, ", which is not a whole number of milliseconds")
    return value


def _rate_unit(unit: str) -> str:
    """A rate's unit as pint calls it: case does not matter for bits."""
    if not unit:
        return "bit/second"
    if _RATE_BYTES.fullmatch(unit):
        return re.sub(r"(/s(ec)?|ps)$", "", unit) + "/second"
    bits = _RATE_UNIT.fullmatch(unit)
    if not bits:
        return unit
    prefix, binary = bits[1].lower(), bits[2]
    if binary and not prefix:
        return unit
    return (_BINARY_PREFIX if binary else _DECIMAL_PREFIX)[prefix] + "bit/second"


def parse_rate_bps(text: str, name: str = "RATE") -> int:
    """A rate in bit/s; a plain number is bit/s.

    >>> parse_rate_bps("450mbit"), parse_rate_bps("0.5 Gbit/s")
    (450000000, 500000000)
    """
    kind = _Kind("a rate", "450Mbit/s", "bit/second", RATE_BPS_RANGE, "bit/s")
    number, unit = _split(name, text, kind)
    value = _converted(name, text, kind, number, _rate_unit(unit))
    return round(_in_range(name, text, kind, value))


def parse_bytes(
    text: str, name: str = "BUFFER", allowed: tuple[float, float] = BUFFER_BYTES_RANGE
) -> int:
    """A size in bytes; a plain number is bytes.

    >>> parse_bytes("10.5MB"), parse_bytes("16MiB")
    (10500000, 16777216)
    """
    kind = _Kind("a size", "10.5MB", "byte", allowed, "bytes")
    number, unit = _split(name, text, kind)
    unit = "kB" if unit == "KB" else unit or "byte"
    value = _converted(name, text, kind, number, unit)
    return round(_in_range(name, text, kind, value))


def parse_window(text: str, name: str = "WINDOW") -> int:
    """A window in bytes; a plain number is bytes.

    >>> parse_window("16MiB")
    16777216
    """
    return parse_bytes(text, name, WINDOW_BYTES_RANGE)


def parse_fraction(
    text: str, name: str = "LOSS", allowed: tuple[float, float] = LOSS_RANGE
) -> float:
    """A probability, as a number or in per cent.

    >>> parse_fraction("2e-6"), parse_fraction("0.01%")
    (2e-06, 0.0001)
    """
    kind = _Kind("a fraction", "2e-6 or 0.01%", "", allowed, "")
    number, unit = _split(name, text, kind)
    if unit not in ("", "%"):
        raise _refuse(name, text, kind, f", and '{unit}' is no unit of a fraction")
    value = float(f"{number / 100:.15g}") if unit else number
    return _in_range(name, text, kind, value) + 0.0


def parse_background(text: str, name: str = "BACKGROUND") -> float:
    """The part of a rate that other traffic takes on average; ``none`` is 0.

    >>> parse_background("none"), parse_background("25%")
    (0.0, 0.25)
    """
    if text.strip().lower() == "none":
        return 0.0
    return parse_fraction(text, name, PART_RANGE)


def parse_mtu(text: str, name: str = "MTU") -> int:
    """An IP packet size in whole bytes; a plain number is bytes.

    >>> parse_mtu("9000")
    9000
    """
    kind = _Kind("a size in whole bytes", "1500", "byte", MTU_BYTES_RANGE, "bytes")
    number, unit = _split(name, text, kind)
    value = _converted(name, text, kind, number, unit or "byte")
    if value != round(value):
        raise _refuse(name, text, kind, ", which is not a whole number of bytes")
    return int(_in_range(name, text, kind, value))
