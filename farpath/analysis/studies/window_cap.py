"""Measures of a flow whose receiver's window is the bandwidth-delay product.

Such a window fills the path and loses nothing; a wider one overflows the buffer.
"""

from __future__ import annotations

from collections.abc import Iterable

from farpath.analysis.studies.measure import Measure, RecordedRun
from farpath.metrics import flow as flow_metrics
from farpath.spec.path import Path

EXPERIMENT = "window-cap"
THROUGHPUT = "throughput"
UTILISATION = "utilisation"
RETRANSMITTED = "packets sent again"
RETRANSMITTED_WIDER = "packets sent again, wider window"
#: A window of more bandwidth-delay products than this is no cap.
CAP = 1.25
#: The id of the published throughput.
PUBLISHED = "lsr-1"
#: The word of ``about`` for hosts that are not infinitely fast; it has their era.
HOST = "host"
#: The time that slow start takes at 180 ms, in s.
STARTED_S = 10.0


def window_bdps(path: Path) -> float:
    """Return the receiver's window in bandwidth-delay products of a path."""
    return path.window_bytes / (path.rate_bps * path.rtt_ms / 8e3)


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the mean throughput, its fraction of what host and path carry, and retransmissions.

    The mean is over the time after slow start, the first ten seconds. Of a window that is wider
    than the path only the retransmissions are measured. ``about``: ``ip``, ``seconds``, and
    ``HOST`` of hosts that are not infinitely fast.
    """
    measured = []
    for recorded in runs:
        plan = recorded.run.plan
        rows = flow_metrics.flow_samples(recorded.record)
        mean_bps = flow_metrics.mean_bps(recorded.record, from_s=STARTED_S)
        version = recorded.run.request.ip or "4"
        about = {"ip": version, "seconds": f"{plan.schedule.duration_s:g}"}
        condition = f"{plan.path.rate_bps / 1e9:g} Gbit/s, {plan.path.rtt_ms:g} ms, IPv{version}"
        if plan.era.card_rate_bps is not None:
            about[HOST] = plan.era.name
            condition += f", hosts of {plan.era.name}"
        if (wider := window_bdps(plan.path)) > CAP:
            condition += f", a window of {wider:.1f} bandwidth-delay products"
            sent_again = float(rows["retransmits"].sum())
            measured.append(
                Measure(
                    EXPERIMENT, condition, RETRANSMITTED_WIDER, "", sent_again, plan.seed,
                    about=about,
                )
            )  # fmt: skip
            continue
        values = (
            (THROUGHPUT, "Mbit/s", mean_bps / 1e6, PUBLISHED),
            (UTILISATION, "", mean_bps / flow_metrics.full_bps(plan), ""),
            (RETRANSMITTED, "", float(rows["retransmits"].sum()), ""),
        )
        measured += [
            Measure(EXPERIMENT, condition, name, unit, value, plan.seed, None, printed, about=about)
            for name, unit, value, printed in values
        ]
    return measured
