"""Measures of a flow whose receiver's window is the bandwidth-delay product.

Such a window fills the path and loses nothing; a wider one overflows the buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure
from farpath.runs.claims.condition import Condition
from farpath.runs.claims.criteria import Criteria, matching, mean
from farpath.runs.experiment import RecordedRun
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
#: C27: the length of the published run.
CAPPED_S = 600.0


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


def _of_free_hosts(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures of hosts that are infinitely fast, so that only the path limits."""
    return [measure for measure in measures if HOST not in measure.about]


def a_capped_window_loses_nothing_and_holds_the_rate(measures: Sequence[Measure]) -> Criteria:
    """C27: 10 Gbit/s, 180 ms, MTU 9000; after slow start, over the path's payload rate.

    That it is the cap which avoids loss shows beside a window of half as much again.
    """
    free = _of_free_hosts(measures)
    wider = matching(free, EXPERIMENT, RETRANSMITTED_WIDER)
    conditions = [Condition("a wider window: packets sent again", mean(wider), ">", 0)]
    retransmissions = matching(free, EXPERIMENT, RETRANSMITTED)
    utilisations = matching(free, EXPERIMENT, UTILISATION)
    for retransmitted, utilisation in zip(retransmissions, utilisations, strict=True):
        version = f"IPv{retransmitted.about['ip']}"
        conditions += [
            Condition(f"{version}: packets sent again", retransmitted.value, "<=", 0),
            Condition(f"{version}: mean over the bottleneck", utilisation.value, ">", 0.95),
        ]
    durations_s = [float(retransmitted.about["seconds"]) for retransmitted in retransmissions]
    remark = f"of {min(durations_s):g} s, not {CAPPED_S:g} s" if min(durations_s) < CAPPED_S else ""
    return Criteria(tuple(conditions), (remark,) if remark else ())


#: The rules of the claims that these runs decide and claims.toml does not have.
CLAIMS = {"C27": a_capped_window_loses_nothing_and_holds_the_rate}
