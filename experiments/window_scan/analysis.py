"""Measures of seven-region tests by window: the numbers of table 1, and what the sentences ask for.

The sentences are the paper's on its figures of CERN, and the panel's ("Transport Benchmarking",
2005) on H-TCP. An effective window between a third and a half of what path and buffer hold would
make all of them: two flows then fit beside each other without a loss, and three do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np

from farpath.metrics.link import summarise_record
from farpath.metrics.measures import Measure, select_measures
from farpath.metrics.run import Summary
from farpath.record.record import Record
from farpath.runs.experiment import RecordedRun

EXPERIMENT = "window-scan"
MEAN, STABILITY, FAIRNESS, RTT_STD = "mean", "S", "F min", "SD(RTT)"
ONE_MEAN, TWO_MEAN, FOUR_MEAN = "mean, one flow", "mean, two flows", "mean, four flows"
TWO_STABILITY, FOUR_STABILITY = "S, two flows", "S, four flows"
ONE_RTT, FOUR_RTT = "RTT over base, one flow", "RTT over base, four flows"
HOLD = "sentences that hold"
#: One flow fills no buffer if its mean RTT is below this many base RTTs.
EMPTY = 1.25
#: Numbers of the regions in which one, two and four flows send, before any has left.
ONE, TWO, FOUR = 1, 2, 4
#: What each sentence asks of a run's measures, by its words.
SENTENCES: Mapping[str, tuple[str, str]] = {
    '"RTT increases when there are multiple flows"': (FOUR_RTT, ONE_RTT),
    '"two flows appear to be more stable than > 2"': (FOUR_STABILITY, TWO_STABILITY),
    '"appears to need > 1 flow"': (TWO_MEAN, ONE_MEAN),
    '"> 2 flows appears to achieve more throughput"': (FOUR_MEAN, TWO_MEAN),
}


def rtt_over_base(record: Record, summary: Summary, number: int) -> float:
    """Return the mean RTT of a region's pings over that of the idle path."""
    ends_s = list(accumulate(region.seconds for region in summary.regions))
    starts_s = [0.0, *ends_s]
    pings = record.samples.ping
    within = pings["t_s"].between(starts_s[number - 1], ends_s[number - 1], inclusive="left")
    return float(np.nanmean(pings.loc[within, "rtt_ms"])) / record.plan.path.rtt_ms


def values_of(record: Record) -> dict[str, float]:
    """Return the quantities of a run, by their names."""
    summary = summarise_record(record)
    regions = {region.number: region for region in summary.regions}
    values = {
        MEAN: summary.mean_bps / 1e6,
        STABILITY: summary.stability,
        FAIRNESS: summary.fairness_min,
        RTT_STD: summary.rtt_std_ms,
        ONE_MEAN: regions[ONE].mean_bps / 1e6,
        TWO_MEAN: regions[TWO].mean_bps / 1e6,
        FOUR_MEAN: regions[FOUR].mean_bps / 1e6,
        TWO_STABILITY: regions[TWO].stability,
        FOUR_STABILITY: regions[FOUR].stability,
        ONE_RTT: rtt_over_base(record, summary, ONE),
        FOUR_RTT: rtt_over_base(record, summary, FOUR),
    }
    return {**values, HOLD: float(sum(values[more] > values[less] for more, less in
                                      SENTENCES.values()))}  # fmt: skip


UNITS = {
    **dict.fromkeys((MEAN, ONE_MEAN, TWO_MEAN, FOUR_MEAN), "Mbit/s"), RTT_STD: "ms",
}  # fmt: skip
#: The last word of the id of a printed value, by quantity.
PRINTED = {MEAN: "mean", STABILITY: "stability", FAIRNESS: "fairness", RTT_STD: "rtt"}


def measures(runs: Iterable[RecordedRun]) -> list[Measure]:
    """Measure each run as a whole, and its regions of one, two and four flows.

    ``about``: ``stack``, ``rate`` and ``window`` as requested.
    """
    measured = []
    for recorded in runs:
        request = recorded.run.request
        about = {name: getattr(request, name) for name in ("stack", "rate", "window")}
        window_mb = recorded.run.plan.path.window_bytes / 1e6
        condition = f"{about['stack']}, {about['rate']}, window {window_mb:.1f} MB"
        measured += [
            Measure(
                EXPERIMENT, condition, name, UNITS.get(name, ""), value, recorded.run.plan.seed,
                None, f"window-{about['stack']}-{PRINTED[name]}" if name in PRINTED else "",
                about=about,
            )
            for name, value in values_of(recorded.record).items()
        ]  # fmt: skip
    return measured


def is_possible(measures: Sequence[Measure], rate: str, window: str) -> bool:
    """Whether a window at a rate makes what the sentences say, of H-TCP and Reno alike.

    Two flows are more stable than four, and one leaves the buffer empty.
    """
    for stack in ("htcp_2004", "reno_2004"):
        two, four, rtt = (
            select_measures(measures, name, stack=stack, rate=rate, window=window)[0].value
            for name in (TWO_STABILITY, FOUR_STABILITY, ONE_RTT)
        )
        if not (two < four and rtt < EMPTY):
            return False
    return True
