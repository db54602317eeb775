"""The graphs of a connection: what is drawn in each panel, for the picture and for the page.

The panels are those of tcptrace (Ostermann): time and sequence numbers as in Stevens, TCP/IP
Illustrated, windows and bytes in flight, RTTs; and one-way delays where two captures are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from farpath.captures.analysis import (
    DUPLICATE,
    FULL,
    OUT_OF_ORDER,
    RETRANSMISSION,
    ZERO,
    marked,
    rtt_samples,
)
from farpath.captures.delays import Merged
from farpath.captures.segments import ABSENT, ACK, RST, SACK_BLOCKS, SYN, Connection

Floats = npt.NDArray[np.float64]
STEPS, POINTS, BARS = "steps", "points", "bars"
#: A series that exceeds all others by more than so many times their height is left above the axis,
#: which has this part of their height as room.
MOST_ABOVE, MARGIN = 1.5, 0.05


@dataclass(frozen=True)
class Series:
    """One thing that a panel draws; ``is_bold``: of few segments, which must be seen among many.

    ``form``: ``steps`` and ``points`` at ``x`` (s) and ``y``; ``bars`` from ``y`` to ``top``.
    ``hue``: of ``farpath.report.figures.stack_colours``. ``mark``: matplotlib's, of points.
    """

    label: str
    form: str
    hue: str
    x: Floats
    y: Floats
    top: Floats | None = None
    mark: str = "."
    is_bold: bool = False


@dataclass(frozen=True)
class Panel:
    """A panel: its name, what its axis says, and its series, the lowest first.

    ``range``: of its axis, where one of its series is far above the others.
    """

    name: str
    axis: str
    series: tuple[Series, ...]
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Graphed:
    """A connection whose data from one end is drawn, and the times of it.

    ``segments``: of the connection. ``from_client``: whose data. ``zero_ns``: time 0 of the axis.
    ``span_s``: the part of the axis that is drawn. ``merged``: with a second capture.
    """

    connection: Connection
    segments: pd.DataFrame
    from_client: bool
    zero_ns: int
    span_s: tuple[float, float]
    merged: Merged | None = None

    @property
    def name(self) -> str:
        """The connection, the sender of the data first."""
        client, server = self.connection.ends_by_name
        return f"{client} > {server}" if self.from_client else f"{server} > {client}"

    @cached_property
    def marks(self) -> pd.DataFrame:
        """The marks of its segments, of all its time: what passed before decides them."""
        return marked(self.segments, self.connection)

    @cached_property
    def rtts(self) -> pd.DataFrame:
        """The RTT samples of the data that is drawn, in the span."""
        return self.within(rtt_samples(self.segments, self.from_client))

    def within(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table with ``time_ns`` that are in the span."""
        low, high = (self.zero_ns + round(end * 1e9) for end in self.span_s)
        return table[table["time_ns"].between(low, high)]

    def seconds(self, table: pd.DataFrame) -> Floats:
        """Return times of a table on the axis."""
        return (table["time_ns"].to_numpy() - self.zero_ns) / 1e9


def panels(graphed: Graphed, names: Sequence[str]) -> tuple[Panel, ...]:
    """Return the panels of these names (``PANELS``)."""
    return tuple(_MAKERS[name](graphed) for name in names)


def _numbers(table: pd.DataFrame, column: str) -> Floats:
    return table[column].to_numpy(dtype=np.float64)


def _points(graphed: Graphed, table: pd.DataFrame, label: str, hue: str, mark: str,
            column: str = "seq") -> Series:  # fmt: skip
    return Series(label, POINTS, hue, graphed.seconds(table), _numbers(table, column), mark=mark)


def _stevens(graphed: Graphed) -> Panel:
    """Return sequence numbers: data, acknowledgements, window's edge, SACK blocks and marks."""
    shown = graphed.within(graphed.segments)
    marks = graphed.marks.loc[shown.index]
    is_ours = shown["from_client"] == graphed.from_client
    data, data_marks = (
        shown[is_ours & (shown["length"] > 0)],
        marks[is_ours & (shown["length"] > 0)],
    )
    acks, ack_marks = _acks(shown, is_ours), marks.loc[_acks(shown, is_ours).index]
    edge = acks.assign(edge=acks["ack"] + acks["window"])
    series = [
        Series("window's edge", STEPS, "sky", graphed.seconds(edge), _numbers(edge, "edge")),
        Series("acknowledged", STEPS, "green", graphed.seconds(acks), _numbers(acks, "ack")),
    ]
    sacked = [
        (acks[has], f"sack{number}")
        for number in range(1, SACK_BLOCKS + 1)
        if (has := acks[f"sack{number}_left"] != ABSENT).any()
    ]
    if sacked:
        times = np.concatenate([graphed.seconds(rows) for rows, _ in sacked])
        left, right = (
            np.concatenate([_numbers(rows, f"{name}_{side}") for rows, name in sacked])
            for side in ("left", "right")
        )
        series.append(Series("SACK", BARS, "purple", times, left, right))
    series.append(_points(graphed, acks[ack_marks[DUPLICATE]], "duplicate ACK", "blue", "_", "ack"))
    again = data_marks[RETRANSMISSION].to_numpy()
    unordered = data_marks[OUT_OF_ORDER].to_numpy()
    for label, chosen, hue in (
        ("data", ~again & ~unordered, "neutral"),
        ("out of order", unordered, "orange"),
        ("retransmission", again, "vermillion"),
    ):
        rows = data[chosen]
        top = _numbers(rows, "seq") + _numbers(rows, "length")
        series.append(
            Series(
                label, BARS, hue, graphed.seconds(rows), _numbers(rows, "seq"), top,
                is_bold=hue != "neutral",
            )
        )  # fmt: skip
    series += [
        _points(graphed, acks[ack_marks[ZERO]], "zero window", "brown", "s", "ack"),
        _points(graphed, data[data_marks[FULL]], "window full", "brown", "^"),
    ]
    return _without(series, 0, Panel("stevens", "sequence number (bytes)", ()))


def _acks(shown: pd.DataFrame, is_ours: pd.Series[bool]) -> pd.DataFrame:
    flags = shown["tcp_flags"]
    return shown[~is_ours & (flags & ACK != 0) & (flags & (SYN | RST) == 0)]


def _window(graphed: Graphed) -> Panel:
    """Return the receiver's window and the bytes in flight."""
    shown = graphed.within(graphed.segments)
    is_ours = shown["from_client"] == graphed.from_client
    data = shown[is_ours & (shown["length"] > 0)]
    data = data.assign(in_flight=graphed.marks.loc[data.index, "in_flight_bytes"])
    data = data[data["in_flight"] != ABSENT]
    acks = _acks(shown, is_ours)
    series = [
        Series("receiver's window", STEPS, "sky", graphed.seconds(acks), _numbers(acks, "window")),
        Series("in flight", STEPS, "neutral", graphed.seconds(data), _numbers(data, "in_flight")),
    ]
    return _without(series, 0, Panel("window", "bytes", ()))


def _rtt(graphed: Graphed) -> Panel:
    """Return RTTs by segments (Karn) and by timestamps, as seen from the capture's place."""
    samples = graphed.rtts.assign(rtt_ms=graphed.rtts["rtt_ns"] / 1e6)
    series = [
        _points(graphed, samples[samples["by"] == by], label, hue, mark, "rtt_ms")
        for by, label, hue, mark in (
            ("timestamp", "by timestamps", "sky", "."),
            ("segment", "by segments (Karn)", "neutral", "."),
        )
    ]
    return Panel("rtt", "RTT (ms)", _with_points(series))


def _delay(graphed: Graphed) -> Panel:
    """Return one-way delays of both directions, and when packets left that did not arrive."""
    if graphed.merged is None:
        return Panel("delay", "one-way delay (ms)", ())
    ways = (
        (graphed.merged.to_server, "to the server", "blue"),
        (graphed.merged.to_client, "to the client", "orange"),
    )
    series, lost = [], []
    for way, label, hue in ways:
        delays = graphed.within(way.delays)
        delays = delays.assign(delay_ms=delays["delay_ns"] / 1e6)
        series.append(_points(graphed, delays, label, hue, ".", "delay_ms"))
    least_ms = min((float(one.y.min()) for one in series if one.x.size), default=0.0)
    for way, label, _ in ways:
        gone = graphed.within(way.lost).assign(at=least_ms)
        lost.append(_points(graphed, gone, f"lost {label}", "vermillion", "x", "at"))
    series += lost
    return Panel("delay", "one-way delay (ms)", _with_points(series))


def _without(series: Sequence[Series], high: int, panel: Panel) -> Panel:
    """Return a panel whose range is that of its series but one, if that is far above them.

    ``high``: index of that one, of which its label then says from where on it is.
    """
    others = [one for number, one in enumerate(series) if number != high and one.x.size]
    edge = series[high]
    if not others or not edge.x.size:
        return replace(panel, series=_with_points(series))
    low = min(float(one.y.min()) for one in others)
    top = max(float((one.y if one.top is None else one.top).max()) for one in others)
    room = MARGIN * max(top - low, 1.0)
    if float(edge.y.max()) < top + MOST_ABOVE * (top - low):
        return replace(panel, series=_with_points(series))
    label = f"{edge.label} (from {float(edge.y.min()) / 1e6:,.3g} MB)"
    named = [replace(one, label=label) if one is edge else one for one in series]
    return replace(panel, series=_with_points(named), range=(low - room, top + room))


def _with_points(series: Sequence[Series]) -> tuple[Series, ...]:
    return tuple(one for one in series if one.x.size)


_MAKERS: Mapping[str, Callable[[Graphed], Panel]] = {
    "stevens": _stevens,
    "window": _window,
    "rtt": _rtt,
    "delay": _delay,
}
#: Names of panels.
PANELS = tuple(_MAKERS)
