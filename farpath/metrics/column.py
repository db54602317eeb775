"""Columns: each quantity of a run, a flow, a link or a setting, with its key and its heading.

A quantity is defined once, here; tables, files, pages and data frames are made from its column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from farpath.metrics.flow_summary import FlowSummary
from farpath.metrics.link import LinkSummary
from farpath.metrics.run import Summary
from farpath.metrics.short_flow import SizeClass

Subject = TypeVar("Subject")
Whole = TypeVar("Whole")

#: A value of a table; None is one that was not measured or published.
Value = str | float | int | None
#: Stands for a value that there is not.
NOTHING = "-"


def number(value: float | None, decimals: int) -> str:
    """Format a number; a dash for None, NaN and infinity."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:.{decimals}f}"


def count(value: float | None) -> str:
    """Format a number of packets, flows or bytes with commas; a dash for None."""
    return NOTHING if value is None else f"{value:,.0f}"


@dataclass(frozen=True)
class Shown:
    """A value of a table with the text that people read in its place."""

    value: Value
    text: str


@dataclass(frozen=True)
class Column(Generic[Subject]):
    """A quantity of a subject: its key with its unit in files, and its heading for people.

    ``of``: takes the value from the subject; it is in the unit of the key. ``decimals``: of the
    number for people. ``words``: the quantity as an axis of a figure or a row of a comparison has
    it. ``less_is_better``: whether the best run has the least. ``shown``: makes the text for
    people, where it is more than the number; a text is shown as it is. ``for_people``: whether
    tables for people have it; a column without a key is for people alone. ``counts``: whether its
    values are whole numbers of packets, flows or bytes, which people read with commas.
    """

    key: str
    heading: str
    of: Callable[[Subject], Value]
    decimals: int = 0
    words: str = ""
    less_is_better: bool = False
    shown: Callable[[Subject], str] | None = None
    for_people: bool = True
    counts: bool = False

    def text(self, subject: Subject) -> str:
        """Return the value of a subject as people read it."""
        return self.cell(subject).text

    def cell(self, subject: Subject) -> Shown:
        """Return the value of a subject with its text."""
        value = self.of(subject)
        if self.shown is not None:
            return Shown(value, self.shown(subject))
        if isinstance(value, str):
            return Shown(value, value)
        return Shown(value, count(value) if self.counts else number(value, self.decimals))

    @property
    def hidden(self) -> Column[Subject]:
        """The same column for programs alone."""
        return replace(self, for_people=False)

    def seen_from(self, part: Callable[[Whole], Subject | None]) -> Column[Whole]:
        """Return the same column of subjects that have this column's subject as a part.

        ``part``: returns it, or None if a subject has none, and then the value is None, as it is
        in place of NaN.
        """

        def of(whole: Whole) -> Value:
            subject = part(whole)
            value = None if subject is None else self.of(subject)
            return None if isinstance(value, float) and math.isnan(value) else value

        def shown(whole: Whole) -> str:
            subject = part(whole)
            return NOTHING if subject is None else self.text(subject)

        return Column(
            key=self.key,
            heading=self.heading,
            of=of,
            decimals=self.decimals,
            words=self.words,
            less_is_better=self.less_is_better,
            shown=None if self.shown is None else shown,
            for_people=self.for_people,
            counts=self.counts,
        )

    def number_of(self, subject: Subject) -> float:
        """Return the value of a subject as a number; NaN where there is none."""
        value = self.of(subject)
        return value if isinstance(value, int | float) else math.nan


def given(key: str, heading: str = "", decimals: int = 0) -> Column[Value]:
    """Return a column whose values a table is given; without a heading for programs alone."""
    return Column(key, heading, lambda value: value, decimals, for_people=bool(heading))


def in_mbps(value_bps: float | None) -> float | None:
    """Return a rate in Mbit/s; None for None."""
    return None if value_bps is None else value_bps / 1e6


def _per_cent(part: float | None, decimals: int = 1) -> str:
    return number(None if part is None else 100 * part, decimals)


def _by_key(*columns: Column[Subject]) -> dict[str, Column[Subject]]:
    return {column.key: column for column in columns}


#: The quantities of a whole run, by key.
RUN = _by_key(
    Column[Summary](
        "throughput_mbps", "Mbit/s", lambda run: in_mbps(run.mean_bps), 2, "throughput (Mbit/s)"
    ),
    Column[Summary]("sent_mbps", "sent", lambda run: in_mbps(run.sent_mean_bps), 1),
    Column[Summary]("std_mbps", "s Mbit/s", lambda run: in_mbps(run.std_bps), 1),
    Column[Summary](
        "utilisation", "of rate", lambda run: run.utilisation, 3, "throughput over rate"
    ),
    Column[Summary](
        "cov", "CoV", lambda run: run.stability, 2, "coefficient of variation of throughput",
        less_is_better=True,
    ),
    Column[Summary]("sent_cov", "S sent", lambda run: run.sent_stability, 2),
    Column[Summary](
        "fairness_min", "F min", lambda run: run.fairness_min, 2, "Jain's fairness index F"
    ),
    Column[Summary]("fairness_max", "F max", lambda run: run.fairness_max, 2),
    Column[Summary](
        "rtt_p99_ms", "RTT p99 ms", lambda run: run.rtt_p99_ms, 1,
        "99th percentile of ping RTTs (ms)", less_is_better=True,
    ),
    Column[Summary]("rtt_std_ms", "SD(RTT) ms", lambda run: run.rtt_std_ms, 1),
    Column[Summary](
        "retransmits", "retransmits", lambda run: run.retransmits, 0, "retransmits (packets)",
        less_is_better=True,
    ),
    Column[Summary](
        "queue_drops", "drops", lambda run: run.queue_drops, 0,
        "drops at the bottleneck (packets)", less_is_better=True,
    ),
    Column[Summary]("cpu_percent", "CPU %", lambda run: run.cpu_percent, 1),
    Column[Summary]("mhz_per_mbps", "MHz / Mbps", lambda run: run.mhz_per_mbps, 2),
)  # fmt: skip

#: Those that sweeps and comparisons show.
RUN_RESULTS = tuple(
    RUN[key]
    for key in (
        "throughput_mbps", "utilisation", "cov", "fairness_min", "rtt_p99_ms", "retransmits",
        "queue_drops",
    )
)  # fmt: skip

#: The quantities of a flow, by key.
FLOW = _by_key(
    Column[FlowSummary]("flow", "flow", lambda flow: flow.flow),
    Column[FlowSummary]("stack", "stack", lambda flow: flow.stack),
    Column[FlowSummary](
        "start_s",
        "sends, s",
        lambda flow: flow.start_s,
        shown=lambda flow: f"{flow.start_s:g}-{flow.stop_s:g}",
    ),
    Column[FlowSummary]("stop_s", "", lambda flow: flow.stop_s, for_people=False),
    Column[FlowSummary]("completion_s", "done in s", lambda flow: flow.completion_s, 3),
    Column[FlowSummary](
        "throughput_mbps",
        "Mbit/s",
        lambda flow: in_mbps(flow.throughput_bps),
        2,
        "throughput of {} (Mbit/s)",
    ),
    Column[FlowSummary](
        "share", "share", lambda flow: flow.share, 3, "share of {} of all flows' bits"
    ),
    Column[FlowSummary]("retransmits", "retransmits", lambda flow: flow.retransmits, counts=True),
    Column[FlowSummary]("resent", "resent", lambda flow: flow.resent, counts=True),
    Column[FlowSummary]("drops", "drops", lambda flow: flow.drops, counts=True),
    Column[FlowSummary]("lost", "lost", lambda flow: flow.lost, counts=True),
    Column[FlowSummary]("spurious", "spurious", lambda flow: flow.spurious, counts=True),
    Column[FlowSummary](
        "smoothed_rtt_median_ms", "RTT median ms", lambda flow: flow.smoothed_rtt_median_ms, 1
    ),
    Column[FlowSummary](
        "smoothed_rtt_p99_ms", "RTT p99 ms", lambda flow: flow.smoothed_rtt_p99_ms, 1
    ),
)

#: The quantities of a link's queue, by key.
LINK = _by_key(
    Column[LinkSummary]("link", "link", lambda link: link.link),
    Column[LinkSummary]("rate_bps", "Mbit/s", lambda link: link.rate_bps,
                        shown=lambda link: f"{link.rate_bps / 1e6:g}"),
    Column[LinkSummary]("frame_utilisation", "used %", lambda link: link.frame_utilisation,
                        shown=lambda link: _per_cent(link.frame_utilisation)),
    Column[LinkSummary](
        "queueing_mean_ms", "queueing delay mean ms", lambda link: link.queueing_mean_ms, 1
    ),
    Column[LinkSummary]("queueing_p99_ms", "p99 ms", lambda link: link.queueing_p99_ms, 1),
    Column[LinkSummary]("queue_max_bytes", "longest queue kB", lambda link: link.queue_max_bytes,
                        shown=lambda link: count(link.queue_max_bytes / 1e3)),
    Column[LinkSummary]("drops", "drops", lambda link: link.drops, counts=True),
    Column[LinkSummary]("marks", "marks", lambda link: link.marks, counts=True),
)  # fmt: skip

#: The quantities of the short flows of one class of sizes, by key.
SHORT_FLOW = _by_key(
    Column[SizeClass]("size_class", "short flows of", lambda one: one.title),
    Column[SizeClass]("flows", "flows", lambda one: one.flows, counts=True),
    Column[SizeClass]("finished", "ended", lambda one: one.finished, counts=True),
    Column[SizeClass]("median_ms", "median ms", lambda one: one.median_ms, 1),
    Column[SizeClass]("p95_ms", "p95 ms", lambda one: one.p95_ms, 1),
    Column[SizeClass]("p99_ms", "p99 ms", lambda one: one.p99_ms, 1),
)
