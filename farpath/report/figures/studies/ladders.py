"""The figure of a ladder: throughput from a host as it was delivered to one with all settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import tuning
from farpath.analysis.studies.measure import Measure, select_measures
from farpath.report.figures.studies.marks import COLOURS
from farpath.report.figures.style import FULL_IN, RULE, print_style

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
    """Draw throughput as a frame for each path: the ladder above, all settings but one below."""
    from matplotlib.figure import Figure

    by_path: dict[str, dict[str, Measure]] = {}
    for measure in select_measures(measures, tuning.THROUGHPUT):
        about = measure.about
        by_path.setdefault(about["path"], {})[about["mechanism"]] = measure
    with print_style():
        figure = Figure(figsize=FULL_IN, layout="constrained")
        frames = figure.subplots(1, len(by_path), squeeze=False)[0]
        for axes, (path, by_mechanism) in zip(frames, by_path.items(), strict=True):
            _draw_ladder(axes, by_mechanism)
            axes.set_title(path, loc="left", fontsize=8)
            axes.set_xlabel("throughput (Mbit/s)")
        figure.suptitle("Settings one after the other, and all of them but one")
    return figure


def _rows(by_mechanism: Mapping[str, Measure]) -> list[tuple[str, Measure, str]]:
    """Return label, measure and colour of each row that there is a run for, from the top."""
    settings = [name for name in SETTINGS if f"{tuning.ALL_BUT}{name}" in by_mechanism]
    ladder = {tuning.UNTUNED: "as delivered"}
    for name in settings:
        ladder[name if name == settings[0] else f"{tuning.UP_TO}{name}"] = f"+ {SETTINGS[name]}"
    if settings:
        del ladder[f"{tuning.UP_TO}{settings[-1]}"]
        ladder[tuning.TUNED] = f"+ {SETTINGS[settings[-1]]}"
    missing = {f"{tuning.ALL_BUT}{name}": f"all but: {SETTINGS[name]}" for name in settings}
    return [
        (label, by_mechanism[name], colour)
        for rows, colour in ((ladder, COLOURS[3]), (missing, COLOURS[1]))
        for name, label in rows.items()
        if name in by_mechanism
    ]


def _draw_ladder(axes: Axes, by_mechanism: Mapping[str, Measure]) -> None:
    rows = _rows(by_mechanism)
    mbps = [measure.value for _, measure, _ in rows]
    axes.barh(range(len(rows)), mbps, color=[colour for _, _, colour in rows], height=0.7)
    for index, value in enumerate(mbps):
        axes.annotate(
            f"{value:.4g}", (value, index), (3, 0), textcoords="offset points", va="center",
            fontsize=7,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xscale("log")
    # Room for the numbers
    axes.set_xlim(LEFT_PART * min(mbps), 6 * max(mbps))
    axes.grid(True, axis="x", color=RULE, linewidth=0.3)
