"""The table of a sweep in long form: a row for each run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from farpath.analysis.metrics import Summary
from farpath.analysis.run_settings import SETTINGS
from farpath.campaign.sweep import SweepOutcome, SweptRun
from farpath.report.tables.formats import CellValue, ResultTable
from farpath.report.tables.regions import TextTable, number


@dataclass(frozen=True)
class SweepMetric:
    """A metric of a sweep's runs: its key with its unit, its words, and its decimals."""

    key: str
    words: str
    of: Callable[[Summary], float]
    decimals: int


METRICS = (
    SweepMetric("throughput_mbps", "throughput (Mbit/s)", lambda run: run.mean_bps / 1e6, 2),
    SweepMetric("utilisation", "throughput over rate", lambda run: run.mean_bps / run.rate_bps, 3),
    SweepMetric("stability", "coefficient of variation S", lambda run: run.stability, 2),
    SweepMetric("fairness_min", "Jain's fairness index F", lambda run: run.fairness_min, 2),
    SweepMetric("rtt_p99_ms", "99th percentile of ping RTTs (ms)", lambda run: run.rtt_p99_ms, 1),
    SweepMetric("retransmits", "retransmits (packets)", lambda run: run.retransmits, 0),
    SweepMetric("queue_drops", "drops at the bottleneck", lambda run: run.queue_drops, 0),
)
#: Settings that every row has, with their values as numbers.
_SHOWN = ("stack", "rtt_ms", "rate_bps", "buffer_bytes", "loss")
#: Swept options whose values are among these settings.
_OF_SETTINGS = ("stack", "rtt", "rate", "buffer", "loss")


def sweep_table(outcome: SweepOutcome) -> ResultTable:
    """Return a row for each run: its settings, swept options, seed, metrics and record."""
    settings = [setting for setting in SETTINGS if setting.key in _SHOWN]
    others = [name for name in outcome.sweep.axes if name not in _OF_SETTINGS]

    def data_of(swept: SweptRun) -> tuple[CellValue, ...]:
        member = swept.member
        metrics = [metric.of(member.run.summary) for metric in METRICS]
        return (
            *(setting.value(member) for setting in settings),
            *(swept.run.values[name] for name in others),
            member.plan.seed, *metrics, member.run.record, member.run.fingerprint,
        )  # fmt: skip

    rows = tuple(
        (
            *(swept.run.values.values()), str(swept.member.plan.seed),
            *(number(metric.of(swept.member.run.summary), metric.decimals) for metric in METRICS),
        )
        for swept in outcome.runs
    )  # fmt: skip
    keys = tuple(metric.key for metric in METRICS)
    columns = (*(setting.key for setting in settings), *others, "seed", *keys)
    return ResultTable(
        "sweep",
        TextTable("Runs of the sweep", (*outcome.sweep.axes, "seed", *keys), rows),
        (*columns, "record", "fingerprint"),
        tuple(map(data_of, outcome.runs)),
    )
