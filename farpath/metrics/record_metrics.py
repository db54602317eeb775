"""All metrics of a record as plain values."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from farpath.mechanisms.disk.mechanism import disk_counts
from farpath.metrics.change_responses import answers_of
from farpath.metrics.flow_summary import flows_of
from farpath.metrics.link import busiest, has_several_queues, link_summaries, summarise_record
from farpath.metrics.rtt import ping_figures
from farpath.metrics.short_flow import short_flows_of

if TYPE_CHECKING:
    from farpath.record.record import Record


def metrics_of(record: Record) -> dict[str, Any]:
    """Return all metrics of a run as plain values: its summary, and ``flows``, each flow's.

    ``links``: what the queue of each link did, of runs with several queues. ``answers``: to changes
    of the rate and outages, if there are any.
    """
    pings, queue, short = ping_figures(record), busiest(record), short_flows_of(record)
    disks = disk_counts(record)
    answers = [dataclasses.asdict(each) for each in answers_of(record)]
    links = link_summaries(record) if has_several_queues(record) else ()
    return {
        **summarise_record(record).as_dict(),
        "rtt_mean_ms": pings.get("mean"),
        "rtt_median_ms": pings.get("median"),
        "queueing_mean_ms": queue.wait_mean_ms,
        "queueing_p99_ms": queue.wait_p99_ms,
        "flows": [flow.as_dict() for flow in flows_of(record)],
        **({"links": [link.as_dict() for link in links]} if has_several_queues(record) else {}),
        **({"short_flows": short.as_dict()} if short else {}),
        **({"answers": answers} if answers else {}),
        **({"disks": disks} if disks else {}),
    }
