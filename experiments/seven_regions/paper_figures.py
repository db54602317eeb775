"""Figures 1 to 5 of the paper: the regions, and one run each of Reno, H-TCP, FAST and UDT.

Source: Cottrell et al., *Characterization and Evaluation of TCP and UDP-based Transport on Real
Networks*, SLAC, 2005, sections III.A and IV.A.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.metrics.results import ResultSet, RunSummary
from farpath.metrics.run import SMOOTHING_S
from farpath.record.record import load_record
from farpath.report.figures.run_over_time import draw, title
from farpath.report.figures.save import FORMATS, save
from farpath.report.figures.stack_colours import hatch_of, mixed, shades
from farpath.report.figures.style import FULL_IN, QUIET, RULE, print_style
from farpath.spec.schedule import seven_regions

from .paper_stacks import runs_of
from .published import PUBLISHED_PATH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The region of the published runs, in s.
REGION_S = 120.0
REGIONS_FIGURE = 1
REGIONS_CAPTION = (
    "Figure 1: the seven regions: four flows join one by one, and the last to join leaves first"
)


@dataclass(frozen=True)
class RunFigure:
    """One of the paper's figures of a run: its number, and the paper's name of the stack."""

    number: int
    stack: str

    @property
    def caption(self) -> str:
        """The caption of the figure."""
        return (
            f"Figure {self.number}: throughput and ping RTT of four {self.stack} flows joining "
            "and leaving, SLAC to CERN"
        )


RUN_FIGURES = (
    RunFigure(2, "Reno"),
    RunFigure(3, "HTCP"),
    RunFigure(4, "Fast-TCP"),
    RunFigure(5, "UDTv2"),
)


def run_of_figure(campaign: ResultSet, figure: RunFigure) -> RunSummary | None:
    """Return the run that a figure shows, or None: on the paper's path the smallest seed's."""
    runs = runs_of(campaign, PUBLISHED_PATH, figure.stack)
    return min(runs, key=lambda run: run.seed, default=None)


def captions(campaign: ResultSet) -> dict[int, str]:
    """Return the caption of each figure that can be drawn, by its number."""
    figures = (figure for figure in RUN_FIGURES if run_of_figure(campaign, figure) is not None)
    return {
        REGIONS_FIGURE: REGIONS_CAPTION,
        **{figure.number: figure.caption for figure in figures},
    }


def draw_regions(hatched: bool = False) -> Figure:
    """Draw figure 1: which flows are present in which region of the schedule."""
    from matplotlib.figure import Figure

    schedule = seven_regions("-", REGION_S)
    with print_style():
        figure = Figure(figsize=(FULL_IN[0], 2.8), layout="constrained")
        axes = figure.subplots()
        greys = [mixed(QUIET, shade) for shade in shades(len(schedule.flows))]
        for number, flow in enumerate(schedule.flows):
            axes.broken_barh(
                [(flow.start_s / 60, (flow.stop_s - flow.start_s) / 60)], (number + 0.12, 0.76),
                facecolor=greys[number], hatch=hatch_of(number) if hatched else "",
                edgecolor="white", linewidth=0,
            )  # fmt: skip
            axes.text(
                schedule.duration_s / 120, number + 0.5, f"flow {number + 1}", ha="center",
                va="center", fontweight="bold", bbox={"fc": "white", "ec": "none", "pad": 1.5},
            )  # fmt: skip
        for region in schedule.regions():
            axes.axvline(region.stop_s / 60, color=RULE, linewidth=0.6, linestyle="--", zorder=3)
            axes.text(
                (region.start_s + region.stop_s) / 120, 1.02, f"region {region.number}",
                ha="center", va="bottom", color=QUIET, transform=axes.get_xaxis_transform(),
            )  # fmt: skip
        axes.set_xlim(0, schedule.duration_s / 60)
        axes.set_ylim(0, len(schedule.flows))
        axes.set_xticks([edge / 60 for edge in range(0, int(schedule.duration_s) + 1, 120)])
        axes.set_yticks([])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_xlabel("time (min)")
        figure.suptitle(REGIONS_CAPTION, fontsize=10)
    return figure


def draw_run(directory: FilePath, figure: RunFigure, hatched: bool = False) -> Figure:
    """Draw one of figures 2 to 5 from a record's directory."""
    record = load_record(directory)
    heading = f"Figure {figure.number}: {figure.stack}\n{title(record.plan)}"
    return draw(record.samples, record.plan, hatched, heading, smoothing_s=SMOOTHING_S)


def file_stem(number: int) -> str:
    """Return the name of a figure's files without their suffix."""
    return f"figure-{number}"


def _saved(figure: Figure, out: FilePath, stem: str) -> Iterator[FilePath]:
    for ending in FORMATS:
        file = out / f"{stem}.{ending}"
        save(figure, file)
        yield file


def write_figures(
    campaign: ResultSet, records: FilePath, out: FilePath, hatched: bool = False
) -> Iterator[FilePath]:
    """Draw all figures that there are records of; yield each file once it is written.

    ``records``: the directory of the campaign's records.
    """
    yield from _saved(draw_regions(hatched), out, file_stem(REGIONS_FIGURE))
    for figure in RUN_FIGURES:
        run = run_of_figure(campaign, figure)
        if run is not None:
            run_figure = draw_run(records / run.record, figure, hatched)
            yield from _saved(run_figure, out, file_stem(figure.number))


def missing_figures(campaign: ResultSet) -> tuple[str, ...]:
    """Return one sentence for each figure that has no record."""
    return tuple(
        f"figure {figure.number} is not drawn: no record of {figure.stack} on path {PUBLISHED_PATH}"
        for figure in RUN_FIGURES
        if run_of_figure(campaign, figure) is None
    )
