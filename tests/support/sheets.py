"""Tables as readers of their CSV files see them."""

from __future__ import annotations

import csv
import io

from farpath.report import table as formats
from farpath.report.table import Table


def numbers_of(of: Table) -> list[dict[str, str]]:
    """The rows of a table's CSV file, by their columns."""
    return list(csv.DictReader(io.StringIO(formats.as_csv(of))))
