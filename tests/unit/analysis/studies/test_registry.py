"""The list of studies."""

from __future__ import annotations

from farpath.analysis.studies.registry import ANALYSES
from farpath.planning.experiment import load_experiment


def test_the_companion_is_made_of_the_experiments_that_have_an_analysis() -> None:
    assert load_experiment("companion").parts == tuple(ANALYSES)
