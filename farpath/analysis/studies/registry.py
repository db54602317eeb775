"""The registry of analyses: which module measures the runs of which experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path as FilePath

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
from farpath.analysis.studies.measure import MEASURES_FILE, Measure, RecordedRun, read_measures
from farpath.base.project import EXPERIMENTS
from farpath.planning.experiment import Experiment

#: The analyses by experiment, in the order of the experiment that combines all of them.
ANALYSES: Mapping[str, Callable[[Iterable[RecordedRun]], list[Measure]]] = {
    response.EXPERIMENT: response.measures,
    recovery.EXPERIMENT: recovery.measures,
    loss_utilisation.EXPERIMENT: loss_utilisation.measures,
    sharing.MTU_BIAS: sharing.mtu_bias,
    sharing.RTT_BIAS: sharing.rtt_bias,
    window_cap.EXPERIMENT: window_cap.measures,
    cbr_background.EXPERIMENT: cbr_background.measures,
    sharing.INTER_PROTOCOL: sharing.inter_protocol,
    parallel_streams.EXPERIMENT: parallel_streams.measures,
    tuning.EXPERIMENT: tuning.measures,
    udp.EXPERIMENT: udp.measures,
    outlook.EXPERIMENT: outlook.measures,
    end_hosts.EXPERIMENT: end_hosts.measures,
    cross_traffic.EXPERIMENT: cross_traffic.measures,
    disks.EXPERIMENT: disks.measures,
}
#: Those of experiments of the host lab, which is a machine of its own and runs one after another.
HOST_ANALYSES: Mapping[str, Callable[[Iterable[RecordedRun]], list[Measure]]] = {
    cpu_streams.EXPERIMENT: cpu_streams.measures,
}
ALL_ANALYSES = {**ANALYSES, **HOST_ANALYSES}


def experiment_with(name: str) -> str:
    """Return the experiment that makes an experiment's runs: itself, or that of all companions."""
    return name if name in HOST_ANALYSES else "companion"


def campaign_command(name: str, which: str = "") -> str:
    """Return the command of Make that makes a set of an experiment's runs."""
    words = ["make", "campaign", f"EXPERIMENT={experiment_with(name)}"]
    words += [f"SET={which}"] if which else []
    return " ".join([*words, *(["QEMU=1"] if name in HOST_ANALYSES else [])])


def is_ablation(experiment: Experiment) -> bool:
    """Whether an experiment's mechanisms are compared by their results in the paper's test.

    An experiment may also have mechanisms and an analysis of its own.
    """
    return bool(experiment.mechanisms) and experiment.name not in ALL_ANALYSES


def measures_of(runs: Sequence[RecordedRun]) -> tuple[Measure, ...]:
    """Return the measures of runs, experiment by experiment."""
    measures: list[Measure] = []
    for name, analysis in ALL_ANALYSES.items():
        measures += analysis(recorded for recorded in runs if recorded.run.experiment == name)
    return tuple(measures)


def shipped_measures(experiments: FilePath = EXPERIMENTS) -> tuple[Measure, ...]:
    """Return the measures of the records that the project ships, as far as there are any."""
    files = [experiments / name / MEASURES_FILE for name in ALL_ANALYSES]
    return tuple(measure for file in files if file.is_file() for measure in read_measures(file))
