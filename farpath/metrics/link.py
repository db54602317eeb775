"""The queues of a run's links: drops, backlog and utilisation of each, and which queued most."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from farpath.metrics.run import Summary, summarise
from farpath.record.queue_table import links_of
from farpath.record.record import columns_of
from farpath.spec.changes import Timeline
from farpath.spec.qdiscs import Bottleneck, DeliveryBottleneck
from topologies import lay_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from farpath.metrics.run import Array
    from farpath.record.record import Record
    from farpath.spec.qdiscs import Qdisc


#: The name of a run's only queue.
ONLY = "bottleneck"


@dataclass(frozen=True, eq=False)
class LinkQueue:
    """The queue of a link: the link's name, its rate over time, and the samples of its backlog.

    ``link``: its nodes in the direction of the packets, as ``s1-s2``. ``rates``: None if they come
    from a trace. ``samples``: a table like ``farpath.record.record.Samples.queue``, with the
    further column ``bytes`` where these were counted. ``is_bottleneck``: whether it is the
    narrowest link on the way of some flow.
    """

    link: str
    rates: Timeline | None
    samples: pd.DataFrame
    is_bottleneck: bool = True

    @property
    def waits_ms(self) -> Array:
        """How long a packet would have waited at each sample, in ms; empty for a rate of a trace.

        It is by the rate at that time; one that changes meanwhile makes the wait another.
        """
        if self.rates is None:
            return np.array([])
        held = np.searchsorted(self.rates.at_s, self.samples["t_s"], side="right") - 1
        rates_bps = np.array(self.rates.values)[np.maximum(held, 0)]
        waits_ms: Array = 8e3 * self.samples["backlog_bytes"].to_numpy(np.float64) / rates_bps
        return waits_ms

    @property
    def wait_mean_ms(self) -> float | None:
        """The mean of ``waits_ms``; None if there are none."""
        return float(self.waits_ms.mean()) if self.waits_ms.size else None

    @property
    def wait_p99_ms(self) -> float | None:
        """The 99th percentile of ``waits_ms``; None if there are none."""
        return float(np.percentile(self.waits_ms, 99)) if self.waits_ms.size else None


@dataclass(frozen=True)
class LinkSummary:
    """Summary of a link's queue over a whole run.

    ``rate_bps``: of the link, on average. ``frame_utilisation``: what left the queue, in whole
    frames, over that rate; None where it was not counted. ``queueing_mean_ms``,
    ``queueing_p99_ms``: mean and 99th percentile of the backlog over the rate; None for a rate of a
    trace.
    ``queue_max_bytes``: the largest sampled backlog. ``drops``: packets. ``marks``: packets that
    an active queue marked by ECN.
    """

    link: str
    rate_bps: float
    frame_utilisation: float | None
    queueing_mean_ms: float | None
    queueing_p99_ms: float | None
    queue_max_bytes: int
    drops: int
    marks: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return dataclasses.asdict(self)


def has_several_queues(record: Record) -> bool:
    """Whether a run has samples of several queues, or several bottlenecks."""
    return record.queues is not None or record.plan.bottlenecks > 1


def link_queues(record: Record) -> tuple[LinkQueue, ...]:
    """Return the queues that a record has samples of, the first flow's bottleneck first.

    A record that was made before all of several were kept has the first only. The only queue of a
    run is called ``ONLY``.
    """
    plan, table = record.plan, record.queues
    if not has_several_queues(record):
        of_path = None if plan.path.rate_trace else plan.rates
        return (LinkQueue(ONLY, of_path, record.samples.queue),)
    layout = lay_out(plan)
    links = links_of(plan)
    rates = {
        port.name: _rates(port.queue, plan.schedule.duration_s)
        for port in layout.ports
        if port.name in links
    }
    if table is None:
        port, link = next(iter(links.items()))
        return (LinkQueue(link, rates[port], record.samples.queue),)
    by_link = {str(link): rows for link, rows in table.groupby("link", sort=False)}
    columns = [*columns_of("queue", marks=plan.path.queue is not None), "bytes"]
    return tuple(
        LinkQueue(link, rates[port], by_link[link][columns], port in layout.bottlenecks)
        for port, link in links.items()
    )


def _rates(qdisc: Qdisc | None, duration_s: float) -> Timeline | None:
    """Return the rate of a queue over a schedule; None if it comes from a trace."""
    if not isinstance(qdisc, Bottleneck) or isinstance(qdisc, DeliveryBottleneck):
        return None
    at_s, values = zip((0.0, qdisc.rate_bps), *qdisc.rate_changes, strict=True)
    return Timeline(at_s, tuple(map(float, values)), duration_s)


def busiest(record: Record) -> LinkQueue:
    """Return the queue that the figures of a whole run are of.

    With one bottleneck it is that one. Of several, and of a user's network, it is the link on which
    packets waited longest on average; of equal ones the first.
    """
    queues = link_queues(record)
    if not _is_chosen(record):
        return queues[0]
    return max(queues, key=lambda queue: queue.wait_mean_ms or 0.0)


def _is_chosen(record: Record) -> bool:
    return record.plan.bottlenecks > 1 or (
        record.plan.user_network is not None and record.queues is not None
    )


def summarise_record(record: Record) -> Summary:
    """Return all metrics of a record, of queues that of the busiest link.

    Its name is among them unless it is the only bottleneck.
    """
    queue = busiest(record)
    if record.plan.bottlenecks == 1 and queue.link == link_queues(record)[0].link:
        return summarise(record.samples, record.plan, record.cpu)
    samples = dataclasses.replace(record.samples, queue=queue.samples)
    return summarise(samples, record.plan, record.cpu, queue.link)


def link_summaries(record: Record) -> tuple[LinkSummary, ...]:
    """Return a summary of each bottleneck, and of each other link on which packets waited."""
    return tuple(_summaries(record))


def _summaries(record: Record) -> Iterator[LinkSummary]:
    for queue in link_queues(record):
        samples = queue.samples
        if not len(samples):
            continue
        counted = {
            name: int(samples[name].iloc[-1] - samples[name].iloc[0]) if name in samples else 0
            for name in ("drops", "marks")
        }
        longest = int(samples["backlog_bytes"].max())
        if not queue.is_bottleneck and not longest and not counted["drops"]:
            continue
        rates = queue.rates or record.plan.rates
        yield LinkSummary(
            queue.link,
            float(rates.mean),
            _frame_utilisation(samples, float(rates.mean)),
            queue.wait_mean_ms,
            queue.wait_p99_ms,
            longest,
            counted["drops"],
            counted["marks"],
        )


def _frame_utilisation(samples: pd.DataFrame, rate_bps: float) -> float | None:
    if "bytes" not in samples:
        return None
    first, last = samples.iloc[0], samples.iloc[-1]
    length_s = float(last["t_s"] - first["t_s"])
    return 8 * float(last["bytes"] - first["bytes"]) / (rate_bps * length_s) if length_s else None
