"""The report of a capture: its connections, and graphs and counts of one of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import Any

import pandas as pd

from farpath.base.column import Column
from farpath.base.errors import BadInputError
from farpath.base.files import safe_name
from farpath.base.units import TIMES, converted, split_quantity
from farpath.captures.analysis import MARKS
from farpath.captures.delays import (
    Merged,
    Way,
    connection_between,
    merge,
    nearer_client,
    queueing_histogram,
    summary,
)
from farpath.captures.segments import Capture, Connection, read_segments
from farpath.report.connection_graphs import PANELS, Graphed, panels
from farpath.report.figures.time_sequence import draw_connection
from farpath.report.html.capture_page import render_connection
from farpath.report.report import Report, terminal_text
from farpath.report.table import Table

ALL = "all"


@dataclass(frozen=True)
class Captures:
    """The captures of one question: of one place, or also of another on the packets' way.

    ``name``: of the record, or of the first file. ``has_one_clock``: both are of one clock, which
    is 0 at the run's start; times of other captures are from the first packet on.
    """

    name: str
    files: tuple[FilePath, ...]
    has_one_clock: bool = False


@dataclass(frozen=True)
class Question:
    """What is drawn: names of panels, a connection, a part of the time; each as it was typed."""

    graph: str = ""
    connection: str = ""
    span: str = ""

    @property
    def panels(self) -> tuple[str, ...]:
        """Names of the panels; raises BadInputError for one that there is not."""
        if self.graph == ALL:
            return PANELS
        names = tuple(name.strip() for name in self.graph.split(","))
        for name in names:
            if name not in PANELS:
                near = difflib.get_close_matches(name, [*PANELS, ALL], 1)
                meant = f"did you mean {near[0]}? " if near else ""
                raise BadInputError(
                    option="graph",
                    given=self.graph,
                    remedy=f"{meant}it must be of {', '.join(PANELS)}, or all",
                )
        return names

    def span_s(self, whole_s: tuple[float, float]) -> tuple[float, float]:
        """Return the part of the time in s; raises BadInputError for one that is none."""
        if not self.span:
            return whole_s
        begin, dash, end = self.span.partition("-")
        low = _seconds(begin) if begin else whole_s[0]
        high = _seconds(end) if end else whole_s[1]
        if not dash or low is None or high is None or low >= high:
            raise BadInputError(
                option="span",
                given=self.span,
                remedy="write two times, the lesser first, as in 2s-2.5s; either may be left out",
            )
        return low, high


def _seconds(text: str) -> float | None:
    quantity = split_quantity(text)
    return None if quantity is None else converted(*quantity, TIMES, "s")


@dataclass(frozen=True)
class Counted:
    """A connection with the time 0 of its capture's axis, for the table."""

    connection: Connection
    zero_ns: int


CONNECTION_COLUMNS: tuple[Column[Counted], ...] = (
    Column("connection", "no.", lambda one: one.connection.number),
    Column("ends", "client > server", lambda one: one.connection.name),
    Column("begin_s", "from s", lambda one: (one.connection.begin_ns - one.zero_ns) / 1e9, 3),
    Column("end_s", "to s", lambda one: (one.connection.end_ns - one.zero_ns) / 1e9, 3),
    Column("packets", "packets", lambda one: one.connection.packets, counts=True),
    Column("client_bytes", "bytes of client", lambda one: one.connection.client_bytes, counts=True),
    Column("server_bytes", "bytes of server", lambda one: one.connection.server_bytes, counts=True),
)


def capture_report(captures: Captures, question: Question) -> Report:
    """Read captures and return their connections; with a graph, picture and page of one.

    Raises BadInputError for what ``read_segments`` refuses, for a graph, a connection or a span
    that there is not, and for one-way delays of one capture.
    """
    names = question.panels if question.graph else ()
    read = tuple(read_segments(file) for file in captures.files)
    warnings = [warning for one in read for warning in one.warnings]
    first = read[0]
    if captures.has_one_clock:
        zero_ns = 0
    else:
        zero_ns = min(int(one.segments["time_ns"].min()) for one in read)
    counted = [Counted(one, zero_ns) for one in first.connections]
    listed = Table.of("connections", "Connections", CONNECTION_COLUMNS, counted)
    data: dict[str, Any] = {
        "captures": [str(file) for file in captures.files],
        "connections": listed.objects,
    }
    if not names:
        text = terminal_text([listed])
        return Report({}, _with_warnings(text, warnings), {**data, "warnings": warnings})

    connection = _chosen(first, question.connection)
    merged = _merged(read, connection, captures) if len(read) > 1 else None
    if merged is None:
        if question.graph != ALL and "delay" in names:
            raise BadInputError(
                option="graph",
                given=question.graph,
                problem="one-way delays need captures of both hosts",
                remedy="give two files, or a run with `capture=sender,receiver`",
            )
        names = tuple(name for name in names if name != "delay")
    elif not captures.has_one_clock:
        warnings += _clock_warnings(merged)
    if merged is not None and merged.has_other_sizes:
        warnings.append(
            "most packets of the two captures differ: hosts divide or join them on the way (TSO, "
            "GRO), so few can be matched, and what is called lost may have arrived"
        )
    begin_ns, end_ns = connection.begin_ns - zero_ns, connection.end_ns - zero_ns
    whole_s = (begin_ns / 1e9, max(end_ns, begin_ns + 1) / 1e9)
    graphed = Graphed(
        connection,
        first.of(connection),
        connection.client_bytes >= connection.server_bytes,
        zero_ns,
        question.span_s(whole_s),
        merged,
    )
    drawn = panels(graphed, names)
    if not any(panel.series for panel in drawn):
        raise BadInputError(
            option="span",
            given=question.span or None,
            problem=f"nothing of {graphed.name} is in it",
            remedy=f"the connection is from {whole_s[0]:.3f} s to {whole_s[1]:.3f} s",
        )
    marks = graphed.marks.loc[graphed.within(graphed.segments).index]
    counts = {name: int(marks[name].sum()) for name in MARKS}
    tables = _tables(counts, graphed.rtts, merged)
    stem = f"{safe_name(captures.name).rstrip('-')}-connection{connection.number}"
    title = f"{captures.name}: connection {connection.number}, {graphed.name}"
    page = render_connection(title, warnings, (*tables, listed), drawn, graphed.span_s)
    return Report(
        {
            f"{stem}.png": draw_connection(drawn, title, graphed.span_s),
            f"{stem}.html": page,
        },
        _with_warnings(terminal_text([listed, *tables]), warnings),
        {
            **data,
            "connection": {**asdict(connection), "ends": connection.name},
            "from_client": graphed.from_client,
            "span_s": list(graphed.span_s),
            "marks": counts,
            "rtt_ms": {
                by: _five(group["rtt_ns"] / 1e6) for by, group in graphed.rtts.groupby("by")
            },
            "one_way_delay": None
            if merged is None
            else {
                name: {**summary(way), "queueing_histogram": queueing_histogram(way)}
                for name, way in _ways(merged).items()
            },
            "warnings": warnings,
        },
    )


def _with_warnings(text: str, warnings: Sequence[str]) -> str:
    return "\n".join([text.rstrip(), *(f"warning: {warning}" for warning in warnings)])


def _chosen(capture: Capture, asked: str) -> Connection:
    """Return the connection asked for: a number, an end, or by default that with most data."""
    if not asked:
        return max(capture.connections, key=lambda one: one.client_bytes + one.server_bytes)
    if asked.isascii() and asked.isdigit() and int(asked) < len(capture.connections):
        return capture.connections[int(asked)]
    found = [one for one in capture.connections if asked in one.ends_by_name or asked == one.name]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} connections have this end" if found else "there is no such connection"
    known = found or capture.connections
    named = ", ".join(f"{one.number} ({one.name})" for one in known[:5])
    more = f" and {len(known) - 5} more" if len(known) > 5 else ""
    raise BadInputError(
        option="connection",
        given=asked,
        problem=problem,
        remedy=f"give a number or an end as address:port; there are {named}{more}",
    )


def _merged(read: Sequence[Capture], connection: Connection, captures: Captures) -> Merged:
    near, far = read
    there = connection_between(far, connection.ends)
    if there is None:
        raise BadInputError(
            problem=f"{captures.files[1]}: {connection.name} is not in it",
            remedy="give captures of one connection, or choose another with `connection`",
        )
    one, other = near.of(connection), far.of(there)
    if there.ends != connection.ends:  # without a handshake each may take another for the client
        other = other.assign(from_client=~other["from_client"])
    is_near = nearer_client(near, far, connection.ends)
    client, server = (one, other) if is_near else (other, one)
    has_handshakes = all(
        each.client_shift is not None and each.server_shift is not None
        for each in (connection, there)
    )
    if not has_handshakes:  # numbers are relative to what each saw first
        raise BadInputError(
            problem=f"{connection.name}: one of the captures has no handshake, so that numbers in "
            "them cannot be matched",
            remedy="capture from the connection's start on",
        )
    return merge(client, server)


def _clock_warnings(merged: Merged) -> list[str]:
    if merged.is_of_two_clocks:
        return [
            "packets arrive before they leave: the clocks of the two captures differ, and one-way "
            "delays are wrong by that; the sum of both directions is right"
        ]
    return [
        "one-way delays hold as far as the clocks of the two captures agree; the sum of both "
        "directions does not depend on that"
    ]


def _ways(merged: Merged) -> Mapping[str, Way]:
    return {"to_server": merged.to_server, "to_client": merged.to_client}


def _five(values: pd.Series[float]) -> dict[str, float | int]:
    """Return number, least, median, 99th percentile and largest."""
    return {
        "samples": len(values),
        "least": float(values.min()),
        "median": float(values.median()),
        "p99": float(values.quantile(0.99)),
        "largest": float(values.max()),
    }


def _tables(
    counts: Mapping[str, int], rtts: pd.DataFrame, merged: Merged | None
) -> tuple[Table, ...]:
    """Return the tables of one connection: marks, RTTs, and one-way delays."""
    tables = [
        Table.of_texts(
            "Marks of segments, as Wireshark's tcp.analysis",
            ("mark", "segments", "meaning"),
            [
                (name.replace("_", " "), f"{count:,}", MARKS[name])
                for name, count in counts.items()
                if count
            ]
            or [("none", "0", "no segment is out of the ordinary")],
        )
    ]
    if len(rtts):
        tables.append(
            Table.of_texts(
                "RTT in ms, from where the capture was made",
                ("by", "samples", "least", "median", "p99", "largest"),
                [
                    (str(by), *_texts(_five(group["rtt_ns"] / 1e6)))
                    for by, group in rtts.groupby("by")
                ],
            )
        )
    if merged is not None:
        tables.append(
            Table.of_texts(
                "One-way delay in ms of packets that are in both captures",
                ("direction", "packets", "lost", "least", "median", "p99", "p99.9", "largest"),
                [
                    (name.replace("_", " the "), *_texts(summary(way)))
                    for name, way in _ways(merged).items()
                ],
            )
        )
    return tuple(tables)


def _texts(values: Mapping[str, float | int | None]) -> tuple[str, ...]:
    return tuple(
        "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
        for value in values.values()
    )
