"""The selection of an ablation's results: the reader's own report, else what farpath ships."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.project import EXPERIMENTS, experiment_folder
from farpath.report.table import Table

from .analysis import ABLATION, ABLATION_FILE, Ablation, read_ablation
from .tables import ablation_tables, scope

#: The reports below results/<experiment> in the order in which they are taken, with their commands.
#: One of regions of another length has that behind its name.
REPORTS = {
    "report": "make campaign EXPERIMENT=ablation",
    "report-quick": "make campaign EXPERIMENT=ablation SET=quick",
}


@dataclass(frozen=True, eq=False)
class AblationSelection:
    """An ablation and its origin."""

    origin: str
    ablation: Ablation

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its tables, in their order."""
        return ablation_tables(self.ablation)

    @property
    def sentence(self) -> str:
        """Origin, count of runs and mechanisms, and what they are of."""
        runs, mechanisms = len(self.ablation.runs), len(self.ablation.results)
        return f"{self.origin}: {runs} runs, {mechanisms} mechanisms, {scope(self.ablation)}."

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Print the sentence in a notebook."""
        printer.text(self.sentence)


def ablation_to_show(
    results: FilePath | str, experiments: FilePath = EXPERIMENTS, name: str = ABLATION
) -> AblationSelection:
    """Select the reader's own report of an ablation below ``results``, else the shipped one.

    Of own ones the whole is taken first, then one of another region, then quick ones. Raises
    BadInputError naming the command to make one, if there is none.
    """
    for file, command in _reports(FilePath(results) / name):
        return AblationSelection(f"Your own runs, of '{command}'", read_ablation(file))
    shipped = experiment_folder(name, experiments) / ABLATION_FILE
    if not shipped.is_file():
        raise BadInputError(
            problem=f"there are no results to show of {name}, neither in "
            f"{FilePath(results) / name} nor in {shipped}",
            remedy="make some with 'make campaign EXPERIMENT=ablation SET=quick', which "
            "takes half an hour, or 'make campaign EXPERIMENT=ablation', which "
            "takes hours",
        )
    return AblationSelection("The runs that farpath made", read_ablation(shipped))


def _reports(folder: FilePath) -> Iterator[tuple[FilePath, str]]:
    """Yield the reports of an ablation with their commands, in the order of ``REPORTS``."""
    for name, command in REPORTS.items():
        others = tuple(other for other in REPORTS if other != name and other.startswith(name))
        for report in (folder / name, *sorted(folder.glob(f"{name}-*"))):
            file, region = report / ABLATION_FILE, report.name.removeprefix(name).removeprefix("-")
            if file.is_file() and not report.name.startswith(others):
                yield file, f"{command} REGION={region}" if region else command
