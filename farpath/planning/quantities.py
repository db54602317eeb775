"""Parsers of quantities with units, such as ``164ms``, to numbers in the unit of the name.

No other module reads unit suffixes. Decimal prefixes are powers of 1000 (``10.5MB``), binary
ones powers of 1024 (``16MiB``). Every function raises BadInputError with one line: the value,
what is wrong with it, what is allowed, and an example. ``name`` is the option in that line.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from farpath.base.errors import BadInputError
from farpath.spec.background import PART_RANGE
from farpath.spec.own_network import DELAY_MS_RANGE
from farpath.spec.path import (
    BUFFER_BYTES_RANGE,
    JITTER_MS_RANGE,
    LOSS_RANGE,
    MTU_BYTES_RANGE,
    RATE_BPS_RANGE,
    RTT_MS_RANGE,
    WINDOW_BYTES_RANGE,
)
from farpath.spec.processor import FREQUENCY_HZ_RANGE
from farpath.spec.settings import SAMPLE_S_RANGE
from farpath.spec.trace import INTERVAL_S_RANGE, TICK_S
from farpath.spec.transfer import (
    LEAST_BLOCK_BYTES,
    MOST_BLOCK_BYTES,
    TRANSFER_BYTES_RANGE,
    has_blocks,
)

if TYPE_CHECKING:
    from pint import UnitRegistry

#: Curves are smoothed over 5 s, so that a region is no shorter. iperf3 runs for at most 86400 s,
#: and the longest flow spans eight regions.
REGION_S_RANGE = (5.0, 10_800.0)
MOMENT_S_RANGE = (0.0, 86_400.0)

_QUANTITY = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(\S*)")
#: A longer buffer of jumbo frames would take more than the largest of bytes.
MOST_PACKETS = 100_000
_BDP = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)?\s*[xX*]?\s*(?:BDP|bdp)")
_MS_BY_UNIT = {"us": 1e-3, "ms": 1.0, "s": 1e3}
#: Packets as tc writes a limit (100p), or in full; 2xBDP counts no packets.
_BARE = re.compile(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?")
_PACKETS = re.compile(r"(\S*?)\s*(?:(?<!d)p|pkts?|packets?)", re.IGNORECASE)
_NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_UNIT = re.compile(r"[A-Za-zµμ][A-Za-zµμ/]{0,30}")
#: Units of rates as tc and iperf3 write them, and as usual: prefix, bits, per second.
_RATE_UNIT = re.compile(r"([kmgt]?)(i?)(?:bits?/s(?:ec)?|bits?|bps|b/s)", re.IGNORECASE)
#: A prefix alone, as iperf3 and mahimahi's users write it: of bits.
_RATE_PREFIX = re.compile(r"[kKmMgGtT]")
_RATE_BYTES = re.compile(r"[kKmMgGtT]?i?B(?:/s(?:ec)?|ps)?")
_DECIMAL_PREFIX = {"": "", "k": "kilo", "m": "mega", "g": "giga", "t": "tera"}
_BINARY_PREFIX = {"k": "kibi", "m": "mebi", "g": "gibi", "t": "tebi"}


@dataclass(frozen=True)
class _QuantityType:
    """Type of a quantity: its noun and example in errors, pint's unit, range, and unit symbol.

    ``is_fraction``: whether it may be given in per cent.
    """

    noun: str
    example: str
    unit: str
    allowed: tuple[float, float]
    unit_symbol: str
    is_fraction: bool = False

    def requirement(self) -> str:
        """Return the part of an error that says what is allowed."""
        low, high = (bound_text(bound, self.unit_symbol) for bound in self.allowed)
        return f"it must be {self.noun} such as {self.example}, between {low} and {high}"


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


@cache
def _registry() -> UnitRegistry[float]:
    import pint

    return pint.UnitRegistry()


def _quoted(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."
    return repr(short)


def _error(name: str, text: str, expected: _QuantityType, problem: str = "") -> BadInputError:
    return BadInputError(f"{name} is {_quoted(text)}{problem}: {expected.requirement()}")


def _split(name: str, text: str, expected: _QuantityType) -> tuple[float, str]:
    """Split a quantity into its number and its unit."""
    match = _QUANTITY.fullmatch(text.strip())
    if _NOT_FINITE.match(text.strip()) or (match and math.isinf(float(match[1]))):
        raise _error(name, text, expected, ", which is no finite number")
    if not match:
        raise _error(name, text, expected)
    return float(match[1]), match[2]


def _converted(name: str, text: str, expected: _QuantityType, number: float, unit: str) -> float:
    """Convert a number of ``unit`` to the unit of ``expected``."""
    import pint

    if not _UNIT.fullmatch(unit):
        raise _error(name, text, expected)
    registry = _registry()
    try:
        quantity = registry.Quantity(number, unit)
    except Exception as error:  # pint raises many types for text that is no unit
        raise _error(name, text, expected, f", and '{unit}' is no known unit") from error
    try:
        return float(quantity.to(expected.unit).magnitude)
    except (pint.PintError, ArithmeticError) as error:
        problem = f", and '{unit}' is no unit of {expected.noun}"
        raise _error(name, text, expected, problem) from error


def _in_range(name: str, text: str, expected: _QuantityType, value: float) -> float:
    low, high = expected.allowed
    if not low <= value <= high:
        problem = ", which is out of range"
        is_bare = bool(_BARE.fullmatch(text.strip()))
        if is_bare and expected.unit_symbol:
            problem = f", a number without a unit, so in {expected.unit_symbol}{problem}"
        elif is_bare and expected.is_fraction and value >= 1 and low <= value / 100 <= high:
            problem += f" (did you mean {text.strip()}%?)"
        raise _error(name, text, expected, problem)
    return value


def _parse_with_unit(name: str, text: str, expected: _QuantityType) -> float:
    number, unit = _split(name, text, expected)
    if not unit:
        raise BadInputError(
            f"{name} is {_quoted(text)}, a number without a unit: write, for example, "
            f"{expected.example}; {expected.requirement()}"
        )
    # Conversion rounds; twelve digits keep values such as "10s" and "0.01ms" within the range.
    value = float(f"{_converted(name, text, expected, number, unit):.12g}")
    return _in_range(name, text, expected, value)


def parse_rtt_ms(text: str, name: str = "RTT") -> float:
    """Parse a round-trip time in ms; a unit is required.

    >>> parse_rtt_ms("0.164 s")
    164.0
    """
    expected = _QuantityType("a time", "164ms", "millisecond", RTT_MS_RANGE, "ms")
    return _parse_with_unit(name, text, expected)


def parse_delay_ms(text: str, name: str) -> float:
    """Parse the delay of a cable in one direction in ms; a unit is required.

    >>> parse_delay_ms("5ms", "delay")
    5.0
    """
    expected = _QuantityType("a time", "5ms", "millisecond", DELAY_MS_RANGE, "ms")
    return _parse_with_unit(name, text, expected)


def parse_jitter_ms(text: str, name: str = "JITTER") -> float:
    """Parse the largest deviation of a delay in ms; a unit is required.

    >>> parse_jitter_ms("200us")
    0.2
    """
    expected = _QuantityType("a time", "1ms", "millisecond", JITTER_MS_RANGE, "ms")
    return _parse_with_unit(name, text, expected)


def parse_duration_s(
    text: str, name: str = "REGION", allowed: tuple[float, float] = REGION_S_RANGE
) -> float:
    """Parse a duration in s; a unit is required, and whole seconds, since iperf3 takes no others.

    >>> parse_duration_s("2min")
    120.0
    """
    expected = _QuantityType("a time in whole seconds", "120s", "second", allowed, "s")
    value = _parse_with_unit(name, text, expected)
    if value != round(value):
        raise _error(name, text, expected, ", which is not a whole number of seconds")
    return value


def parse_moment_s(text: str, name: str) -> float:
    """Parse a time since a schedule's start in s; a unit is required.

    >>> parse_moment_s("1.5min", "AT")
    90.0
    """
    expected = _QuantityType("a time", "30s", "second", MOMENT_S_RANGE, "s")
    return _parse_with_unit(name, text, expected)


def parse_short_time_s(text: str, name: str, allowed: tuple[float, float]) -> float:
    """Parse a time of a queue in s; a unit is required.

    >>> parse_short_time_s("5ms", "target", (1e-6, 10.0))
    0.005
    """
    return _parse_with_unit(name, text, _QuantityType("a time", "5ms", "second", allowed, "s"))


def parse_whole(text: str, name: str, allowed: tuple[float, float]) -> int:
    """Parse a whole number without a unit.

    >>> parse_whole("1024", "flows", (1, 65_536))
    1024
    """
    expected = _QuantityType("a whole number", f"{allowed[1]:.0f}", "", allowed, "")
    number, unit = _split(name, text, expected)
    if unit or number != round(number):
        raise _error(name, text, expected)
    return int(_in_range(name, text, expected, number))


def parse_trace_s(text: str, name: str = "TRACE") -> float:
    """Parse the interval of a trace in s; a unit is required, and whole milliseconds.

    >>> parse_trace_s("10ms")
    0.01
    """
    expected = _QuantityType(
        "a time in whole milliseconds", "10ms", "second", INTERVAL_S_RANGE, "s"
    )
    value = _parse_with_unit(name, text, expected)
    if abs(value / TICK_S - round(value / TICK_S)) > 1e-6:
        raise _error(name, text, expected, ", which is not a whole number of milliseconds")
    return value


def parse_sample_s(text: str, name: str = "SAMPLE") -> float:
    """Parse the time between two samples in s; a unit is required. A second holds whole ones.

    >>> parse_sample_s("100ms")
    0.1
    """
    expected = _QuantityType(
        "a time of which a second holds a whole number", "100ms", "second", SAMPLE_S_RANGE, "s"
    )
    value = _parse_with_unit(name, text, expected)
    if abs(1 / value - round(1 / value)) > 1e-6:
        raise _error(name, text, expected, ", of which a second holds no whole number")
    return value


def _rate_unit(unit: str) -> str:
    """Return pint's name for the unit of a rate; units of bits may be in either case."""
    if not unit:
        return "bit/second"
    if _RATE_PREFIX.fullmatch(unit):
        return _DECIMAL_PREFIX[unit.lower()] + "bit/second"
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
    """Parse a rate in bit/s; a plain number is bit/s.

    >>> parse_rate_bps("450mbit"), parse_rate_bps("0.5 Gbit/s"), parse_rate_bps("1G")
    (450000000, 500000000, 1000000000)
    """
    expected = _QuantityType("a rate", "450Mbit/s", "bit/second", RATE_BPS_RANGE, "bit/s")
    number, unit = _split(name, text, expected)
    value = _converted(name, text, expected, number, _rate_unit(unit))
    return round(_in_range(name, text, expected, value))


def parse_bytes(
    text: str, name: str = "BUFFER", allowed: tuple[float, float] = BUFFER_BYTES_RANGE
) -> int:
    """Parse a size in bytes; a plain number is bytes.

    >>> parse_bytes("10.5MB"), parse_bytes("16MiB")
    (10500000, 16777216)
    """
    expected = _QuantityType("a size", "10.5MB", "byte", allowed, "bytes")
    number, unit = _split(name, text, expected)
    unit = "kB" if unit == "KB" else unit or "byte"
    value = _converted(name, text, expected, number, unit)
    return round(_in_range(name, text, expected, value))


def parse_transfer_bytes(text: str, name: str = "BYTES") -> int:
    """Parse what each flow sends, in whole bytes; a plain number is bytes.

    >>> parse_transfer_bytes("100MB"), parse_transfer_bytes("1G")
    (100000000, 1000000000)
    """
    expected = _QuantityType("a size", "100MB", "byte", TRANSFER_BYTES_RANGE, "bytes")
    number, unit = _split(name, text, expected)
    if _RATE_PREFIX.fullmatch(unit):
        unit = _DECIMAL_PREFIX[unit.lower()] + "byte"
    unit = "kB" if unit == "KB" else unit or "byte"
    value = _in_range(name, text, expected, _converted(name, text, expected, number, unit))
    if value != round(value):
        raise _error(name, text, expected, ", which is not a whole number of bytes")
    if not has_blocks(int(value)):
        problem = (
            f", which is no whole number of equal blocks of {LEAST_BLOCK_BYTES:,} to "
            f"{MOST_BLOCK_BYTES:,} bytes, as iperf3 counts; give a rounder one"
        )
        raise _error(name, text, expected, problem)
    return int(value)


@dataclass(frozen=True)
class Amount:
    """What a bottleneck sends in a time: ``ms``, or ``products`` times the path's RTT."""

    products: float = 0.0
    ms: float = 0.0

    def time_ms(self, rtt_ms: float) -> float:
        """Return the time in ms on a path of an RTT.

        >>> Amount(products=2).time_ms(164), Amount(ms=50).time_ms(164)
        (328.0, 50.0)
        """
        return self.products * rtt_ms + self.ms


def parse_amount(text: str, name: str = "BUFFER") -> Amount | None:
    """Parse a multiple of the bandwidth-delay product, or a time; None for a text of neither.

    Raises BadInputError for a number that is not finite.

    >>> parse_amount("2xBDP"), parse_amount("50ms"), parse_amount("1MB")
    (Amount(products=2.0, ms=0.0), Amount(products=0.0, ms=50.0), None)
    """
    if match := _BDP.fullmatch(text.strip()):
        amount = Amount(products=float(match[1] or 1))
    else:
        match = _QUANTITY.fullmatch(text.strip())
        if match is None or match[2] not in _MS_BY_UNIT:
            return None
        amount = Amount(ms=float(match[1]) * _MS_BY_UNIT[match[2]])
    # No path's RTT or rate, in ms and bit/s, carries a number below this bound out of range
    if not math.isfinite(amount.time_ms(RTT_MS_RANGE[1]) * RATE_BPS_RANGE[1]):
        raise BadInputError(
            f"{name} is {_quoted(text)}, which is no finite number: give a multiple of the "
            "bandwidth-delay product or a time, as in 2xBDP or 50ms"
        )
    return amount


def parse_buffer_packets(text: str) -> int | None:
    """Parse a buffer's length in packets; None for a text that names no packets.

    Raises BadInputError for a number that is not whole, or none of a buffer.

    >>> [parse_buffer_packets(text) for text in ("100packets", "100p", "1MB")]
    [100, 100, None]
    """
    match = _PACKETS.fullmatch(text.strip())
    if match is None:
        return None
    if not (match[1].isascii() and match[1].isdigit() and 2 <= int(match[1][:9]) <= MOST_PACKETS):
        raise BadInputError(
            f"BUFFER is '{text}': packets must be a whole number from 2 to {MOST_PACKETS:,}"
        )
    return int(match[1])


def parse_window(text: str, name: str = "WINDOW") -> int:
    """Parse a window in bytes; a plain number is bytes.

    >>> parse_window("16MiB")
    16777216
    """
    return parse_bytes(text, name, WINDOW_BYTES_RANGE)


def parse_fraction(
    text: str, name: str = "LOSS", allowed: tuple[float, float] = LOSS_RANGE
) -> float:
    """Parse a fraction, given as a number or in per cent.

    >>> parse_fraction("2e-6"), parse_fraction("0.01%")
    (2e-06, 0.0001)
    """
    expected = _QuantityType("a fraction", "2e-6 or 0.01%", "", allowed, "", is_fraction=True)
    number, unit = _split(name, text, expected)
    if unit not in ("", "%"):
        raise _error(name, text, expected, f", and '{unit}' is no unit of a fraction")
    value = float(f"{number / 100:.15g}") if unit else number
    # Adding zero turns -0.0 into 0.0.
    return _in_range(name, text, expected, value) + 0.0


def parse_exponent(text: str, name: str, allowed: tuple[float, float]) -> float:
    """Parse the exponent of a distribution, a number without unit.

    >>> parse_exponent("1.2", "alpha", (0.1, 10.0))
    1.2
    """
    expected = _QuantityType("an exponent", "1.2", "", allowed, "")
    number, unit = _split(name, text, expected)
    if unit:
        raise _error(name, text, expected, ", which has a unit")
    return _in_range(name, text, expected, number)


def parse_background(text: str, name: str = "BACKGROUND") -> float:
    """Parse the fraction of a rate that background traffic takes on average; ``none`` is 0.

    >>> parse_background("none"), parse_background("25%")
    (0.0, 0.25)
    """
    if text.strip().lower() == "none":
        return 0.0
    return parse_fraction(text, name, PART_RANGE)


def parse_mtu(text: str, name: str = "MTU") -> int:
    """Parse the size of an IP packet in whole bytes; a plain number is bytes.

    >>> parse_mtu("9000")
    9000
    """
    expected = _QuantityType("a size in whole bytes", "1500", "byte", MTU_BYTES_RANGE, "bytes")
    number, unit = _split(name, text, expected)
    value = _converted(name, text, expected, number, unit or "byte")
    if value != round(value):
        raise _error(name, text, expected, ", which is not a whole number of bytes")
    return int(_in_range(name, text, expected, value))


def parse_frequency_hz(text: str, name: str) -> float:
    """Parse a processor's clock in Hz; a unit is required.

    >>> parse_frequency_hz("2.8GHz", "cpu")
    2800000000.0
    """
    expected = _QuantityType("a frequency", "2.8GHz", "hertz", FREQUENCY_HZ_RANGE, "Hz")
    return _parse_with_unit(name, text, expected)
