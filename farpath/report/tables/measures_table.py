"""Tables of measures with theory and published values, one for each experiment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath

from farpath.base.column import NOTHING, Value
from farpath.base.experiment_modules import ANALYSIS, experiment_module
from farpath.base.project import EXPERIMENTS
from farpath.metrics.estimate import Estimate, estimate
from farpath.metrics.measures import Measure
from farpath.report.table import Table
from farpath.report.tables.deviations import ratio

HEADER = ("run", "", "measured", "theory", "deviation", "published", "deviation", "")
COLUMNS = (
    "experiment", "run", "quantity", "unit", "seed", "measured", "theory", "published",
    "published_id", "note",
)  # fmt: skip


def value_text(value: float | None, unit: str = "") -> str:
    """Format a value with four significant digits, and its unit."""
    if value is None or math.isnan(value):
        return NOTHING
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{text} {unit}".strip()


def _estimate_text(value: Estimate, unit: str) -> str:
    """Format a mean over seeds with half of its interval; that of one seed alone, or of none."""
    if math.isnan(value.half_width):
        return value_text(value.mean, unit)
    half_width = f"{value.half_width:.2g}" if value.half_width < 100 else f"{value.half_width:,.0f}"
    return f"{value_text(value.mean)} ± {half_width} {unit}".strip()


def _row(of_seeds: Sequence[Measure]) -> tuple[str, ...]:
    """Return the row of one quantity of runs that differ in their seed alone."""
    measure = of_seeds[0]
    measured = estimate([each.value for each in of_seeds])
    printed = measure.printed
    published = None if printed is None else printed.value
    return (
        measure.condition,
        measure.quantity,
        _estimate_text(measured, measure.unit),
        value_text(measure.theory),
        NOTHING if measure.theory is None else ratio(measured.mean, measure.theory),
        value_text(published),
        NOTHING if published is None else ratio(measured.mean, published),
        "; ".join(dict.fromkeys(each.note for each in of_seeds)),
    )


def _data(measure: Measure) -> tuple[Value, ...]:
    printed = measure.printed
    return (
        measure.experiment, measure.condition, measure.quantity, measure.unit, measure.seed,
        measure.value, measure.theory, None if printed is None else printed.value,
        measure.published, measure.note,
    )  # fmt: skip


def measure_tables(
    measures: Iterable[Measure],
    titles: dict[str, str] | None = None,
    experiments: FilePath = EXPERIMENTS,
) -> tuple[Table, ...]:
    """Return one table for each experiment, in their order; ``titles`` are by its name.

    The analysis.py in an experiment's folder may have a ``table`` of its own form.
    """
    by_experiment: dict[str, list[Measure]] = {}
    for measure in measures:
        by_experiment.setdefault(measure.experiment, []).append(measure)
    return tuple(
        _measure_table(name, (titles or {}).get(name, name), of_experiment, experiments)
        for name, of_experiment in by_experiment.items()
    )


def _measure_table(
    name: str, title: str, measures: Sequence[Measure], experiments: FilePath
) -> Table:
    module = experiment_module(name, ANALYSIS, experiments)
    make_table = getattr(module, "table", _measures_table)
    return Table.of_values(name, COLUMNS, tuple(map(_data, measures)), make_table(title, measures))


def _measures_table(title: str, measures: Sequence[Measure]) -> Table:
    """Return a row for each quantity of each run; runs that differ in their seed share one."""
    by_row: dict[tuple[str, str], list[Measure]] = {}
    for measure in measures:
        by_row.setdefault((measure.condition, measure.quantity), []).append(measure)
    note = "Deviations are in per cent, of theory and of what is published."
    if any(len(of_seeds) > 1 for of_seeds in by_row.values()):
        note += " ±: half of the 95 % confidence interval over seeds."
    return Table.of_texts(title, HEADER, tuple(map(_row, by_row.values())), note)
