"""The pages of a site: which file shows which run."""

from __future__ import annotations

from collections.abc import Mapping

from farpath.base.files import safe_name
from farpath.metrics.results import ResultSet

#: The address of the index, relative to a run's page.
TO_INDEX = "../index.html"
RUNS_DIR = "runs"
ASSETS_DIR = "assets"
FIGURES_DIR = "figures"
TABLES_DIR = "tables"


def file_names(campaign: ResultSet) -> Mapping[str, str]:
    """Return the file name of each run's page, by record; all names are different."""
    names: dict[str, str] = {}
    used_names: set[str] = set()
    for run in campaign.runs:
        stacks = run.stack.replace(" + ", "-")
        stem = name = f"{safe_name(run.path)}-{safe_name(stacks)}-seed{run.seed}"
        count = 1
        while name.lower() in used_names:
            count += 1
            name = f"{stem}-{count}"
        used_names.add(name.lower())
        names[run.record] = f"{name}.html"
    return names
