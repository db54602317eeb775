"""The catalogue of columns: each quantity of a run, a flow, a link or short flows, defined once."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.base.column import Column, Subject, count, number
from farpath.metrics.change_responses import Answer
from farpath.metrics.flow_summary import (
    FlowSummary,
    median_ms,
    p99_ms,
    smoothed_rtts_ms,
    spurious_of,
)
from farpath.metrics.link import LinkSummary
from farpath.metrics.run import Summary
from farpath.metrics.short_flow import SizeClass
from farpath.record.record import Record


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
        "rtt_p99_ms", "ping p99 ms", lambda run: run.rtt_p99_ms, 1,
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
        "throughput_mbps", "utilisation", "cov", "fairness_min", "retransmits", "queue_drops",
        "rtt_p99_ms",
    )
)  # fmt: skip

#: The RTTs that a run's flows themselves had, by key: of all flows together.
FLOWS_RTT = _by_key(
    Column[Record](
        "smoothed_rtt_median_ms", "flow RTT median ms",
        lambda record: median_ms(smoothed_rtts_ms(record)), 1,
        "median of the flows' smoothed RTTs (ms)", less_is_better=True,
    ),
    Column[Record](
        "smoothed_rtt_p99_ms", "flow RTT p99 ms",
        lambda record: p99_ms(smoothed_rtts_ms(record)), 1,
        "99th percentile of the flows' smoothed RTTs (ms)", less_is_better=True,
    ),
)  # fmt: skip

#: Retransmissions of packets that had arrived, of all flows of a run.
SPURIOUS = Column[Iterable[FlowSummary]](
    "spurious", "spurious", spurious_of, 0, "spurious retransmissions (packets)",
    less_is_better=True,
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
        "smoothed_rtt_median_ms", "RTT median ms", lambda flow: flow.smoothed_rtt_median_ms, 1,
        "median of the smoothed RTT of {} (ms)", less_is_better=True,
    ),
    Column[FlowSummary](
        "smoothed_rtt_p99_ms", "RTT p99 ms", lambda flow: flow.smoothed_rtt_p99_ms, 1,
        "99th percentile of the smoothed RTT of {} (ms)", less_is_better=True,
    ),
    Column[FlowSummary](
        "rate_cov", "CoV", lambda flow: flow.rate_cov, 2,
        "coefficient of variation of the throughput of {}", less_is_better=True,
    ),
    Column[FlowSummary](
        "largest_fall", "largest fall", lambda flow: flow.largest_fall, 2,
        "largest fall of the throughput of {} from a second to the next", less_is_better=True,
    ),
)  # fmt: skip

#: The quantities of the flows' answer to a change of the rate or an outage, by key.
ANSWER = _by_key(
    Column[Answer]("at_s", "at s", lambda one: one.at_s, shown=lambda one: f"{one.at_s:g}"),
    Column[Answer](
        "change", "change", lambda one: _change(one),
    ),
    Column[Answer]("before_bps", "", lambda one: one.before_bps, for_people=False),
    Column[Answer]("after_bps", "", lambda one: one.after_bps, for_people=False),
    Column[Answer]("outage_s", "", lambda one: one.outage_s, for_people=False),
    Column[Answer]("answered_s", "answered in s", lambda one: one.answered_s, 2),
    Column[Answer]("stabilised_rtts", "stable in RTTs", lambda one: one.stabilised_rtts, 0),
    Column[Answer]("cost", "cost", lambda one: one.cost, 2),
    Column[Answer]("drops", "drops", lambda one: one.drops, counts=True),
    Column[Answer]("recovered_s", "recovered in s", lambda one: one.recovered_s, 1),
)  # fmt: skip


def _change(one: Answer) -> str:
    if one.outage_s:
        return f"outage of {one.outage_s:g} s ends"
    return f"{one.before_bps / 1e6:g} to {one.after_bps / 1e6:g} Mbit/s"


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
