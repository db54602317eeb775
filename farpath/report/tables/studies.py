"""Table: measures beside what theory predicts and documents print, one sheet an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from farpath.analysis.studies import response
from farpath.analysis.studies.measure import Measure, select_measures
from farpath.report.tables.formats import Datum, Sheet
from farpath.report.tables.regions import NOTHING, Grid, ratio

HEADER = ("run", "", "measured", "theory", "deviation", "published", "deviation", "")
COLUMNS = (
    "experiment", "run", "quantity", "unit", "seed", "measured", "theory", "published",
    "published_id", "note",
)  # fmt: skip


def _figure(value: float | None, unit: str = "") -> str:
    """Four digits that count, and the unit."""
    if value is None:
        return NOTHING
    shown = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{shown} {unit}".strip()


def _row(measure: Measure) -> tuple[str, ...]:
    printed = measure.printed
    published = None if printed is None else printed.value
    return (
        measure.condition,
        measure.quantity,
        _figure(measure.value, measure.unit),
        _figure(measure.theory),
        NOTHING if measure.theory is None else ratio(measure.value, measure.theory),
        _figure(published),
        NOTHING if published is None else ratio(measure.value, published),
        measure.note,
    )


def _data(measure: Measure) -> tuple[Datum, ...]:
    printed = measure.printed
    return (
        measure.experiment, measure.condition, measure.quantity, measure.unit, measure.seed,
        measure.value, measure.theory, None if printed is None else printed.value,
        measure.published, measure.note,
    )  # fmt: skip


def sheets(measures: Iterable[Measure], titles: dict[str, str] | None = None) -> tuple[Sheet, ...]:
    """One sheet for each experiment, in their order; ``titles`` by its name."""
    by_experiment: dict[str, list[Measure]] = {}
    for measure in measures:
        by_experiment.setdefault(measure.experiment, []).append(measure)
    return tuple(
        _sheet(name, (titles or {}).get(name, name), of_it) for name, of_it in by_experiment.items()
    )


def _sheet(name: str, title: str, measures: Sequence[Measure]) -> Sheet:
    grid = _response_grid if name == response.EXPERIMENT else _grid
    return Sheet(name, grid(title, measures), COLUMNS, tuple(map(_data, measures)))


def _grid(title: str, measures: Sequence[Measure]) -> Grid:
    """A row for each measure."""
    note = "Deviations are in per cent, of theory and of what is published."
    return Grid(title, HEADER, tuple(map(_row, measures)), note)


def _response_grid(title: str, measures: Sequence[Measure]) -> Grid:
    """A row for each path and stack, a column for each loss."""
    drops = tuple(dict.fromkeys(measure.about["drop"] for measure in measures))
    rows = dict.fromkeys((measure.about["path"], measure.about["stack"]) for measure in measures)
    cells = {
        (path, stack, drop): _response_cell(
            select_measures(measures, response.THROUGHPUT, path=path, stack=stack, drop=drop),
            select_measures(measures, response.WINDOW, path=path, stack=stack, drop=drop),
        )
        for path, stack in rows
        for drop in drops
    }
    note = (
        "Throughput in Mbit/s; in brackets the mean window's deviation from theory in per cent, "
        "where losses hold it and not the path."
    )
    return Grid(
        title,
        ("path", "stack", *drops),
        tuple((*row, *(cells[*row, drop] for drop in drops)) for row in rows),
        note,
    )


def _response_cell(throughputs: Sequence[Measure], windows: Sequence[Measure]) -> str:
    """One run's, or the means of several seeds'."""
    if not throughputs:
        return NOTHING
    shown = _figure(fmean(measure.value for measure in throughputs))
    held = [window for window in windows if window.about["limit"] == response.BY_LOSS]
    ratios = [window.value / window.theory for window in held if window.theory]
    return f"{shown} ({ratio(fmean(ratios), 1)})" if ratios else shown
