"""The table of a sweep in long form: a row for each run."""

from __future__ import annotations

from farpath.analysis.run_settings import SETTINGS
from farpath.campaign.sweep import SweepOutcome, SweptRun
from farpath.report.tables.formats import CellValue, ResultTable
from farpath.report.tables.regions import TextTable, number
from farpath.report.tables.run_metrics import METRICS

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
