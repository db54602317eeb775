"""A clone of the project to run notebooks in: its records, lab and results are its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path as FilePath

from experiments.ablation.analysis import ABLATION, ABLATION_FILE
from experiments.seven_regions.selection import EXPERIMENT as PAPER
from farpath.base.project import BUILD, PROJECT
from farpath.metrics.measures import MEASURES_FILE
from farpath.planning.path_files import path_by_name
from farpath.record.record import records_in
from farpath.runs.status import shipped_records
from tests.support.campaigns import LABELS, write_seven_regions
from tests.support.processes import completed

PARTS = ("farpath", "topologies", "experiments", "images", "notebooks")
QUICK_REGION_S = 30.0


@dataclass(frozen=True)
class Clone:
    """A folder with what of the project notebooks need, and no lab."""

    folder: FilePath

    @property
    def records(self) -> FilePath:
        """The records that it ships."""
        return shipped_records(PAPER, self.folder / "experiments")

    @property
    def ablation(self) -> FilePath:
        """The file of the ablation that it ships."""
        return self.folder / "experiments" / ABLATION / ABLATION_FILE

    def link_lab(self) -> None:
        """Give it the lab that was built for the project."""
        (self.folder / "build").symlink_to(BUILD, target_is_directory=True)

    def ship(self) -> None:
        """Give it a quick set of records, synthetic ones."""
        for label in LABELS.values():
            record_dir = self.records / f"cern-{label}"
            write_seven_regions(record_dir, label, 1, QUICK_REGION_S, path=path_by_name("cern"))
        assert len(records_in(self.records)) == len(LABELS)

    def environment(self) -> dict[str, str]:
        """What makes a process, and the kernels that it starts, take this clone's package."""
        return {**os.environ, "PYTHONPATH": str(self.folder)}

    def run(self, *notebooks: str) -> subprocess.CompletedProcess[str]:
        """Execute notebooks with nbmake, as CI does; their outputs are kept in the files."""
        files = [str(self.folder / "notebooks" / f"{name}.ipynb") for name in notebooks]
        return completed(
            [
                *(sys.executable, "-m", "pytest", "-q", "--nbmake", "--overwrite"),
                *("--nbmake-timeout=600", "-p", "no:cacheprovider", *files),
            ],
            cwd=self.folder,
            env=self.environment(),
        )

    def text(self, notebook: str) -> str:
        """An executed notebook's file."""
        return (self.folder / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8")


def make_clone(folder: FilePath) -> Clone:
    """What of the project notebooks need, copied: no lab, no record."""
    for part in PARTS:
        ignored = shutil.ignore_patterns("records", MEASURES_FILE)
        shutil.copytree(PROJECT / part, folder / part, ignore=ignored)
    return Clone(folder)
