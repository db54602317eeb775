"""Figures of the companion experiments, of measures and of runs with their records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import (
    cbr_background,
    loss_utilisation,
    recovery,
    response,
    sharing,
    window_cap,
)
from farpath.analysis.studies.measure import Measure, RecordedRun, select_measures
from farpath.report.figures.studies.losses import draw_response, draw_utilisation
from farpath.report.figures.studies.stacks import draw_stacks
from farpath.report.figures.studies.throughputs import draw_biases, draw_capped
from farpath.report.figures.studies.windows import draw_dips, draw_recoveries

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(
    measures: Sequence[Measure], done: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Every figure that there are measures or runs for, with its file's stem."""

    def measured(experiment: str) -> list[Measure]:
        return [measure for measure in measures if measure.experiment == experiment]

    def made(experiment: str) -> list[RecordedRun]:
        return [each for each in done if each.run.experiment == experiment]

    if windows := select_measures(measured(response.EXPERIMENT), response.WINDOW):
        yield response.EXPERIMENT, draw_response(windows)
    by_path: dict[str, list[RecordedRun]] = {}
    for each in made(recovery.EXPERIMENT):
        by_path.setdefault(each.run.asked.path or "", []).append(each)
    for path, found in by_path.items():
        yield f"{recovery.EXPERIMENT}-{path}", draw_recoveries(found)
    if used := measured(loss_utilisation.EXPERIMENT):
        yield loss_utilisation.EXPERIMENT, draw_utilisation(used)
    for experiment in (sharing.MTU_BIAS, sharing.RTT_BIAS):
        if pairs := made(experiment):
            yield experiment, draw_biases(measured(experiment), pairs)
    if streams := made(window_cap.EXPERIMENT):
        yield window_cap.EXPERIMENT, draw_capped(streams)
    if beside := made(cbr_background.EXPERIMENT):
        yield cbr_background.EXPERIMENT, draw_dips(beside)
    if shared := measured(sharing.INTER_PROTOCOL):
        yield sharing.INTER_PROTOCOL, draw_stacks(shared)
