"""Figures of the companion experiments, from measures and from records of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farpath.analysis.studies import (
    cbr_background,
    cross_traffic,
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
from farpath.report.figures.studies.datagrams import draw_datagrams
from farpath.report.figures.studies.hosts import draw_hosts
from farpath.report.figures.studies.ladders import draw_tuning
from farpath.report.figures.studies.losses import draw_response, draw_utilisation
from farpath.report.figures.studies.matrices import draw_streams
from farpath.report.figures.studies.stacks import draw_stacks
from farpath.report.figures.studies.streams import draw_outlook
from farpath.report.figures.studies.third_hosts import draw_cross_traffic
from farpath.report.figures.studies.throughputs import draw_biases, draw_window_cap
from farpath.report.figures.studies.windows import draw_cbr_windows, draw_recoveries

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(
    measures: Sequence[Measure], runs: Sequence[RecordedRun]
) -> Iterator[tuple[str, Figure]]:
    """Draw every figure that there are measures or runs for; yield it with its file's stem."""

    def measured(experiment: str) -> list[Measure]:
        return [measure for measure in measures if measure.experiment == experiment]

    def runs_of(experiment: str) -> list[RecordedRun]:
        return [recorded for recorded in runs if recorded.run.experiment == experiment]

    if windows := select_measures(measured(response.EXPERIMENT), response.WINDOW):
        yield response.EXPERIMENT, draw_response(windows)
    by_path: dict[str, list[RecordedRun]] = {}
    for recorded in runs_of(recovery.EXPERIMENT):
        by_path.setdefault(recorded.run.request.path or "", []).append(recorded)
    for path, path_runs in by_path.items():
        yield f"{recovery.EXPERIMENT}-{path}", draw_recoveries(path_runs)
    if utilisations := measured(loss_utilisation.EXPERIMENT):
        yield loss_utilisation.EXPERIMENT, draw_utilisation(utilisations)
    for experiment in (sharing.MTU_BIAS, sharing.RTT_BIAS):
        if pairs := runs_of(experiment):
            yield experiment, draw_biases(measured(experiment), pairs)
    if streams := runs_of(window_cap.EXPERIMENT):
        yield window_cap.EXPERIMENT, draw_window_cap(streams)
    if cbr_runs := runs_of(cbr_background.EXPERIMENT):
        yield cbr_background.EXPERIMENT, draw_cbr_windows(cbr_runs)
    if shared := measured(sharing.INTER_PROTOCOL):
        yield sharing.INTER_PROTOCOL, draw_stacks(shared)
    if streams_by_window := measured(parallel_streams.EXPERIMENT):
        yield parallel_streams.EXPERIMENT, draw_streams(streams_by_window)
    if steps := measured(tuning.EXPERIMENT):
        yield tuning.EXPERIMENT, draw_tuning(steps)
    if sent := measured(udp.EXPERIMENT):
        yield udp.EXPERIMENT, draw_datagrams(sent)
    if streams_and_stacks := measured(outlook.EXPERIMENT):
        yield outlook.EXPERIMENT, draw_outlook(streams_and_stacks)
    if hosts := measured(end_hosts.EXPERIMENT):
        yield end_hosts.EXPERIMENT, draw_hosts(hosts)
    if crossed := measured(cross_traffic.EXPERIMENT):
        yield cross_traffic.EXPERIMENT, draw_cross_traffic(crossed)
