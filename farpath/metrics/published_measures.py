"""Numbers that documents print of an experiment: published.csv in the experiment's folder."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath

from farpath.base.project import EXPERIMENTS

#: The file in an experiment's folder.
FILE = "published.csv"


@dataclass(frozen=True)
class PublishedMeasure:
    """One number that a document prints of an experiment."""

    id: str
    source: str
    experiment: str
    condition: str
    quantity: str
    value: float
    unit: str


@cache
def published_measures(experiments: FilePath = EXPERIMENTS) -> dict[str, PublishedMeasure]:
    """Return every number that documents print of the experiments in a folder, by its id."""
    return {
        row["id"]: PublishedMeasure(**{**row, "value": float(row["value"])})  # type: ignore[arg-type]
        for file in sorted(experiments.glob(f"*/{FILE}"))
        for row in rows_of(file.read_text(encoding="utf-8"))
    }


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file's text, whose lines that begin with # are comments."""
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
