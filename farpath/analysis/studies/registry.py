"""Analyse: which module tells what an experiment's runs measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path as FilePath

from farpath.analysis.studies import (
    cbr_background,
    loss_utilisation,
    recovery,
    response,
    sharing,
    window_cap,
)
from farpath.analysis.studies.measure import MEASURES_FILE, Measure, RecordedRun, read_measures
from farpath.base.project import EXPERIMENTS

#: By experiment, in the order of the experiment that is made of all of them.
ANALYSES: Mapping[str, Callable[[Iterable[RecordedRun]], list[Measure]]] = {
    response.EXPERIMENT: response.measures,
    recovery.EXPERIMENT: recovery.measures,
    loss_utilisation.EXPERIMENT: loss_utilisation.measures,
    sharing.MTU_BIAS: sharing.mtu_bias,
    sharing.RTT_BIAS: sharing.rtt_bias,
    window_cap.EXPERIMENT: window_cap.measures,
    cbr_background.EXPERIMENT: cbr_background.measures,
    sharing.INTER_PROTOCOL: sharing.inter_protocol,
}


def measures_of(done: Sequence[RecordedRun]) -> tuple[Measure, ...]:
    """What runs measure, experiment by experiment."""
    found: list[Measure] = []
    for name, analysis in ANALYSES.items():
        found += analysis(each for each in done if each.run.experiment == name)
    return tuple(found)


def shipped_measures(experiments: FilePath = EXPERIMENTS) -> tuple[Measure, ...]:
    """What the records measure that the project ships; nothing of experiments without any."""
    files = [experiments / name / MEASURES_FILE for name in ANALYSES]
    return tuple(measure for file in files if file.is_file() for measure in read_measures(file))
