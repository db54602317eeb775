"""Tables as readers of their CSV files see them."""

from __future__ import annotations

import csv
import io

from farpath.report.tables import formats
from farpath.report.tables.formats import ResultTable


def numbers_of(of: ResultTable) -> list[dict[str, str]]:
    """The rows of a table's CSV file, by their columns."""
    return list(csv.DictReader(io.StringIO(formats.as_csv(of))))
