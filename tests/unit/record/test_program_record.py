"""Program records: read back as they were written, refused when damaged."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, CheckFailedError
from farpath.base.frames import read_frame, typed_frame
from farpath.record.program_record import (
    CONNECTION_COLUMNS,
    ProgramRecord,
    load_program_record,
    program_records_in,
)
from tests.support.program_records import CLIENT, write_programs


@pytest.fixture
def programs(tmp_path: FilePath) -> ProgramRecord:
    return write_programs(tmp_path / "results" / "exec-one")


def test_a_record_is_read_back_with_its_commands_and_tables(programs: ProgramRecord) -> None:
    (programs.directory / "console.log").write_text("what the guest printed")
    loaded = load_program_record(programs.directory)
    assert loaded.programs.client == CLIENT
    assert (loaded.ending.status, loaded.ending.took_s) == (28, 10.0)
    assert loaded.plan.path.rtt_ms == 164
    assert loaded.fingerprint == programs.fingerprint
    assert len(loaded.tables["connections"]) == 20


def test_output_that_was_changed_fails_the_check(programs: ProgramRecord) -> None:
    (programs.directory / "client.out").write_text("0.1 s\n")
    with pytest.raises(CheckFailedError, match="the record was changed; run the command again"):
        load_program_record(programs.directory)


def test_commands_that_were_changed_fail_the_check(programs: ProgramRecord) -> None:
    file = programs.directory / "exec.json"
    data = json.loads(file.read_text())
    for changed in (
        {**data, "programs": {**data["programs"], "client": ["<img src=x>"]}},
        {**data, "readback": {"before": {}}},
        {**data, "provenance": {}},
    ):
        file.write_text(json.dumps(changed))
        with pytest.raises(CheckFailedError, match="its description_sha256 is not that of what"):
            load_program_record(programs.directory)
    del data["description_sha256"]
    file.write_text(json.dumps(data))
    load_program_record(programs.directory)


def test_a_table_of_programs_has_no_more_rows_than_their_time_allows(
    programs: ProgramRecord,
) -> None:
    file = programs.directory / "queue_back.parquet"
    queue = programs.tables["queue_back"]
    queue.loc[[0] * 100_000].to_parquet(file, index=False)
    with pytest.raises(CheckFailedError, match="has 100,000 rows, and its plan allows at most 1,1"):
        load_program_record(programs.directory)


def test_a_table_of_connections_without_any_is_read(tmp_path: FilePath) -> None:
    file = tmp_path / "connections.parquet"
    typed_frame(CONNECTION_COLUMNS, []).to_parquet(file, index=False)
    assert read_frame(file, CONNECTION_COLUMNS).empty


def test_a_damaged_record_is_refused_in_one_line(programs: ProgramRecord) -> None:
    file = programs.directory / "exec.json"
    data = json.loads(file.read_text())
    for damaged in ({}, {**data, "status": "0"}, {**data, "plan": {}}):
        file.write_text(json.dumps(damaged))
        with pytest.raises(BadInputError, match="run the command again"):
            load_program_record(programs.directory)
    (programs.directory / "queue.parquet").unlink()
    with pytest.raises(BadInputError, match="lacks queue"):
        load_program_record(programs.directory)


def test_records_in_the_making_are_not_found(programs: ProgramRecord) -> None:
    results = programs.directory.parent
    programs.directory.rename(results / ".part")
    write_programs(results / "exec-two")
    assert program_records_in(results) == [results / "exec-two"]
