"""Measures of one flow between hosts that are tuned step by step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, plain_title
from farpath.metrics.run import per_second
from farpath.record.record import Record
from farpath.runs.claims.rules import Criteria, matching, mean
from farpath.runs.claims.verdict import Condition, within
from farpath.runs.experiment import RecordedRun
from farpath.runs.experiment_schema import ALL_BUT, ALL_STEPS

EXPERIMENT = "tuning"
#: The paths of its runs.
PATHS = ("geneva-chicago", "land-speed")
THROUGHPUT = "throughput"
FILL_TIME = "time to fill the path"
#: The mechanisms of a host as it was delivered, and of one with all settings.
UNTUNED, TUNED = "untuned", ALL_STEPS
#: A path is full at this part of what the sender's card and bus can send.
FULL_PART = 0.9
#: C47: "more than 20x".
BUFFERS_FACTOR = 20.0
#: C48: 30 per cent, a third more or less.
BURST_FACTOR = (1.2, 1.4)


def fill_time_s(record: Record) -> float:
    """Return the end of the first second in which the path is full, or NaN if there is none."""
    plan = record.plan
    throughput_bps = per_second(record.samples, plan.schedule)["flow1"]
    full = throughput_bps[throughput_bps >= FULL_PART * flow_metrics.full_bps(plan)]
    return float(full.index[0]) if len(full) else math.nan


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure the mean throughput after the first quarter, and the time to fill the path.

    A path that is never full has the run's whole length, and a note that says so. ``about``:
    ``path``, ``mechanism``. A run of several mechanisms gives a measure for each.
    """
    measured = []
    for recorded in runs:
        plan, path = recorded.run.plan, recorded.run.request.path or ""
        fill_s, note = fill_time_s(recorded.record), ""
        if math.isnan(fill_s):
            fill_s, note = plan.schedule.duration_s, "never full: the length of the run"
        mean_bps = flow_metrics.mean_bps(recorded.record)
        for mechanism in recorded.run.mechanisms:
            about = {"path": path, "mechanism": mechanism}
            title = f"{plain_title(plan.path)}, {mechanism}"
            measured += [
                Measure(
                    EXPERIMENT, title, THROUGHPUT, "Mbit/s", mean_bps / 1e6, plan.seed, about=about
                ),
                Measure(
                    EXPERIMENT, title, FILL_TIME, "s", fill_s, plan.seed, note=note, about=about
                ),
            ]  # fmt: skip
    return measured


def _on_each_path(
    measures: Sequence[Measure], quantity: str, mechanism: str, relation: str, said: tuple[str, str]
) -> Criteria:
    """Return the condition for each path that all settings but one compare so with all of them.

    ``mechanism``: without the one. ``said``: how a condition names the value and its limit. Raises
    MissingRunsError if a path of the experiment lacks runs of either.
    """

    def by_path(name: str) -> dict[str, list[Measure]]:
        return {
            path: matching(measures, EXPERIMENT, quantity, mechanism=name, path=path)
            for path in PATHS
        }

    without, tuned = by_path(mechanism), by_path(TUNED)
    label, limit_label = said
    return Criteria(
        tuple(
            Condition(
                f"{path}: {label}", mean(without[path]), relation, mean(tuned[path]),
                tuned[path][0].unit, limit_label,
            )
            for path in PATHS
        )
    )  # fmt: skip


def sack_slows_a_sender_down(measures: Sequence[Measure]) -> Criteria:
    """C38: tuned hosts, which have SACK off, and the same hosts with SACK."""
    said = ("throughput with SACK", "without")
    return _on_each_path(measures, THROUGHPUT, f"{ALL_BUT}sack", "<", said)


def a_short_transmit_queue_slows_a_sender_down(measures: Sequence[Measure]) -> Criteria:
    """C39: tuned hosts, with the queue as it was delivered and as it is recommended."""
    said = ("throughput with 100 packets", "with 30,000")
    return _on_each_path(measures, THROUGHPUT, f"{ALL_BUT}txqueue", "<", said)


def a_cached_threshold_slows_the_next_connection_down(measures: Sequence[Measure]) -> Criteria:
    """C40: tuned hosts, with the threshold of a connection of 64 KiB and without."""
    said = ("time to fill it with a cached threshold", "without")
    return _on_each_path(measures, FILL_TIME, f"{ALL_BUT}cache", ">", said)


def _tuned_over(measures: Sequence[Measure], mechanism: str, path: str) -> float:
    """Return the throughput of tuned hosts over that of hosts with all settings but one."""
    tuned, without = (
        mean(matching(measures, EXPERIMENT, THROUGHPUT, mechanism=name, path=path))
        for name in (TUNED, f"{ALL_BUT}{mechanism}")
    )
    return tuned / without


def tuned_buffers_give_twenty_times_as_much(measures: Sequence[Measure]) -> Criteria:
    """C47: tuned hosts, with the buffers of a path and with 64 KiB."""
    return Criteria(
        tuple(
            Condition(
                f"{path}: tuned over all but buffers", _tuned_over(measures, "buffers", path), ">",
                BUFFERS_FACTOR,
            )
            for path in PATHS
        )
    )  # fmt: skip


def longer_bursts_give_a_third_more(measures: Sequence[Measure]) -> Criteria:
    """C48: tuned hosts with jumbo frames, bursts of 4096 and of 512 bytes on the bus."""
    factor = _tuned_over(measures, "burst", "land-speed")
    return Criteria(within("land-speed: tuned over all but bursts", factor, *BURST_FACTOR))


#: The rules of the claims that these runs decide.
CLAIMS = {
    "C38": sack_slows_a_sender_down,
    "C39": a_short_transmit_queue_slows_a_sender_down,
    "C40": a_cached_threshold_slows_the_next_connection_down,
    "C47": tuned_buffers_give_twenty_times_as_much,
    "C48": longer_bursts_give_a_third_more,
}
