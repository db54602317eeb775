"""Kinds of quantities of options, and parsers of those kinds that depend on a path.

``farpath.base.units`` knows the units. ``RTT_MS.parse("0.164 s", "rtt")`` is 164.0.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from farpath.base import units
from farpath.base.errors import BadInputError
from farpath.base.units import Quantity, split_quantity, whole_number_of
from farpath.spec.path import (
    BUFFER_BYTES_RANGE,
    ETHERNET_HEADER_BYTES,
    JITTER_MS_RANGE,
    LOSS_RANGE,
    MTU_BYTES_RANGE,
    RATE_BPS_RANGE,
    RTT_MS_RANGE,
    WAY_RTT_MS_RANGE,
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
from farpath.spec.user_network import DELAY_MS_RANGE

#: Curves are smoothed over 5 s, so that a region is no shorter. iperf3 runs for at most 86400 s,
#: and the longest flow spans eight regions.
REGION_S_RANGE = (5.0, 10_800.0)
MOMENT_S_RANGE = (0.0, 86_400.0)
#: Seeds of runs: positive numbers of a signed word.
SEED_RANGE = (1, 2**31 - 1)

#: A smaller buffer would drop ordinary bursts of slow start.
LEAST_BUFFER_FRAMES = 100
#: A longer buffer of jumbo frames would take more than the largest of bytes.
MOST_PACKETS = 100_000
_BDP = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)?\s*[xX*]?\s*(?:BDP|bdp)")
_MS_BY_UNIT = {"us": 1e-3, "ms": 1.0, "s": 1e3}
#: Packets as tc writes a limit (100p), or in full; 2xBDP counts no packets.
_PACKETS = re.compile(r"(\S*?)\s*(?:(?<!d)p|pkts?|packets?)", re.IGNORECASE)


def _rtt_problem(rtt_ms: float) -> str:
    low_ms, _ = RTT_MS_RANGE
    return "" if rtt_ms == 0 or rtt_ms >= low_ms else f"is neither 0 nor at least {low_ms:g} ms"


def _sample_problem(interval_s: float) -> str:
    count = 1 / interval_s
    return "" if abs(count - round(count)) <= 1e-6 else "is no whole part of a second"


def _transfer_problem(transfer_bytes: float) -> str:
    if problem := whole_number_of(1, "bytes")(transfer_bytes):
        return problem
    if has_blocks(int(transfer_bytes)):
        return ""
    return (
        f"is no whole number of equal blocks of {LEAST_BLOCK_BYTES:,} to {MOST_BLOCK_BYTES:,} "
        "bytes, as iperf3 counts; give a rounder one"
    )


RTT_MS = Quantity("a time", "164ms", units.TIMES, "ms", WAY_RTT_MS_RANGE, float, _rtt_problem)
#: Of a cable, in one direction.
DELAY_MS = Quantity("a time", "5ms", units.TIMES, "ms", DELAY_MS_RANGE, float)
#: The largest deviation of a delay.
JITTER_MS = Quantity("a time", "1ms", units.TIMES, "ms", JITTER_MS_RANGE, float)
#: iperf3 takes whole seconds only.
DURATION_S = Quantity(
    *("a time in whole seconds", "120s", units.TIMES, "s", REGION_S_RANGE, float),
    whole_number_of(1, "seconds"),
)
#: Since the start of a schedule.
MOMENT_S = Quantity("a time", "30s", units.TIMES, "s", MOMENT_S_RANGE, float)
#: Of a queue, or between two requests.
SHORT_TIME_S = Quantity("a time", "5ms", units.TIMES, "s", (1e-6, 10.0), float)
TRACE_S = Quantity(
    *("a time in whole milliseconds", "10ms", units.TIMES, "s", INTERVAL_S_RANGE, float),
    whole_number_of(TICK_S, "milliseconds"),
)
SAMPLE_S = Quantity(
    "a time of which a second holds a whole number",
    *("100ms", units.TIMES, "s", SAMPLE_S_RANGE, float),
    _sample_problem,
)
RATE_BPS = Quantity("a rate", "450Mbit/s", units.RATES, "bit/s", RATE_BPS_RANGE, round)
SIZE_BYTES = Quantity("a size", "10.5MB", units.SIZES, "bytes", BUFFER_BYTES_RANGE, round)
WINDOW_BYTES = Quantity("a size", "10.5MB", units.SIZES, "bytes", WINDOW_BYTES_RANGE, round)
#: Of an IP packet.
MTU_BYTES = Quantity(
    *("a size in whole bytes", "1500", units.SIZES, "bytes", MTU_BYTES_RANGE, round),
    whole_number_of(1, "bytes"),
)
#: Payload of each flow.
TRANSFER_BYTES = Quantity(
    *("a size", "100MB", units.PAYLOADS, "bytes", TRANSFER_BYTES_RANGE, round),
    _transfer_problem,
)
FRACTION = Quantity("a fraction", "2e-6 or 0.01%", units.FRACTIONS, "", LOSS_RANGE, float)
FREQUENCY_HZ = Quantity("a frequency", "2.8GHz", units.FREQUENCIES, "Hz", FREQUENCY_HZ_RANGE, float)


def whole(allowed: tuple[float, float]) -> Quantity[int]:
    """Return the kind of whole numbers within a range.

    >>> whole((1, 65_536)).parse("1024", "flows")
    1024
    """
    return Quantity(
        "a whole number", f"{allowed[1]:.0f}", units.NUMBERS, "", allowed, round, whole_number_of()
    )


@dataclass(frozen=True)
class Amount:
    """Bytes that a bottleneck sends in a time: ``ms``, or ``products`` times the path's RTT."""

    products: float = 0.0
    ms: float = 0.0

    def time_ms(self, rtt_ms: float) -> float:
        """Return the time in ms on a path of an RTT.

        >>> Amount(products=2).time_ms(164), Amount(ms=50).time_ms(164)
        (328.0, 50.0)
        """
        return self.products * rtt_ms + self.ms


def parse_amount(text: str, name: str = "buffer") -> Amount | None:
    """Parse a multiple of the bandwidth-delay product, or a time; None for a text of neither.

    Raises BadInputError for a number that is not finite.

    >>> parse_amount("2xBDP"), parse_amount("50ms"), parse_amount("1MB")
    (Amount(products=2.0, ms=0.0), Amount(products=0.0, ms=50.0), None)
    """
    if match := _BDP.fullmatch(text.strip()):
        amount = Amount(products=float(match[1] or 1))
    else:
        number, unit = split_quantity(text) or (0.0, "")
        if unit not in _MS_BY_UNIT:
            return None
        amount = Amount(ms=number * _MS_BY_UNIT[unit])
    # No path's RTT or rate, in ms and bit/s, carries a number below this bound out of range
    if not math.isfinite(amount.time_ms(RTT_MS_RANGE[1]) * RATE_BPS_RANGE[1]):
        raise BadInputError(
            option=name,
            given=text,
            problem="that is no finite number",
            remedy=(
                "give a multiple of the bandwidth-delay product or a time, as in 2xBDP or 50ms"
            ),
        )
    return amount


def parse_size(text: str, name: str, allowed: tuple[int, int], path: tuple[int, float]) -> int:
    """Return bytes, or those that a bottleneck of a ``path``, rate in bit/s and RTT in ms, sends.

    Raises BadInputError for any other text, and for bytes that are not ``allowed``.

    >>> parse_size("2xBDP", "buffer", (1514, 10**9), (100_000_000, 50.0))
    1250000
    """
    if (amount := parse_amount(text, name)) is None:
        return SIZE_BYTES.parse(text, name, allowed)
    rate_bps, rtt_ms = path
    size_bytes = round(rate_bps * amount.time_ms(rtt_ms) / 8e3)
    if not allowed[0] <= size_bytes <= allowed[1]:
        raise BadInputError(
            option=name,
            given=text,
            problem=f"here it is {size_bytes:,.12g} bytes",
            remedy=f"it must be between {allowed[0]} and {allowed[1]} bytes",
        )
    return size_bytes


def default_buffer_bytes(rate_bps: int, rtt_ms: float, mtu_bytes: int) -> int:
    """Return the buffer of a path that states none: a bandwidth-delay product within bounds."""
    least_bytes = LEAST_BUFFER_FRAMES * (mtu_bytes + ETHERNET_HEADER_BYTES)
    return min(max(round(rate_bps * rtt_ms / 8e3), least_bytes), BUFFER_BYTES_RANGE[1])


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
            option="buffer",
            given=text,
            remedy=f"packets must be a whole number from 2 to {MOST_PACKETS:,}",
        )
    return int(match[1])


def whole_number(option: str, text: str, allowed: tuple[int, int]) -> int:
    """Parse a whole number in a range; raise BadInputError, which names the option, for others."""
    low, high = allowed
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and low <= int(text) <= high):
        raise BadInputError(
            option=option, given=text, remedy=f"it must be a whole number from {low} to {high}"
        )
    return int(text)
