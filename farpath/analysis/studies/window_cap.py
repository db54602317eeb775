"""Window cap: a window of the bandwidth-delay product, which fills a path and loses nothing."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.analysis import flow_metrics
from farpath.analysis.studies.measure import Measure, RecordedRun

EXPERIMENT = "window-cap"
THROUGHPUT = "throughput"
UTILISATION = "utilisation"
RETRANSMITTED = "packets sent again"
#: What a document prints of the throughput.
PUBLISHED = "lsr-1"
#: Slow start takes this long at 180 ms.
STARTED_S = 10.0


def measures(done: Iterable[RecordedRun]) -> list[Measure]:
    """Mean, its part of what the path carries, and packets sent again.

    The mean is of what follows slow start, the first ten seconds. ``about``: ``ip``, ``seconds``.
    """
    found = []
    for each in done:
        plan = each.run.plan
        rows = flow_metrics.rows_of(each.record)
        mean_bps = flow_metrics.mean_bps(each.record, from_s=STARTED_S)
        version = each.run.asked.ip or "4"
        about = {"ip": version, "seconds": f"{plan.schedule.duration_s:g}"}
        words = f"{plan.path.rate_bps / 1e9:g} Gbit/s, {plan.path.rtt_ms:g} ms, IPv{version}"
        values = (
            (THROUGHPUT, "Mbit/s", mean_bps / 1e6, PUBLISHED),
            (UTILISATION, "", mean_bps / flow_metrics.goodput_bps(plan.path, plan.ip_version), ""),
            (RETRANSMITTED, "", float(rows["retransmits"].sum()), ""),
        )
        found += [
            Measure(EXPERIMENT, words, name, unit, value, plan.seed, None, printed, about=about)
            for name, unit, value, printed in values
        ]
    return found
