"""Figures of the companion experiments, from measures and from records of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import (
    cbr_background,
    cpu_streams,
    cross_traffic,
    disks,
    end_hosts,
    loss_utilisation,
    outlook,
    parallel_streams,
    recovery,
    response,
    sharing,
    tuning,
    udp,
    window_cap,
)
from farpath.analysis.studies.measure import Measure, RecordedRun, select_measures
from farpath.report.figures.studies.costs import draw_costs
from farpath.report.figures.studies.datagrams import draw_datagrams
from farpath.report.figures.studies.hosts import draw_hosts
from farpath.report.figures.studies.ladders import draw_tuning
from farpath.report.figures.studies.losses import draw_response, draw_utilisation
from farpath.report.figures.studies.single_flows import draw_outlook
from farpath.report.figures.studies.stacks import draw_stacks
from farpath.report.figures.studies.streams import draw_streams
from farpath.report.figures.studies.third_hosts import draw_completions, draw_cross_traffic
from farpath.report.figures.studies.throughputs import draw_biases, draw_window_cap
from farpath.report.figures.studies.transfers import draw_transfers
from farpath.report.figures.studies.windows import draw_cbr_windows, draw_recoveries

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Draws the figures of one experiment, given its name, its measures and its runs with records.
Draw = Callable[[str, Sequence[Measure], Sequence[RecordedRun]], Iterator[tuple[str, "Figure"]]]


def _from_measures(draw: Callable[[Sequence[Measure]], Figure], quantity: str = "") -> Draw:
    """Return the drawing of one figure from all measures, or from those of a quantity."""

    def draw_measures(
        name: str, measures: Sequence[Measure], runs: Sequence[RecordedRun]
    ) -> Iterator[tuple[str, Figure]]:
        if chosen := select_measures(measures, quantity) if quantity else measures:
            yield name, draw(chosen)

    return draw_measures


def _from_runs(draw: Callable[[Sequence[RecordedRun]], Figure]) -> Draw:
    """Return the drawing of one figure from all runs."""

    def draw_runs(
        name: str, measures: Sequence[Measure], runs: Sequence[RecordedRun]
    ) -> Iterator[tuple[str, Figure]]:
        if runs:
            yield name, draw(runs)

    return draw_runs


def _biases(
    name: str, measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    if runs:
        yield name, draw_biases(measures, runs)


def _recoveries(
    name: str, measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw a figure for each path."""
    by_path: dict[str, list[RecordedRun]] = {}
    for recorded in runs:
        by_path.setdefault(recorded.run.request.path or "", []).append(recorded)
    for path, path_runs in by_path.items():
        yield f"{name}-{path}", draw_recoveries(path_runs)


def _cross_traffic(
    name: str, measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw what long flows get, and how long short flows take."""
    if select_measures(measures, cross_traffic.RENO):
        yield name, draw_cross_traffic(measures)
    if select_measures(measures, cross_traffic.MEDIAN):
        yield f"{name}-short-flows", draw_completions(measures)


#: The figures of each experiment, in the order of the experiment that combines most of them.
FIGURES: Mapping[str, Draw] = {
    response.EXPERIMENT: _from_measures(draw_response, response.WINDOW),
    recovery.EXPERIMENT: _recoveries,
    loss_utilisation.EXPERIMENT: _from_measures(draw_utilisation),
    sharing.MTU_BIAS: _biases,
    sharing.RTT_BIAS: _biases,
    window_cap.EXPERIMENT: _from_runs(draw_window_cap),
    cbr_background.EXPERIMENT: _from_runs(draw_cbr_windows),
    sharing.INTER_PROTOCOL: _from_measures(draw_stacks),
    parallel_streams.EXPERIMENT: _from_measures(draw_streams),
    tuning.EXPERIMENT: _from_measures(draw_tuning),
    udp.EXPERIMENT: _from_measures(draw_datagrams),
    outlook.EXPERIMENT: _from_measures(draw_outlook),
    end_hosts.EXPERIMENT: _from_measures(draw_hosts),
    cross_traffic.EXPERIMENT: _cross_traffic,
    disks.EXPERIMENT: _from_measures(draw_transfers),
    cpu_streams.EXPERIMENT: _from_measures(draw_costs),
}


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw every figure that there are measures or runs for; yield it with its file's stem."""
    for name, draw in FIGURES.items():
        yield from draw(
            name,
            [measure for measure in measures if measure.experiment == name],
            [recorded for recorded in runs if recorded.run.experiment == name],
        )
