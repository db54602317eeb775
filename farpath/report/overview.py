"""The tables of any run: the whole run, each flow, and each region.

A run for which a study has published numbers also gets the study's tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from farpath.base.column import NOTHING, number
from farpath.base.sizes import size_text
from farpath.mechanisms.disk.mechanism import disk_counts
from farpath.mechanisms.draw.mechanism import regions_of
from farpath.mechanisms.registry import mechanism_columns
from farpath.metrics.catalogue import ANSWER, FLOW, LINK, SHORT_FLOW, in_mbps
from farpath.metrics.change_responses import LOSS_RTTS, RECOVERED, STABLE_FACTOR, Answer, answers_of
from farpath.metrics.flow_summary import FlowSummary, flows_of, spurious_of
from farpath.metrics.link import busiest, has_several_queues, link_summaries, summarise_record
from farpath.metrics.rtt import ping_figures
from farpath.metrics.run import per_second
from farpath.metrics.sharing import DELTA, fair_for_good_s
from farpath.metrics.short_flow import short_flows_of
from farpath.metrics.studies import studies
from farpath.report.table import Table

if TYPE_CHECKING:
    from farpath.metrics.run import Summary
    from farpath.metrics.short_flow import ShortFlowSummary
    from farpath.record.record import Record
    from farpath.spec.plan import Plan

#: The names of the metrics that the paper calls S and F.
STABILITY, FAIRNESS = "coefficient of variation (S)", "Jain's fairness index (F)"
#: The columns of flows; one run's own tables have fewer digits of throughputs, and per cent.
_FLOW_COLUMNS = {
    **FLOW,
    "throughput_mbps": replace(FLOW["throughput_mbps"], decimals=1),
    "share": replace(FLOW["share"], shown=lambda flow: share_text(flow.share)),
}
_FLOWS_NOTE = (
    "Mbit/s: the mean while the flow sends. Share: of all bits that the flows got. RTT: the "
    "smoothed RTT of the flow's sender, in each sample."
)
_DROPS_NOTE = (
    "Drops: the flow's packets towards its receiver that the queues of bottlenecks dropped."
)
_LOST_NOTE = "Lost: those that the path's random loss and droppers took."
_SPURIOUS_NOTE = (
    "Spurious: retransmissions beyond the packets that the path took, so of packets that had "
    "arrived."
)
_RESENT_NOTE = "Resent: packets that a program with a transport of its own sent again."
_SMOOTHNESS_NOTE = (
    "CoV: standard deviation over mean of the flow's throughput second by second, without its "
    "first quarter; largest fall: the largest part of it that it lost from one second to the next "
    "(RFC 5166, 2.2.2)."
)
#: The most changes that a table for people has.
_MOST_ANSWERS = 12
_ANSWERS_NOTE = (
    "Of a fall: when no more came to the bottleneck than it carries, over an RTT and a sample at "
    f"least; when the loss rate over {LOSS_RTTS} RTTs was no more than {STABLE_FACTOR:g} of its "
    "steady value after having been above; that time's loss rate times it, 1 for all packets of an "
    "RTT (Bansal et al. 2001); drops until the next change. Of a rise or an outage: the end of the "
    f"first whole second in which all flows had {100 * RECOVERED:.0f} % of the payload that fits. "
    "A dash: not so until the next change, or of another kind. Samples bound these times; a "
    "shorter SAMPLE gives finer ones."
)
_FAIR_NOTE = (
    f"Fair after: from then on to the region's end no flow was further than {100 * DELTA:.0f} % "
    "from an equal share, smoothed over 5 s (RFC 5166, 2.3, delta-fair convergence that stays); a "
    "dash: never."
)
_HOPS_NOTE = (
    "As traceroute found them before the traffic. All routers are at the sending site, before the "
    "path's delay; a name of hop and a number is of one that no document names."
)
_SHORT_FLOWS_NOTE = (
    "Completion time: from the client's connect to the last byte, of the flows that had ended with "
    "the schedule."
)
_RUN_NOTE = (
    "Throughput is payload, the bottleneck's rate counts whole Ethernet frames: a link that is "
    "full of frames of 1514 bytes has 95.6 %. S: standard deviation over mean of the throughput of "
    "all flows, second by second; 0 is constant. A sample's interval of about one second counts in "
    "the second that holds its middle; another cut changes S by up to 0.1. F: 1 if "
    "all flows get the same, 1/n if one of n gets all. Queueing delay: the bottleneck's backlog "
    "over its rate, in each sample. Drops are those of all traffic."
)
_BUSIEST_NOTE = "Of all links {link} is the one on which packets waited longest."
_LINKS_NOTE = (
    "Each bottleneck, and each other link on which packets waited. A link is its two nodes, in the "
    "direction of its packets. Used: what left the queue, in whole frames, over the link's rate. "
    "Queueing delay: the backlog over that rate, in each sample. Drops and marks are those of all "
    "traffic."
)
_OLD_LINKS_NOTE = "This record has samples of the first flow's bottleneck only."
_DISKS_NOTE = (
    "Storage as a rate: no seeks, no file system. Cache: what is read ahead, or may wait to be "
    "written. Programs wait for their disk, all of them together; a disk waits where its "
    "read-ahead is full, or nothing is left to write."
)


def cpu_note(summary: Summary) -> str:
    """Say what the columns on CPU count."""
    if summary.cpu_percent is not None:
        return (
            "CPU: of one core, all sending programs together, system calls included; packet work "
            "in interrupts is counted where the kernel charges it."
        )
    return "CPU is free on the virtual clock." if summary.clock == "virtual" else ""


class _StudyOfRuns(Protocol):
    """The function in a study.py that shows one of its runs."""

    def run_tables(self, record: Record) -> tuple[Table, ...]:
        """Return the study's own tables of a run; none if it prints nothing of such a run."""


def share_text(share: float | None) -> str:
    """Format a share in per cent."""
    return NOTHING if share is None else f"{100 * share:.1f} %"


def results(record: Record) -> tuple[Table, ...]:
    """Return a run's own tables."""
    plan = record.plan
    summary, answers = summarise_record(record), answers_of(record)
    return (
        flows_table(flows_of(record), plan.transfer_bytes, smoothness=bool(answers)),
        whole_run_table(summary, record),
        *([answers_table(answers)] if answers else []),
        *((links_table(record),) if has_several_queues(record) else ()),
        *hops_tables(record),
        *((short_flows_table(short),) if (short := short_flows_of(record)) else ()),
        *([disks_table(record)] if disk_counts(record) else []),
        *([regions_table(summary, record)] if len(summary.regions) > 1 else []),
    )


def overview(record: Record) -> tuple[Table, ...]:
    """Return all tables of a run: its own, and those of each study that has some for it."""
    all_studies = cast("tuple[_StudyOfRuns, ...]", studies())
    of_studies = (table for study in all_studies for table in study.run_tables(record))
    return (*results(record), *of_studies)


def whole_run_table(summary: Summary, record: Record) -> Table:
    """Return the table of the whole run, with one column of values."""
    notes = [_RUN_NOTE]
    if summary.queue_link and record.queues is not None:
        notes.append(_BUSIEST_NOTE.format(link=summary.queue_link))
    if summary.cpu_percent is not None:
        notes.append(cpu_note(summary))
    rows = (
        *_throughput_rows(summary, record.plan),
        *_rtt_rows(summary, record),
        *_queue_rows(record, summary.queue_link),
        *_loss_rows(summary, record),
        *_cpu_rows(summary),
        *(
            (column.words or column.heading, column.text(record))
            for column in mechanism_columns()
            if column.of(record) is not None
        ),
    )
    return Table.of_texts("Whole run", ("all flows", "measured"), rows, " ".join(notes))


def _throughput_rows(summary: Summary, plan: Plan) -> list[tuple[str, str]]:
    rows = [("throughput", f"{number(in_mbps(summary.mean_bps), 1)} Mbit/s")]
    if summary.queue_link is None:
        used = number(100 * summary.utilisation, 1)
        mean = ", on average" if plan.path.rate_changes or plan.path.rate_trace else ""
        rows.append((f"payload of the bottleneck's rate{mean}", f"{used} %"))
    rows.append(("standard deviation", f"{number(in_mbps(summary.std_bps), 1)} Mbit/s"))
    rows.append((STABILITY, number(summary.stability, 2)))
    low, high = number(summary.fairness_min, 2), number(summary.fairness_max, 2)
    if low != NOTHING:
        rows.append((FAIRNESS, low if low == high else f"{low} to {high}"))
    return rows


def _rtt_rows(summary: Summary, record: Record) -> list[tuple[str, str]]:
    figures = ping_figures(record)
    rows = [(f"ping RTT, {name}", f"{value:.1f} ms") for name, value in figures.items()]
    if summary.pings_lost:
        rows.append(("pings lost", f"{summary.pings_lost:,} of {summary.pings:,}"))
    return rows


def _queue_rows(record: Record, link: str | None) -> list[tuple[str, str]]:
    queue = busiest(record)
    figures = {"mean": queue.wait_mean_ms, "99th percentile": queue.wait_p99_ms}
    delay = f"queueing delay at {link}" if link else "queueing delay"
    return [
        (f"{delay}, {name}", f"{value:.1f} ms")
        for name, value in figures.items()
        if value is not None
    ]


def links_table(record: Record) -> Table:
    """Return a row for each link that is a bottleneck or queued."""
    links = link_summaries(record)
    marking = any(link.marks for link in links)
    columns = [column for key, column in LINK.items() if marking or key != "marks"]
    note = _LINKS_NOTE if record.queues is not None else f"{_LINKS_NOTE} {_OLD_LINKS_NOTE}"
    return Table.of("links", "Links", columns, links, note)


def _loss_rows(summary: Summary, record: Record) -> list[tuple[str, str]]:
    flows = flows_of(record)
    tcp = [flow for flow in flows if flow.resent is None]
    resent = sum(flow.resent or 0 for flow in flows)
    unknown = any(flow.retransmits is None for flow in tcp)
    wasted = spurious_of(flows)
    marks = summary.queue_marks
    location = summary.queue_link or "the bottleneck"
    longest = f"longest queue at {location}" if summary.queue_link else "longest queue"
    return [
        *(
            [("retransmits", NOTHING if unknown else f"{summary.retransmits - resent:,} packets")]
            if tcp
            else []
        ),
        *([("spurious ones", f"{wasted:,} packets")] if wasted else []),
        *([("resent by programs", f"{resent:,} packets")] if len(tcp) < len(flows) else []),
        (f"drops at {location}", f"{summary.queue_drops:,} packets"),
        *([] if marks is None else [(f"marks at {location}", f"{marks:,} packets")]),
        (longest, f"{summary.queue_max_bytes / 1e3:,.0f} kB"),
    ]


def _cpu_rows(summary: Summary) -> list[tuple[str, str]]:
    if summary.cpu_percent is None:
        return []
    return [
        ("CPU of the sending programs", f"{number(summary.cpu_percent, 1)} %"),
        ("clock cycles", f"{number(summary.mhz_per_mbps, 2)} MHz / Mbps"),
    ]


def answers_table(answers: Sequence[Answer]) -> Table:
    """Return the table of the flows' answers to changes of the rate and outages."""
    columns = [
        column
        for key, column in ANSWER.items()
        if key not in ("answered_s", "stabilised_rtts", "cost", "drops")
        or any(each.is_fall for each in answers)
    ]
    note = _ANSWERS_NOTE
    if len(answers) > _MOST_ANSWERS:
        note = f"The first {_MOST_ANSWERS} of {len(answers):,} changes. {note}"
    shown = answers[:_MOST_ANSWERS]
    return Table.of("answers", "Answers to changes", columns, shown, note)


def flows_table(
    flows: tuple[FlowSummary, ...], transfer_bytes: int = 0, smoothness: bool = False
) -> Table:
    """Return a row for each flow; their times are shown only if they differ.

    ``transfer_bytes``: what each was to send; a completion time is shown only then. Drops are
    shown where they were counted, and losses where there are any. ``smoothness``: whether that is
    shown.
    """
    counted = any(flow.drops is not None for flow in flows)
    losing = any(flow.lost for flow in flows)
    wasted = any(flow.spurious for flow in flows)
    resending = any(flow.resent is not None for flow in flows)
    left_out = {
        "start_s": len({(flow.start_s, flow.stop_s) for flow in flows}) == 1,
        "completion_s": not transfer_bytes,
        "resent": not resending,
        "drops": not counted,
        "lost": not losing,
        "spurious": not wasted,
        "rate_cov": not smoothness,
        "largest_fall": not smoothness,
    }
    columns = [column for key, column in _FLOW_COLUMNS.items() if not left_out.get(key)]
    notes = (
        *((_transfer_note(transfer_bytes),) if transfer_bytes else ()),
        _FLOWS_NOTE,
        *((_DROPS_NOTE,) if counted else ()),
        *((_LOST_NOTE,) if losing else ()),
        *((_SPURIOUS_NOTE,) if wasted else ()),
        *((_RESENT_NOTE,) if resending else ()),
        *((_SMOOTHNESS_NOTE,) if smoothness else ()),
    )
    return Table.of("flows", "Each flow", columns, flows, " ".join(notes))


def _transfer_note(transfer_bytes: int) -> str:
    return (
        f"Done in: from the first of a flow's {transfer_bytes:,} bytes to the acknowledgement of "
        "the last, and its Mbit/s are those of that time; a dash: the run was over before."
    )


def hops_tables(record: Record) -> tuple[Table, ...]:
    """Return the table of a path's hops, as traceroute found them; none without routers."""
    hops = record.data["readback"].get("hops")
    if not hops:
        return ()
    rows = tuple(
        (str(number), hop["name"], hop["address"] or NOTHING, _probes_text(hop["rtts_ms"]))
        for number, hop in enumerate(hops, start=1)
    )
    return (
        Table.of_texts("Hops", ("hop", "name", "address", "RTT of probes, ms"), rows, _HOPS_NOTE),
    )


def _probes_text(rtts_ms: Iterable[float]) -> str:
    return ", ".join(f"{rtt_ms:.3f}" for rtt_ms in rtts_ms) or NOTHING


def short_flows_table(short: ShortFlowSummary) -> Table:
    """Return a row for each class of sizes of a run's short flows; the load is in the note."""
    load = (
        f"{short.flows:,} flows asked for {short.offered_bps / 1e6:.2f} Mbit/s of payload and got "
        f"{short.carried_bps / 1e6:.2f} Mbit/s; {short.retransmits:,} segments were sent again."
    )
    title = "Short flows, completion times by size"
    columns = list(SHORT_FLOW.values())
    return Table.of("short-flows", title, columns, short.classes, f"{load} {_SHORT_FLOWS_NOTE}")


def disks_table(record: Record) -> Table:
    """Return a row for the disk of each host."""
    header = ("disk of", "is", "MB/s", "cache", "moved MB", "programs wait", "disk waits")
    rows = tuple(
        (
            host, "written" if host in record.plan.receivers else "read",
            f"{disk.rate_bps / 8e6:g}", size_text(disk.cache_bytes),
            f"{counts['moved_bytes'] / 1e6:,.1f}", f"{counts['waited_s']:.2f} s",
            f"{counts['idle_s']:.2f} s",
        )
        for host, disk in record.plan.disks.items()
        for counts in [disk_counts(record)[host]]
    )  # fmt: skip
    return Table.of_texts("Disks", header, rows, _DISKS_NOTE)


def regions_table(summary: Summary, record: Record) -> Table:
    """Return a row for each region."""
    plan = record.plan
    throughputs_bps = per_second(record.samples, plan.schedule)
    header = ("region", "s", "flows", "Mbit/s", "S", "F", "fair after s", "RTT max ms")
    rows = tuple(
        (
            f"{region.number}", f"{span.start_s:g} to {span.stop_s:g}", f"{len(region.flows)}",
            number(in_mbps(region.mean_bps), 1), number(region.stability, 2),
            number(region.fairness, 2) if len(region.flows) > 1 else NOTHING,
            number(fair_for_good_s(throughputs_bps, span), 0),
            number(region.rtt_max_ms, 1),
        )
        for region, span in zip(summary.regions, regions_of(plan), strict=True)
    )  # fmt: skip
    return Table.of_texts("Each region, in which the same flows send", header, rows, _FAIR_NOTE)
