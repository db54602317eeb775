"""Documents of shipped records: the pages whose tables follow from them, written anew.

``python -m tests.repository.shipped_documents`` is run after ``farpath reference``. It puts the
tables of what is shipped into docs/results, the sample output into docs/tutorials/first-run.md, and
pins the plan identities of the records. The tests of this folder compare both again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path as FilePath

from farpath.base.project import PROJECT, experiment_folder
from tests.repository.test_readme import (
    COMPANION,
    FIRST_RUN,
    MARK,
    MEASURED,
    SHIPPED_RESULTS,
    STUDY,
    companion_summary,
)
from tests.repository.test_shipped_records import PINNED, identities

#: The tables of the study's page, in their order.
STUDY_TABLES = ("path-means", "deviations", "agreement")
_SAMPLE = re.compile(
    r"(<!-- farpath show: (\S+) -->\n```\n).*?(\n```\n<!-- end of sample -->)", re.DOTALL
)
#: The width of the sample output in characters.
COLUMNS = "100"


def _farpath(*words: str) -> str:
    """Run farpath and return what it prints."""
    command = [sys.executable, "-m", "farpath", *words]
    environment = {**os.environ, "COLUMNS": COLUMNS}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def _study_tables() -> Mapping[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        _farpath("tables", "--format=markdown", f"--out={folder}")
        return {file.stem: file.read_text() for file in FilePath(folder).iterdir()}


def _put_tables(page: FilePath, tables: str, mark: str = MARK) -> None:
    """Replace what stands between a page's mark and the end of its tables."""
    between = re.compile(rf"(<!-- {mark} -->\n\n).*?(\n<!-- end of tables -->)", re.DOTALL)
    text, count = between.subn(lambda match: match[1] + tables + match[2], page.read_text())
    assert count == 1, page
    page.write_text(text)


def _put_sample() -> None:
    """Replace the sample output by table 1 of the record that the page names."""
    text = FIRST_RUN.read_text()
    found = _SAMPLE.search(text)
    assert found is not None
    (record,) = PROJECT.glob(f"experiments/seven_regions/records/{found[2]}-virtual-*")
    lines = [line.rstrip() for line in _farpath("show", "-v", str(record)).splitlines()]
    first = next(number for number, line in enumerate(lines) if line.startswith("Table 1"))
    last = next(
        number
        for number, line in enumerate(lines)
        if number > first and line.lstrip().startswith("deviation")
    )
    sample = "\n".join(lines[first : last + 1])
    FIRST_RUN.write_text(_SAMPLE.sub(lambda match: match[1] + sample + match[3], text))


def write_documents() -> None:
    """Write all pages and pins."""
    study = _study_tables()
    _put_tables(STUDY, "\n".join(study[name] for name in STUDY_TABLES))
    _put_sample()
    for name in MEASURED:
        table = _farpath("tables", "--format=markdown", f"--experiment={name}")
        _put_tables(experiment_folder(name) / "README.md", table)
    _put_tables(COMPANION, companion_summary())
    for name, file, mark in SHIPPED_RESULTS:
        folder = experiment_folder(name)
        options = ("--format=markdown", f"--experiment={name}", f"--measures={folder / file}")
        _put_tables(folder / "README.md", _farpath("tables", *options), mark)
    PINNED.write_text(json.dumps(identities(), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    write_documents()
