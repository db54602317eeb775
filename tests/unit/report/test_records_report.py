"""The report of an experiment's records: what is in the way of its parts."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base import project
from farpath.base.errors import BadInputError
from farpath.report.records_report import check_report


def test_a_report_takes_the_place_of_no_folder_of_somebodys_own(tmp_path: FilePath) -> None:
    check_report(tmp_path / "new")
    (tmp_path / "figures").mkdir()
    with pytest.raises(BadInputError, match="holds figures, which farpath has not made"):
        check_report(tmp_path)
    (tmp_path / project.REPORT_MARK).write_text("")
    check_report(tmp_path)
