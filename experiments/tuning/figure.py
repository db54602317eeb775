"""The figure of a ladder: from a host as it was delivered to one with all settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.metrics.measures import Measure, select_measures
from farpath.report.figures.stack_colours import series_colour
from farpath.report.figures.style import RULE, TALL_IN, print_style
from farpath.runs.experiment import RecordedRun
from farpath.runs.experiment_schema import ALL_BUT, UP_TO

from . import analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The settings in the ladder's order, by the names of their mechanisms.
SETTINGS = {
    "buffers": "buffers",
    "cache": "no cached threshold",
    "txqueue": "transmit queue",
    "backlog": "receive queue",
    "sack": "SACK off",
    "burst": "bursts on the bus",
}
#: The least throughput that a frame shows, as a fraction of the smallest.
LEFT_PART = 0.5


def draw_tuning(measures: Sequence[Measure]) -> Figure:
    """Draw two frames for each path: throughput, and the time until the path is full.

    The ladder of settings is above, all settings but one are below. Bars of throughput say how many
    times that of a host as it was delivered they are.
    """
    from matplotlib.figure import Figure

    paths = list(dict.fromkeys(measure.about["path"] for measure in measures))
    with print_style():
        size_in = (TALL_IN[0], TALL_IN[1] * len(paths) / 2)
        figure = Figure(figsize=size_in, layout="constrained")
        frames = figure.subplots(len(paths), 2, squeeze=False, sharey="row")
        for (rates, times), path in zip(frames, paths, strict=True):
            by_mechanism = _by_mechanism(select_measures(measures, analysis.THROUGHPUT, path=path))
            untuned = by_mechanism.get(analysis.UNTUNED)
            _draw_ladder(rates, by_mechanism, None if untuned is None else untuned.value)
            rates.set_title(path, loc="left", fontsize=8)
            rates.set_xlabel("throughput (Mbit/s)")
            rates.set_xscale("log")
            # Room for the numbers
            mbps = [measure.value for measure in by_mechanism.values()]
            rates.set_xlim(LEFT_PART * min(mbps), 20 * max(mbps))
            filled = _by_mechanism(select_measures(measures, analysis.FILL_TIME, path=path))
            _draw_ladder(times, filled)
            times.set_xlabel("time to fill the path (s), +: never")
            times.margins(x=0.15)
        figure.suptitle("Settings one after the other, and all of them but one")
    return figure


def _by_mechanism(measures: Sequence[Measure]) -> dict[str, Measure]:
    return {measure.about["mechanism"]: measure for measure in measures}


def _rows(by_mechanism: Mapping[str, Measure]) -> list[tuple[str, Measure, str]]:
    """Return label, measure and colour of each row that there is a run for, from the top."""
    settings = [name for name in SETTINGS if f"{ALL_BUT}{name}" in by_mechanism]
    ladder = {analysis.UNTUNED: "as delivered"}
    for name in settings:
        ladder[name if name == settings[0] else f"{UP_TO}{name}"] = f"+ {SETTINGS[name]}"
    if settings:
        del ladder[f"{UP_TO}{settings[-1]}"]
        ladder[analysis.TUNED] = f"+ {SETTINGS[settings[-1]]}"
    missing = {f"{ALL_BUT}{name}": f"all but: {SETTINGS[name]}" for name in settings}
    return [
        (label, by_mechanism[name], colour)
        for rows, colour in ((ladder, series_colour(1)), (missing, series_colour(2)))
        for name, label in rows.items()
        if name in by_mechanism
    ]


def _draw_ladder(
    axes: Axes, by_mechanism: Mapping[str, Measure], once: float | None = None
) -> None:
    """Draw a bar for each row; ``once``: the value of which the others are multiples."""
    rows = _rows(by_mechanism)
    values = [measure.value for _, measure, _ in rows]
    axes.barh(range(len(rows)), values, color=[colour for _, _, colour in rows], height=0.7)
    for index, (_, measure, _) in enumerate(rows):
        text = f"{measure.value:.4g}" + ("+" if measure.note else "")
        if once and measure.value != once:
            text += f" (x {measure.value / once:.3g})"
        axes.annotate(
            text, (measure.value, index), (3, 0), textcoords="offset points", va="center",
            fontsize=7,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(True, axis="x", color=RULE, linewidth=0.3)


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw the one figure of all measures."""
    if measures:
        yield analysis.EXPERIMENT, draw_tuning(measures)
