"""Measures of what a bit costs a sending host, by its streams and by what its card does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from farpath.base.errors import BadInputError
from farpath.mechanisms.offloads.mechanism import ALL, NONE, offloads_text
from farpath.metrics.measures import Measure, select_measures
from farpath.metrics.run import summarise
from farpath.runs.experiment import RecordedRun

EXPERIMENT = "cpu-streams"
THROUGHPUT = "throughput of all streams"
CPU = "CPU of the senders"
COST = "cycles for a bit"
PART = "cycles for a bit, with offloads over without"
#: What the paper gives for the cost, in GHz per Gbit/s, by offloads and streams: 16 of a card
#: with a TCP of its own, and one of a card without, the mean of the TCP stacks at CERN.
PUBLISHED = {(ALL, 16): "cpu-4", (NONE, 1): "cpu-5"}
NOTES = {"cpu-4": "published: a card with a TCP of its own", "cpu-5": "published: SLAC to CERN"}
#: What it gives for the part, at whatever number of streams.
PUBLISHED_PART = "cpu-2"


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure throughput, CPU and cycles for a bit of whole runs, and what offloads leave of these.

    A cycle is an instruction where a machine counts those. ``about``: ``streams``, ``offloads`` as
    the option has them, ``rate`` in Mbit/s. Raises BadInputError for a run without its CPU time, or
    without OFFLOADS.
    """
    measured: list[Measure] = []
    for recorded in runs:
        plan, record = recorded.run.plan, recorded.record
        summary = summarise(record.samples, plan, record.cpu)
        offloads = offloads_text(plan.offloads)
        cpu_percent, cost = summary.cpu_percent, summary.mhz_per_mbps
        if cpu_percent is None or cost is None or offloads is None:
            lacking = "OFFLOADS" if offloads is None else "CPU time, which the host lab counts"
            raise BadInputError(
                problem=f"the run {recorded.run.label} of {EXPERIMENT} has no {lacking}"
            )
        streams = len(plan.schedule.flows)
        about = {
            "streams": str(streams),
            "offloads": offloads,
            "rate": f"{plan.path.rate_bps / 1e6:g}",
        }
        condition = f"{about['rate']} Mbit/s, streams: {streams}, offloads {offloads}"
        printed = PUBLISHED.get((offloads, streams), "")
        for quantity, unit, value, published in (
            (THROUGHPUT, "Mbit/s", summary.mean_bps / 1e6, ""),
            (CPU, "%", cpu_percent, ""),
            (COST, "GHz/(Gbit/s)", cost, printed),
        ):
            measured.append(
                Measure(
                    EXPERIMENT, condition, quantity, unit, value, plan.seed, None, published,
                    NOTES.get(published, ""), about,
                )
            )  # fmt: skip
    return measured + _parts(measured)


def at_usual_rate(measures: Sequence[Measure]) -> list[Measure]:
    """Return those of some measures that are of the rate with the most of them.

    Numbers of streams are compared at that rate, the first of equal ones.
    """
    rates = [measure.about["rate"] for measure in measures]
    usual = max(dict.fromkeys(rates), key=rates.count)
    return [measure for measure in measures if measure.about["rate"] == usual]


def _parts(measured: Sequence[Measure]) -> list[Measure]:
    """Return what all offloads leave of the cost, for each run with a run without any."""
    parts = []
    for with_all in select_measures(measured, COST, offloads=ALL):
        without = select_measures(measured, COST, **{**with_all.about, "offloads": NONE})
        about = {name: with_all.about[name] for name in ("streams", "rate")}
        parts += [
            Measure(
                EXPERIMENT, f"{about['rate']} Mbit/s, streams: {about['streams']}", PART, "",
                with_all.value / one.value, one.seed, None, PUBLISHED_PART, about=about,
            )
            for one in without
            if one.seed == with_all.seed
        ]  # fmt: skip
    return parts
