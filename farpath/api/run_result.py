"""The results of one run, read from its record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.mechanisms.registry import panels_of
from farpath.metrics.catalogue import FLOW, LINK
from farpath.metrics.flow_summary import flows_of
from farpath.metrics.link import link_summaries
from farpath.metrics.one_draw import one_draw_sentences
from farpath.metrics.record_metrics import metrics_of
from farpath.record.record import Record
from farpath.report.figures.run_over_time import draw, title
from farpath.report.figures.save import for_notebook
from farpath.report.html.run_page import FIGURE_FILE, PAGE_FILE
from farpath.report.html.run_summary import render_summary
from farpath.report.table import Table
from farpath.spec.plan import Plan

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class RunResult:
    """The results of one run.

    ``record``: its record. ``cached``: whether it existed already. ``wall_s``: the real seconds
    that the run took, 0 if it was not made now. Tables are pandas' data frames; times are virtual
    seconds from the schedule's start.
    """

    record: Record
    cached: bool = True
    wall_s: float = 0.0

    @property
    def path(self) -> FilePath:
        """The directory of the record."""
        return self.record.directory

    @property
    def page(self) -> FilePath:
        """The interactive page of the run, a file that works offline."""
        return self.path / PAGE_FILE

    @property
    def plan(self) -> Plan:
        """The plan: path, schedule, stacks, settings, seed."""
        return self.record.plan

    @property
    def fingerprint(self) -> str:
        """The SHA-256 over all samples."""
        return self.record.fingerprint

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each thing about the run that a reader has to know."""
        return (*self.record.data["warnings"], *one_draw_sentences(self.plan))

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All metrics as plain values: those of ``farpath run --json``."""
        return metrics_of(self.record)

    @cached_property
    def flows(self) -> pd.DataFrame:
        """A row for each flow.

        Columns: ``flow``, ``stack``, ``start_s``, ``stop_s``, ``completion_s`` (of a flow of
        ``bytes``, over which ``throughput_mbps`` is taken then), ``throughput_mbps`` (mean from
        start to stop), ``share`` (fraction of all flows' bits), ``retransmits`` (segments),
        ``resent`` (packets that UDT or QUIC sent again, which are no ``retransmits``), ``drops``
        (packets towards the receiver that the queues of bottlenecks dropped), ``lost`` (packets
        that random loss and droppers took), ``spurious`` (retransmissions beyond these),
        ``smoothed_rtt_median_ms``, ``smoothed_rtt_p99_ms`` (of the sender), ``rate_cov``,
        ``largest_fall`` (from a second to the next, after a first quarter). Unknown values are
        missing.
        """
        return Table.of("flows", "Each flow", tuple(FLOW.values()), flows_of(self.record)).frame

    @cached_property
    def samples(self) -> pd.DataFrame:
        """A row for each flow and sampling interval, in long form.

        Columns: ``flow``, ``stack``, ``t_s`` (end of the interval), ``interval_s``,
        ``throughput_mbps`` (received), ``sent_mbps``, ``retransmits`` (in the interval),
        ``cwnd_bytes``, ``snd_wnd_bytes``, ``rtt_ms`` (smoothed, of the sender; missing if
        unknown).
        """
        flows = self.record.samples.flows
        stacks = {flow.name: flow.stack for flow in self.plan.schedule.all_flows}
        frame = _in_mbps(flows, throughput_bps="throughput_mbps", sent_bps="sent_mbps")
        frame.insert(1, "stack", frame["flow"].map(stacks))
        rtt_us = frame.pop("rtt_us")
        frame["rtt_ms"] = rtt_us.where(rtt_us > 0) / 1e3
        return frame

    @property
    def queue(self) -> pd.DataFrame:
        """The bottleneck at ``t_s``: ``backlog_bytes``, ``backlog_packets``, ``drops`` so far.

        With several bottlenecks it is the one of the first flow; ``queues`` has all.
        """
        return self.record.samples.queue

    @property
    def queues(self) -> pd.DataFrame | None:
        """The queue of each ``link`` at ``t_s``, with ``queue``'s columns, ``bytes`` and ``marks``.

        ``bytes``: that have left it so far. None of a run with one queue.
        """
        return self.record.queues

    @cached_property
    def links(self) -> pd.DataFrame:
        """A row for each bottleneck, and for each other link on which packets waited.

        Columns: ``link`` (its nodes in the direction of the packets), ``rate_bps``,
        ``frame_utilisation`` (whole frames over the rate), ``queueing_mean_ms``,
        ``queueing_p99_ms``, ``queue_max_bytes``, ``drops`` and ``marks`` (packets). Unknown
        values are missing.
        """
        return Table.of("links", "Links", tuple(LINK.values()), link_summaries(self.record)).frame

    @property
    def ping(self) -> pd.DataFrame:
        """When each ping was sent (``t_s``) and its ``rtt_ms``, missing if it was lost."""
        return self.record.samples.ping

    @property
    def trace(self) -> pd.DataFrame | None:
        """The state of each TCP connection every few ms; None without ``trace="10ms"``."""
        return self.record.trace

    def plot(self) -> Figure:
        """Return the figure of ping RTTs and throughputs over time: one of matplotlib's."""
        record = self.record
        drawn = draw(record.samples, self.plan, trace=record.trace, further=panels_of(record))
        return for_notebook(drawn)

    def __repr__(self) -> str:
        throughput_mbps = self.summary["mean_bps"] / 1e6
        return f"<farpath run: {title(self.plan)}, {throughput_mbps:.1f} Mbit/s, {self.path}>"

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the results of each flow and of the run, and its figure."""
        return render_summary(self.record, self.path / FIGURE_FILE)


def _in_mbps(frame: pd.DataFrame, **names: str) -> pd.DataFrame:
    """Return a table with columns in bit/s as Mbit/s, under new names."""
    return frame.assign(**{old: frame[old] / 1e6 for old in names}).rename(columns=names)
