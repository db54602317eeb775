"""The tables of any run: the whole run, each flow, and each region.

A run for which the paper has rows also gets the paper's tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from farpath.analysis.published import published_for
from farpath.base.sizes import size_text
from farpath.metrics.flow_summary import FlowSummary, flows_of
from farpath.metrics.link import busiest, has_several_queues, link_summaries, summarise_record
from farpath.metrics.short_flow import summarise_short_flows
from farpath.report.tables.regions import (
    NOTHING,
    TextTable,
    cpu_note,
    number,
    run_table_1,
    run_table_2,
)

if TYPE_CHECKING:
    from farpath.metrics.run import Array, Summary
    from farpath.metrics.short_flow import ShortFlowSummary
    from farpath.record.record import Record
    from farpath.spec.plan import Plan

#: The names of the metrics that the paper calls S and F.
STABILITY, FAIRNESS = "coefficient of variation (S)", "Jain's fairness index (F)"
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


def results(record: Record) -> tuple[TextTable, ...]:
    """Return a run's own tables."""
    plan = record.plan
    summary = summarise_record(record)
    return (
        flows_table(flows_of(record), plan.transfer_bytes),
        whole_run_table(summary, record),
        *((links_table(record),) if has_several_queues(record) else ()),
        *hops_tables(record),
        *((short_flows_table(short),) if (short := _short_flows(record)) else ()),
        *([disks_table(record)] if record.disks else []),
        *([regions_table(summary, plan)] if len(summary.regions) > 1 else []),
    )


def overview(record: Record) -> tuple[TextTable, ...]:
    """Return all tables of a run: its own, and those of the paper if they have rows for it."""
    tables = results(record)
    if published := published_for(record.plan):
        summary = summarise_record(record)
        return (*tables, run_table_1(summary, published), run_table_2(summary, published))
    return tables


def metrics_of(record: Record) -> dict[str, Any]:
    """Return all metrics of a run as plain values: its summary, and ``flows``, each flow's.

    ``links``: what the queue of each link did, of runs with several queues.
    """
    summary = summarise_record(record).as_dict()
    answered = _answered_ms(record)
    mean_ms, median_ms = (
        (float(answered.mean()), float(np.median(answered))) if answered.size else (None, None)
    )
    waits_ms = busiest(record).waits_ms
    flows = [flow.as_dict() for flow in flows_of(record)]
    short = _short_flows(record)
    return {
        **summary,
        "rtt_mean_ms": mean_ms,
        "rtt_median_ms": median_ms,
        "queueing_mean_ms": float(waits_ms.mean()) if waits_ms.size else None,
        "queueing_p99_ms": float(np.percentile(waits_ms, 99)) if waits_ms.size else None,
        "flows": flows,
        **({"links": _links(record)} if has_several_queues(record) else {}),
        **({"short_flows": short.as_dict()} if short else {}),
        **({"disks": record.disks} if record.disks else {}),
    }


def _short_flows(record: Record) -> ShortFlowSummary | None:
    frame = record.short_flows
    return None if frame is None else summarise_short_flows(frame, record.plan)


def _answered_ms(record: Record) -> Array:
    """Return the RTTs in ms of the pings that were answered."""
    rtt_ms = record.samples.ping["rtt_ms"].to_numpy(dtype=np.float64)
    answered: Array = rtt_ms[~np.isnan(rtt_ms)]
    return answered


def whole_run_table(summary: Summary, record: Record) -> TextTable:
    """Return the table of the whole run, with one column of values."""
    notes = [_RUN_NOTE]
    if summary.queue_link and record.queues is not None:
        notes.append(_BUSIEST_NOTE.format(link=summary.queue_link))
    if summary.cpu_percent is not None:
        notes.append(cpu_note(summary))
    rows = (
        *_throughput_rows(summary, record.plan),
        *_rtt_rows(record),
        *_queue_rows(record, summary.queue_link),
        *_loss_rows(summary, record),
    )
    return TextTable(
        "Whole run", ("all flows", "measured"), (*rows, *_cpu_rows(summary)), " ".join(notes)
    )


def _throughput_rows(summary: Summary, plan: Plan) -> list[tuple[str, str]]:
    rows = [("throughput", f"{number(summary.mean_bps / 1e6, 1)} Mbit/s")]
    if summary.queue_link is None:
        utilisation = number(100 * summary.mean_bps / summary.rate_bps, 1)
        mean = ", on average" if plan.path.rate_changes or plan.path.rate_trace else ""
        rows.append((f"payload of the bottleneck's rate{mean}", f"{utilisation} %"))
    rows.append(("standard deviation", f"{number(summary.std_bps / 1e6, 1)} Mbit/s"))
    rows.append((STABILITY, number(summary.stability, 2)))
    low, high = number(summary.fairness_min, 2), number(summary.fairness_max, 2)
    if low != NOTHING:
        rows.append((FAIRNESS, low if low == high else f"{low} to {high}"))
    return rows


def _rtt_rows(record: Record) -> list[tuple[str, str]]:
    answered, sent = _answered_ms(record), len(record.samples.ping)
    rows = []
    if answered.size:
        figures = {
            "mean": answered.mean(),
            "median": np.median(answered),
            "99th percentile": np.percentile(answered, 99),
            "largest": answered.max(),
        }
        rows = [(f"ping RTT, {name}", f"{value:.1f} ms") for name, value in figures.items()]
    if lost := sent - answered.size:
        rows.append(("pings lost", f"{lost:,} of {sent:,}"))
    return rows


def _queue_rows(record: Record, link: str | None) -> list[tuple[str, str]]:
    waits_ms = busiest(record).waits_ms
    if not waits_ms.size:
        return []
    figures = {"mean": waits_ms.mean(), "99th percentile": np.percentile(waits_ms, 99)}
    delay = f"queueing delay at {link}" if link else "queueing delay"
    return [(f"{delay}, {name}", f"{value:.1f} ms") for name, value in figures.items()]


def _links(record: Record) -> list[dict[str, Any]]:
    return [link.as_dict() for link in link_summaries(record)]


def links_table(record: Record) -> TextTable:
    """Return a row for each link that is a bottleneck or queued."""
    links = link_summaries(record)
    marking = any(link.marks for link in links)
    columns = {
        "link": [link.link for link in links],
        "Mbit/s": [f"{link.rate_bps / 1e6:g}" for link in links],
        "used %": [_percent(link.utilisation) for link in links],
        "queueing delay mean ms": [number(link.queueing_mean_ms, 1) for link in links],
        "p99 ms": [number(link.queueing_p99_ms, 1) for link in links],
        "longest queue kB": [f"{link.queue_max_bytes / 1e3:,.0f}" for link in links],
        "drops": [f"{link.drops:,}" for link in links],
        **({"marks": [f"{link.marks:,}" for link in links]} if marking else {}),
    }
    note = _LINKS_NOTE if record.queues is not None else f"{_LINKS_NOTE} {_OLD_LINKS_NOTE}"
    return TextTable("Links", tuple(columns), tuple(zip(*columns.values(), strict=True)), note)


def _percent(fraction: float | None) -> str:
    return number(None if fraction is None else 100 * fraction, 1)


def _loss_rows(summary: Summary, record: Record) -> list[tuple[str, str]]:
    flows = flows_of(record)
    tcp = [flow for flow in flows if flow.resent is None]
    resent = sum(flow.resent or 0 for flow in flows)
    unknown = any(flow.retransmits is None for flow in tcp)
    spurious = [flow.spurious for flow in tcp]
    wasted = sum(count or 0 for count in spurious)
    marks = summary.queue_marks
    location = summary.queue_link or "the bottleneck"
    longest = f"longest queue at {location}" if summary.queue_link else "longest queue"
    return [
        *(
            [("retransmits", NOTHING if unknown else f"{summary.retransmits - resent:,} packets")]
            if tcp
            else []
        ),
        *([("spurious ones", f"{wasted:,} packets")] if wasted and None not in spurious else []),
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


def flows_table(flows: tuple[FlowSummary, ...], transfer_bytes: int = 0) -> TextTable:
    """Return a row for each flow; their times are shown only if they differ.

    ``transfer_bytes``: what each was to send; a completion time is shown only then. Drops are
    shown where they were counted, and losses where there are any.
    """
    times = [f"{flow.start_s:g}-{flow.stop_s:g}" for flow in flows]
    counted = any(flow.drops is not None for flow in flows)
    losing = any(flow.lost for flow in flows)
    wasted = any(flow.spurious for flow in flows)
    resending = any(flow.resent is not None for flow in flows)
    columns = {
        "flow": [flow.flow for flow in flows],
        "stack": [flow.stack for flow in flows],
        **({"sends, s": times} if len(set(times)) > 1 else {}),
        **({"done in s": [number(f.completion_s, 3) for f in flows]} if transfer_bytes else {}),
        "Mbit/s": [number(flow.throughput_bps / 1e6, 1) for flow in flows],
        "share": [NOTHING if flow.share is None else f"{100 * flow.share:.1f} %" for flow in flows],
        "retransmits": [_count(flow.retransmits) for flow in flows],
        **({"resent": [_count(flow.resent) for flow in flows]} if resending else {}),
        **({"drops": [_count(flow.drops) for flow in flows]} if counted else {}),
        **({"lost": [_count(flow.lost) for flow in flows]} if losing else {}),
        **({"spurious": [_count(flow.spurious) for flow in flows]} if wasted else {}),
        "RTT median ms": [number(flow.rtt_median_ms, 1) for flow in flows],
        "RTT p99 ms": [number(flow.rtt_p99_ms, 1) for flow in flows],
    }
    notes = (
        *((_transfer_note(transfer_bytes),) if transfer_bytes else ()),
        _FLOWS_NOTE,
        *((_DROPS_NOTE,) if counted else ()),
        *((_LOST_NOTE,) if losing else ()),
        *((_SPURIOUS_NOTE,) if wasted else ()),
        *((_RESENT_NOTE,) if resending else ()),
    )
    rows = tuple(zip(*columns.values(), strict=True))
    return TextTable("Each flow", tuple(columns), rows, " ".join(notes))


def _count(packets: int | None) -> str:
    return NOTHING if packets is None else f"{packets:,}"


def _transfer_note(transfer_bytes: int) -> str:
    return (
        f"Done in: from the first of a flow's {transfer_bytes:,} bytes to the acknowledgement of "
        "the last, and its Mbit/s are those of that time; a dash: the run was over before."
    )


def hops_tables(record: Record) -> tuple[TextTable, ...]:
    """Return the table of a path's hops, as traceroute found them; none without routers."""
    hops = record.data["readback"].get("hops")
    if not hops:
        return ()
    rows = tuple(
        (str(number), hop["name"], hop["address"] or NOTHING, _probes_text(hop["rtts_ms"]))
        for number, hop in enumerate(hops, start=1)
    )
    return (TextTable("Hops", ("hop", "name", "address", "RTT of probes, ms"), rows, _HOPS_NOTE),)


def _probes_text(rtts_ms: Iterable[float]) -> str:
    return ", ".join(f"{rtt_ms:.3f}" for rtt_ms in rtts_ms) or NOTHING


def short_flows_table(short: ShortFlowSummary) -> TextTable:
    """Return a row for each class of sizes of a run's short flows; the load is in the note."""
    header = ("short flows of", "flows", "ended", "median ms", "p95 ms", "p99 ms")
    rows = tuple(
        (
            one.title, f"{one.flows:,}", f"{one.finished:,}", number(one.median_ms, 1),
            number(one.p95_ms, 1), number(one.p99_ms, 1),
        )
        for one in short.classes
    )  # fmt: skip
    load = (
        f"{short.flows:,} flows asked for {short.offered_bps / 1e6:.2f} Mbit/s of payload and got "
        f"{short.carried_bps / 1e6:.2f} Mbit/s; {short.retransmits:,} segments were sent again."
    )
    title = "Short flows, completion times by size"
    return TextTable(title, header, rows, f"{load} {_SHORT_FLOWS_NOTE}")


def disks_table(record: Record) -> TextTable:
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
        for counts in [record.disks[host]]
    )  # fmt: skip
    return TextTable("Disks", header, rows, _DISKS_NOTE)


def regions_table(summary: Summary, plan: Plan) -> TextTable:
    """Return a row for each region."""
    header = ("region", "s", "flows", "Mbit/s", "S", "F", "RTT max ms")
    rows = tuple(
        (
            f"{region.number}", f"{span.start_s:g} to {span.stop_s:g}", f"{len(region.flows)}",
            number(region.mean_bps / 1e6, 1), number(region.stability, 2),
            number(region.fairness, 2) if len(region.flows) > 1 else NOTHING,
            number(region.rtt_max_ms, 1),
        )
        for region, span in zip(summary.regions, plan.schedule.regions(), strict=True)
    )  # fmt: skip
    return TextTable("Each region, in which the same flows send", header, rows)
