"""Measures as a file."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from experiments.recovery import analysis as recovery
from farpath.base.errors import BadInputError
from farpath.metrics.measures import read_measures, select_measures, write_measures
from tests.support.study_measures import measure, recoveries


def test_measures_are_written_and_read_back(tmp_path: FilePath) -> None:
    known = [*recoveries(), measure("x", "y", float("nan"), published="rec-1", note="so")]
    write_measures(known, tmp_path / "m.json")
    measures = read_measures(tmp_path / "m.json")
    assert measures[:3] == tuple(known[:3])
    assert measures[3].value != measures[3].value
    again = (tmp_path / "m.json").read_bytes()
    write_measures(measures, tmp_path / "m.json")
    assert (tmp_path / "m.json").read_bytes() == again


@pytest.mark.parametrize("text", ["", "[]", '{"format_version":1}', '{"measures":[]}'])
def test_a_damaged_file_of_measures_is_named(tmp_path: FilePath, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(BadInputError, match=r"m\.json: is (damaged|not JSON)"):
        read_measures(tmp_path / "m.json")


def test_measures_of_another_version_and_none_at_all_are_refused(tmp_path: FilePath) -> None:
    (tmp_path / "m.json").write_text('{"format_version":9,"measures":[]}')
    with pytest.raises(BadInputError, match="version 9"):
        read_measures(tmp_path / "m.json")
    with pytest.raises(BadInputError, match="cannot be read"):
        read_measures(tmp_path / "nothing.json")


def test_measures_are_found_by_what_they_are_about() -> None:
    assert [m.value for m in select_measures(recoveries(), recovery.TIME, stack="hstcp_2004")] == [
        19.0
    ]
    assert select_measures(recoveries(), recovery.TIME, stack="udt") == []
