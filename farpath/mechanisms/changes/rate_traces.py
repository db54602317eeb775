"""Reader of traces in mahimahi's format, a time in ms on each line.

RATE=trace:FILE names one, and so does ``rate_trace`` of a path's file.
"""

from __future__ import annotations

import os
from pathlib import Path as FilePath

from farpath.base.errors import BadInputError
from farpath.base.files import read_regular
from farpath.spec.deliveries import MOST_OPPORTUNITIES, mean_rate_bps, trace_problem
from farpath.spec.path import RATE_BPS_RANGE

PREFIX = "trace:"
_MOST_DIGITS = 9
#: Largest trace in bytes: each of its most lines with as many digits, and the line's end.
_MOST_BYTES = MOST_OPPORTUNITIES * (_MOST_DIGITS + 2)


def is_trace(text: str) -> bool:
    """Whether a value of RATE names a trace.

    >>> is_trace("trace:lte.down"), is_trace("100Mbit")
    (True, False)
    """
    return text.startswith(PREFIX)


def read_trace(text: str) -> tuple[int, ...]:
    """Read the trace that a value of RATE names; return its times in ms.

    Raises BadInputError as ``trace_of_file`` does.
    """
    return trace_of_file(FilePath(os.path.expanduser(text.removeprefix(PREFIX))), "rate", text)


def trace_of_file(file: FilePath, option: str, given: str) -> tuple[int, ...]:
    """Read a trace; return its times in ms. ``option``, ``given``: who names it, and how.

    Raises BadInputError in one line for a file that cannot be read, a line that is no whole number
    of ms, times that fall, a trace without opportunities or length, and a mean rate out of range.
    """
    try:
        # Some editors put a byte order mark before the text
        lines = read_regular(file, _MOST_BYTES).decode("utf-8-sig").splitlines()
    except OSError as error:
        raise BadInputError(
            option=option, given=given, problem=f"{file}: {error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise BadInputError(option=option, given=given, problem=f"{file} is no text") from error
    times_ms = []
    for number, line in enumerate(lines, start=1):
        word = line.strip()
        if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS):
            raise BadInputError(
                option=option,
                given=given,
                problem=f"line {number} is {word[:40]!r}",
                remedy="it must be a time in whole ms",
            )
        times_ms.append(int(word))
    if problem := trace_problem(times_ms):
        raise BadInputError(option=option, given=given, problem=problem)
    low, high = RATE_BPS_RANGE
    if not low <= mean_rate_bps(times_ms) <= high:
        raise BadInputError(
            option=option,
            given=given,
            problem=f"its mean is {mean_rate_bps(times_ms):,} bit/s",
            remedy=f"it must be between {low:,} and {high:,} bit/s",
        )
    return tuple(times_ms)
