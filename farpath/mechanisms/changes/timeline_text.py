"""Parser and writer of values that change: ``100Mbit,30s:20Mbit,60s:100Mbit``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.base.units import Number, Quantity, split_quantity
from farpath.mechanisms import quantities
from farpath.spec.changes import RateChanges, RttChanges, times_problem
from farpath.spec.path import Path

#: Beginning of the last part, which gives the time after which the values begin again.
REPEAT = "repeat"


@dataclass(frozen=True)
class ChangesText:
    """A changing value as typed: the ``first``, and for each change its time in s and its text.

    ``period_s``: when the values begin again with the first; 0 for never.
    """

    text: str
    first: str
    at_s: tuple[float, ...]
    values: tuple[str, ...]
    period_s: float

    def parsed(self, quantity: Quantity[Number], name: str) -> tuple[Number, ...]:
        """Return the value of each change."""
        return tuple(quantity.parse(value, name) for value in self.values)


def split_changes(text: str, name: str) -> ChangesText | None:
    """Split the changes of an option from its first value; None for a text without changes.

    Raises BadInputError for a part that is no change, and for times that do not rise.

    >>> split_changes("50ms, 15s:80ms, repeat:30s", "rtt")
    ChangesText(text='50ms, 15s:80ms, repeat:30s', first='50ms', at_s=(15.0,), values=('80ms',), \
period_s=30.0)
    """
    first, *parts = (part.strip() for part in text.split(","))
    if not parts:
        return None
    period_s = 0.0
    word, colon, period = parts[-1].partition(":")
    if colon and word.strip() == REPEAT:
        period_s = quantities.MOMENT_S.parse(period.strip(), f"{name}: {REPEAT}")
        parts.pop()
    at_s, values = [], []
    for part in parts:
        moment, colon, value = (word.strip() for word in part.partition(":"))
        if not (moment and colon and value):
            raise BadInputError(
                option=name,
                given=text,
                problem="after a comma stands when it changes and to what",
                remedy=f"write it as in `{name}={_EXAMPLES[name]}`",
            )
        at_s.append(quantities.MOMENT_S.parse(moment, f"{name}: the time of a change"))
        values.append(value)
    if problem := times_problem(at_s, period_s):
        raise BadInputError(option=name, given=text, problem=problem)
    return ChangesText(text, first, tuple(at_s), tuple(values), period_s)


_EXAMPLES = {
    "rate": "100Mbit,30s:20Mbit,60s:100Mbit",
    "rtt": "50ms,15s:80ms,repeat:30s",
    "delay": "25ms,15s:40ms,repeat:30s",
}


def rate_changes(changes: ChangesText | None) -> RateChanges | None:
    """Return the changes of a rate; None for none.

    Raises BadInputError for a rate that is out of range, as is 0, which would be an outage.
    """
    if changes is None:
        return None
    for at_s, value in zip(changes.at_s, changes.values, strict=True):
        if (split_quantity(value) or (1.0, ""))[0] == 0:
            later = [f"{time_s:g}s" for time_s in changes.at_s if time_s > at_s]
            end = later[0] if later else f"{at_s + 3:g}s"
            raise BadInputError(
                option="rate",
                given=changes.text,
                problem="a rate of 0 is an outage",
                remedy=f"give at least 100kbit, or lose packets: `drop=outage:{at_s:g}s,{end}`",
            )
    rates_bps = changes.parsed(quantities.RATE_BPS, "rate")
    return RateChanges(changes.at_s, changes.period_s, rates_bps)


def rtt_changes(changes: ChangesText | None) -> RttChanges | None:
    """Return the changes of an RTT; None for none."""
    if changes is None:
        return None
    rtts_ms = changes.parsed(quantities.RTT_MS, "rtt")
    return RttChanges(changes.at_s, changes.period_s, rtts_ms)


def rate_text(path: Path) -> str:
    """Return a path's rate as RATE is typed.

    >>> from farpath.planning.path_options import resolve_path
    >>> rate_text(resolve_path(rtt="50ms", rate="1Gbit,30s:0.5Mbit,repeat:1min"))
    '1000Mbit,30s:0.5Mbit,repeat:60s'
    """
    changes = path.rate_changes
    texts = [f"{rate_bps / 1e6:.12g}Mbit" for rate_bps in path.rates_bps]
    return _joined(texts, changes.at_s if changes else (), changes.period_s if changes else 0.0)


def rtt_text(path: Path) -> str:
    """Return a path's RTT as RTT is typed."""
    changes = path.rtt_changes
    texts = [f"{rtt_ms:.12g}ms" for rtt_ms in path.rtts_ms]
    return _joined(texts, changes.at_s if changes else (), changes.period_s if changes else 0.0)


def _joined(texts: Sequence[str], at_s: Sequence[float], period_s: float) -> str:
    first, *later = texts
    parts = [first, *(f"{time_s:.12g}s:{text}" for time_s, text in zip(at_s, later, strict=True))]
    return ",".join([*parts, *([f"{REPEAT}:{period_s:.12g}s"] if period_s else [])])
