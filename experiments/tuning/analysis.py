"""Measures of one flow between hosts that are tuned step by step."""

from __future__ import annotations

import math
from collections.abc import Iterable

from farpath.metrics import flow as flow_metrics
from farpath.metrics.measures import Measure, plain_title
from farpath.metrics.run import per_second
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun
from farpath.runs.experiment_schema import ALL_STEPS

EXPERIMENT = "tuning"
THROUGHPUT = "throughput"
FILL_TIME = "time to fill the path"
#: The mechanisms of a host as it was delivered, and of one with all settings.
UNTUNED, TUNED = "untuned", ALL_STEPS
#: A path is full at this part of what the sender's card and bus can send.
FULL_PART = 0.9


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
