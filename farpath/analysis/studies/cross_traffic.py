"""Measures of a Reno flow beside the flow of a third host, which runs another stack."""

from __future__ import annotations

from collections.abc import Iterable

from farpath.analysis import flow_metrics
from farpath.analysis.metrics import summarise
from farpath.analysis.studies.measure import Measure, RecordedRun, plain_title

EXPERIMENT = "cross-traffic"
RENO = "throughput of Reno"
CROSS = "throughput of the third host"
RTT_MEAN, RTT_STD = "mean RTT", "SD(RTT)"
#: The word for a run without a third host.
NOTHING = "nothing"


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure both means after the run's first quarter, and the RTT over the whole run.

    ``about``: ``path``, and ``beside``, the third host's stack or ``NOTHING``.
    """
    measured = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        reno, *others = plan.schedule.flows
        beside = others[0].stack if others else NOTHING
        values = [(RENO, "Mbit/s", flow_metrics.mean_bps(record, reno.name) / 1e6)]
        values += [
            (CROSS, "Mbit/s", flow_metrics.mean_bps(record, other.name) / 1e6) for other in others
        ]
        rtts_ms = record.samples.ping["rtt_ms"]
        values += [
            (RTT_MEAN, "ms", float(rtts_ms.mean())),
            (RTT_STD, "ms", summarise(record.samples, plan).rtt_std_ms),
        ]
        condition = f"{plain_title(plan.path)}, beside {beside}"
        about = {"path": recorded.run.request.path or "", "beside": beside}
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, about=about)
            for name, unit, value in values
        ]
    return measured
