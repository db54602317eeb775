"""Shipped records: smaller, and of the same samples."""

from __future__ import annotations

from pathlib import Path as FilePath

from farpath.campaign.reference import write_compact_record
from farpath.record.record import Record, load_record


def test_a_shipped_record_has_the_same_samples_in_less_space(
    record: Record, tmp_path: FilePath
) -> None:
    target = tmp_path / "slim"
    target.mkdir()
    write_compact_record(record, target, {"source_sha256": "told"})
    copy = load_record(target)
    assert copy.fingerprint == record.fingerprint
    assert copy.data["provenance"] == {**record.data["provenance"], "source_sha256": "told"}
    assert copy.data["plan"] == record.data["plan"]
    assert not (target / "raw").exists()
    sizes = [
        sum(file.stat().st_size for file in place.glob("*.parquet"))
        for place in (target, record.directory)
    ]
    assert sizes[0] < sizes[1]
