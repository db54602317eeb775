"""Figures of experiments: ``figures`` in the figure.py of an experiment's folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.experiment_modules import FIGURE, experiment_module
from farpath.base.project import EXPERIMENTS
from farpath.metrics.measures import Measure
from farpath.runs.experiment import RecordedRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(
    measures: Sequence[Measure],
    runs: Sequence[RecordedRun],
    experiments: FilePath = EXPERIMENTS,
) -> Iterator[tuple[str, Figure]]:
    """Draw every figure that there are measures or runs for; yield it with its file's stem."""
    names = [measure.experiment for measure in measures]
    for name in dict.fromkeys([*names, *(recorded.run.experiment for recorded in runs)]):
        module = experiment_module(name, FIGURE, experiments)
        if module is not None:
            yield from module.figures(
                [measure for measure in measures if measure.experiment == name],
                [recorded for recorded in runs if recorded.run.experiment == name],
            )
