"""README and docs: what they say of the project's own campaigns is what these measured."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.analysis.studies.registry import ANALYSES, shipped_measures
from farpath.base.project import PROJECT
from tests.support.command_line import Farpath

README = PROJECT / "README.md"
COMPANION = PROJECT / "docs" / "companion-results.md"
MEASURED = {measure.experiment for measure in shipped_measures()}


@pytest.mark.parametrize("name", ["path-means", "deviations", "agreement"])
def test_the_readme_has_the_tables_of_the_shipped_campaign(
    farpath: Farpath, tmp_path: FilePath, name: str
) -> None:
    assert farpath("tables", "--format=markdown", f"--out={tmp_path}").status == 0
    table = (tmp_path / f"{name}.md").read_text()
    assert table in README.read_text(), f"put 'farpath tables --format=markdown' of {name} into it"


@pytest.mark.parametrize("name", [name for name in ANALYSES if name in MEASURED])
def test_the_companions_results_are_the_tables_of_what_is_shipped(
    farpath: Farpath, tmp_path: FilePath, name: str
) -> None:
    options = (f"--experiment={name}", "--format=markdown", f"--out={tmp_path}")
    assert farpath("tables", *options).status == 0
    table = (tmp_path / f"{name}.md").read_text()
    assert table in COMPANION.read_text(), f"put 'farpath tables --experiment={name}' into it"
