"""Records: written whole, read back equal, refused when damaged."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import struct
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from farpath.base import frames
from farpath.base.errors import BadInputError, CheckFailedError, LabFailedError, MachineLacksError
from farpath.mechanisms.trace import trace_table
from farpath.metrics.run import summarise
from farpath.record.description import write_description
from farpath.record.record import (
    COLUMNS,
    FORMAT_VERSION,
    NEW_IN_3,
    Record,
    Samples,
    fingerprint,
    load_record,
    of_each_interval,
    samples_from_raw,
    write_record,
)
from farpath.report.html.run_page import render_page
from farpath.spec.era import MODERN
from farpath.spec.plan import Plan
from farpath.tools.iperf3 import SenderInterval

#: What plans of the first format lack.
NEW_IN_2 = ("stacks", "era")


def test_samples_pair_what_was_taken_with_the_senders_state(samples: Samples) -> None:
    rows = samples.flows[samples.flows["flow"] == "flow2"]
    first, last = rows.iloc[0], rows.iloc[-1]
    assert first["t_s"] == 6.25  # flow 2 starts at 5 s, its connection begins 0.25 s later
    assert first["interval_s"] == 1.0
    assert first["throughput_bps"] == first["sent_bps"] == 200e6
    assert (first["cwnd_bytes"], first["rtt_us"]) == (1_000_000, 164_000)
    assert last["t_s"] == pytest.approx(35.45)
    assert last["interval_s"] == pytest.approx(0.2)
    assert last["throughput_bps"] == pytest.approx(40e6)  # 1 MB in 0.2 s
    assert (last["cwnd_bytes"], last["sent_bps"]) == (0, 0)


def test_pings_are_timed_by_when_they_were_sent(samples: Samples) -> None:
    assert samples.ping["t_s"].tolist()[:5] == pytest.approx(
        [0, 1.001, 2.001, 3.003, 4.004], abs=1e-6
    )
    assert samples.ping["rtt_ms"].isna().tolist()[:4] == [False, False, True, False]


def test_tables_have_the_documented_columns(samples: Samples) -> None:
    for name, columns in COLUMNS.items():
        assert list(samples.frame(name).columns) == list(columns)


@pytest.mark.parametrize(
    "name", ["flow1-sender.out", "flow2-receiver.out", "ping.out", "queue.txt"]
)
def test_a_missing_or_truncated_raw_file_is_named(raw_dir: FilePath, plan: Plan, name: str) -> None:
    text = (raw_dir / name).read_text()
    (raw_dir / name).write_text(text[: len(text) - 70])
    with pytest.raises(LabFailedError, match=name):
        samples_from_raw(raw_dir, plan)
    (raw_dir / name).unlink()
    with pytest.raises(LabFailedError, match=name):
        samples_from_raw(raw_dir, plan)


def test_a_flow_that_ended_early_is_a_failed_lab(raw_dir: FilePath, plan: Plan) -> None:
    file = raw_dir / "flow1-sender.out"
    report = json.loads(file.read_text())
    report["intervals"] = report["intervals"][:10]
    file.write_text(json.dumps(report))
    with pytest.raises(LabFailedError, match="flow1 sent in 10 intervals of 40"):
        samples_from_raw(raw_dir, plan)


def test_a_record_is_read_back_equal(record: Record, samples: Samples, plan: Plan) -> None:
    loaded = load_record(record.directory)
    assert loaded.data == record.data
    assert loaded.plan == plan
    for name in COLUMNS:
        pd.testing.assert_frame_equal(loaded.samples.frame(name), samples.frame(name))
    assert loaded.fingerprint == fingerprint(samples)
    assert loaded.data["warnings"] == ["take care"]


def test_a_record_and_its_page_name_the_kernel_of_each_side(record: Record) -> None:
    assert not record.has_kernels_by_side
    assert "Each side had its own kernel" not in render_page(record)
    kernels = {"receiver": {"release": "7.3.4"}, "sender": {"release": "7.2.12"}}
    provenance = {**record.data["provenance"], "kernel": kernels["sender"], "kernels": kernels}
    divided = Record(record.directory, {**record.data, "provenance": provenance})
    assert divided.kernel == "sender 7.2.12, receiver 7.3.4"
    assert f"(<code>--kernel</code>): {divided.kernel}." in render_page(divided)


def test_raw_output_is_kept_compressed_and_without_a_date(
    record: Record, raw_dir: FilePath
) -> None:
    packed = (record.directory / "raw" / "ping.out.gz").read_bytes()
    assert gzip.decompress(packed) == (raw_dir / "ping.out").read_bytes()
    assert packed[4:8] == bytes(4)
    packed_files = {file.name for file in (record.directory / "raw").iterdir()}
    assert packed_files == {f"{file.name}.gz" for file in raw_dir.iterdir()}


def test_a_fingerprint_is_the_documented_hash_of_the_documented_bytes() -> None:
    samples = Samples(
        flows=pd.DataFrame(
            [("flow1", 1.0, 0.5, 8.0, 9.0, 0, 10, 20, 30)], columns=list(COLUMNS["flows"])
        ),
        ping=pd.DataFrame([(0.0, float("nan")), (1.0, -0.0)], columns=["t_s", "rtt_ms"]),
        queue=pd.DataFrame([(0.0, 1, 2, 3)], columns=list(COLUMNS["queue"])),
    )
    missing = bytes.fromhex("000000000000f87f")
    documented = b"".join(
        [
            b"flows 1\nflow str\nflow1\n",
            b"t_s float\n"
            + struct.pack("<d", 1)
            + b"interval_s float\n"
            + struct.pack("<d", 0.5)
            + b"throughput_bps float\n"
            + struct.pack("<d", 8)
            + b"sent_bps float\n"
            + struct.pack("<d", 9),
            b"retransmits int\n"
            + struct.pack("<q", 0)
            + b"cwnd_bytes int\n"
            + struct.pack("<q", 10),
            b"snd_wnd_bytes int\n"
            + struct.pack("<q", 20)
            + b"rtt_us int\n"
            + struct.pack("<q", 30),
            b"ping 2\nt_s float\n" + struct.pack("<2d", 0, 1),
            b"rtt_ms float\n" + missing + struct.pack("<d", 0),
            b"queue 1\nt_s float\n" + struct.pack("<d", 0),
            b"backlog_bytes int\n" + struct.pack("<q", 1),
            b"backlog_packets int\n" + struct.pack("<q", 2) + b"drops int\n" + struct.pack("<q", 3),
        ]
    )
    assert fingerprint(samples) == hashlib.sha256(documented).hexdigest()


def test_a_fingerprint_changes_with_any_value(samples: Samples) -> None:
    before = fingerprint(samples)
    for name, columns in COLUMNS.items():
        for column in columns:
            frame = samples.frame(name).copy()
            values = frame[column].tolist()
            frame[column] = ["flow9" if column == "flow" else values[0] + 1, *values[1:]]
            changed = Samples(**{n: samples.frame(n) for n in COLUMNS} | {name: frame})
            assert fingerprint(changed) != before, column


def test_a_changed_sample_is_noticed(record: Record, samples: Samples) -> None:
    frame = samples.ping.copy()
    frame["rtt_ms"] += 1e-9
    frame.to_parquet(record.directory / "ping.parquet", index=False)
    with pytest.raises(CheckFailedError, match="fingerprint"):
        load_record(record.directory)
    unverified = load_record(record.directory, verify=False)
    with pytest.raises(CheckFailedError, match="fingerprint"):
        _ = unverified.samples


@pytest.mark.parametrize("content", [b"", b"PAR1 nonsense"])
def test_a_damaged_table_is_noticed(record: Record, content: bytes) -> None:
    (record.directory / "flows.parquet").write_bytes(content)
    with pytest.raises(CheckFailedError, match=r"flows\.parquet"):
        load_record(record.directory)


@pytest.mark.parametrize("name", ["record.json", "queue.parquet"])
def test_a_half_made_record_is_refused(record: Record, name: str) -> None:
    (record.directory / name).unlink()
    with pytest.raises(BadInputError, match=f"not a complete record, it lacks {name}"):
        load_record(record.directory)


def test_a_missing_directory_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="is not a directory"):
        load_record(tmp_path / "none")


def _changed(data: Any, at: list[str], value: object) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(data))
    place: Any = changed
    for key in at[:-1]:
        place = place[key]
    assert place.get(at[-1]) != value
    place[at[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (["plan", "path", "buffer_bytes"], 20_000_000),
        (["plan", "path", "title"], "another path"),
        (["plan", "seed"], 7),
        (["readback", "before"], {"parameters": {}, "more": 1}),
        (["provenance", "kernel"], {"release": "9.9.9"}),
        (["warnings"], ["all is well"]),
    ],
)
def test_what_a_record_says_beside_its_samples_is_covered_by_a_hash(
    record: Record, at: list[str], value: object
) -> None:
    file = record.directory / "record.json"
    assert load_record(record.directory).data == json.loads(file.read_text())
    changed = _changed(json.loads(file.read_text()), at, value)
    file.write_text(json.dumps(changed))
    message = "record.json: its description_sha256 is not that of what it says: the record was"
    for verify in (True, False):
        with pytest.raises(CheckFailedError, match=message):
            load_record(record.directory, verify=verify)
    # Records that were made before there was such a hash are read as they are
    del changed["description_sha256"]
    file.write_text(json.dumps(changed))
    load_record(record.directory)


def test_a_table_with_more_rows_than_its_plan_allows_is_not_read(record: Record) -> None:
    file = record.directory / "ping.parquet"
    many = pa.table({"t_s": [1.0] * 2_000_000, "rtt_ms": [2.0] * 2_000_000})
    parquet.write_table(many, file)
    assert file.stat().st_size < 100_000
    with pytest.raises(CheckFailedError, match="has 2,000,000 rows, and its plan allows"):
        load_record(record.directory)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1.0] * 5_000_000], pa.list_(pa.float64())),
        pa.array(["x" * 1_000_000]),
        pa.array([1], pa.int32()),
        pa.array([{"a": 1.0}]),
    ],
)
def test_a_column_of_another_type_or_size_is_not_read(record: Record, column: Any) -> None:
    file = record.directory / "ping.parquet"
    parquet.write_table(pa.table({"t_s": column, "rtt_ms": pa.array([2.0])}), file)
    with pytest.raises(CheckFailedError, match="the record was changed; repeat the run"):
        load_record(record.directory)


def test_a_long_name_in_a_table_is_not_read(record: Record) -> None:
    file = record.directory / "flows.parquet"
    flows = record.samples.flows.head(1).assign(flow="x" * 1_000_000)
    flows.to_parquet(file, index=False)
    with pytest.raises(CheckFailedError, match="column flow is of another type, or larger than"):
        load_record(record.directory)


def test_a_table_that_needs_more_memory_than_there_is_is_not_read(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "FEW_ROWS", 0)
    monkeypatch.setattr(frames, "available_bytes", lambda: 1000)
    with pytest.raises(MachineLacksError, match="rows need 0 MiB of memory, and 0 are free"):
        load_record(record.directory)


def test_a_table_that_is_missing_or_no_regular_file_is_said_to_be(record: Record) -> None:
    data = {**record.data, "trace": {"fingerprint": "0" * 64}}
    write_description(record.directory / "record.json", data)
    with pytest.raises(CheckFailedError, match=r"trace\.parquet: the record lacks this table"):
        _ = load_record(record.directory).trace
    os.mkfifo(record.directory / "trace.parquet")
    with pytest.raises(CheckFailedError, match=r"trace\.parquet: .* it is no regular file"):
        _ = load_record(record.directory).trace


def test_a_newer_format_is_refused(record: Record) -> None:
    file = record.directory / "record.json"
    file.write_text(json.dumps({**record.data, "format_version": FORMAT_VERSION + 1}))
    with pytest.raises(BadInputError, match=r"format version \d+.*newer farpath"):
        load_record(record.directory)


def test_a_record_of_the_first_format_is_read_and_its_hosts_are_todays(record: Record) -> None:
    plan = {name: value for name, value in record.data["plan"].items() if name not in NEW_IN_2}
    plan["settings"] = {k: v for k, v in plan["settings"].items() if k != "delayed_ack"}
    old_columns = [name for name in COLUMNS["flows"] if name not in NEW_IN_3]
    record.samples.flows[old_columns].to_parquet(record.directory / "flows.parquet")
    old = {
        **record.data,
        "format_version": 1,
        "plan": plan,
        "fingerprint": fingerprint(record.samples, 1),
    }
    write_description(record.directory / "record.json", old)
    read = load_record(record.directory)
    # A row was as long as the time since the one before, and what was sent is unknown.
    flow1 = read.samples.flows[read.samples.flows["flow"] == "flow1"]
    assert flow1["interval_s"].iloc[1:].sum() == pytest.approx(39.2)
    assert flow1["sent_bps"].isna().all()
    assert summarise(read.samples, read.plan).sent_stability is None
    assert read.plan.era == MODERN
    assert read.plan.stacks == ()
    assert read.plan.schedule == record.plan.schedule
    assert "htcp" in render_page(read)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format_version": 1}'])
def test_a_damaged_description_is_refused(record: Record, text: str) -> None:
    (record.directory / "record.json").write_text(text)
    with pytest.raises(BadInputError, match=r"record\.json"):
        load_record(record.directory)


def test_a_record_is_never_written_over_another(
    record: Record, samples: Samples, plan: Plan, raw_dir: FilePath
) -> None:
    with pytest.raises(BadInputError, match="not empty"):
        write_record(record.directory, plan, samples, {}, {}, [], raw_dir)


def test_a_record_keeps_its_options_as_typed_and_they_are_no_part_of_the_fingerprint(
    record: Record, samples: Samples, plan: Plan, raw_dir: FilePath, tmp_path: FilePath
) -> None:
    typed = {"rtt": "50ms", "buffer": "2xBDP"}
    place = tmp_path / "typed"
    written = write_record(
        *(place, plan, samples, record.data["provenance"], record.data["readback"], [], raw_dir),
        request=typed,
    )
    again = load_record(place)
    assert again.request == typed
    assert record.request is None
    assert written.fingerprint == again.fingerprint == record.fingerprint


def test_a_trace_is_read_back_equal_and_is_no_part_of_the_fingerprint(
    traced: Record, tmp_path: FilePath, tracing: Plan
) -> None:
    again = load_record(traced.directory)
    assert again.trace is not None
    assert trace_table.TABLE.fingerprint(again.trace) == traced.data["trace"]["fingerprint"]
    assert len(again.trace) == 996 + 496
    # Its samples are in the table, and not once more among the raw output
    assert list((traced.directory / "raw").iterdir()) == []
    plain = write_record(
        tmp_path / "plain", tracing, again.samples, {}, {}, [], tmp_path / "traced-raw"
    )
    assert plain.fingerprint == traced.fingerprint
    assert plain.trace is None
    assert "trace" not in plain.data


def test_a_changed_trace_is_refused(traced: Record) -> None:
    file = traced.directory / "trace.parquet"
    frame = load_record(traced.directory).trace
    assert frame is not None
    frame["cwnd_packets"] += frame.index == 7
    frame.to_parquet(file)
    with pytest.raises(CheckFailedError, match="the record was changed"):
        _ = load_record(traced.directory).trace
    file.unlink()
    with pytest.raises(CheckFailedError, match="the record was changed"):
        _ = load_record(traced.directory).trace


def test_an_interval_as_long_as_several_stands_for_each_of_them() -> None:
    # What iperf3 printed of a flow whose control connection waited for a lost packet
    ends_s = [3.5099, 4.0, 5.0, 5.99, 7.0003]
    printed = [
        SenderInterval(start_s, end_s, 1000, 2, 0, 0, 0)
        for start_s, end_s in pairwise([0.0, *ends_s])
    ]
    each = of_each_interval(printed, 1.0)
    assert [interval.end_s for interval in each] == [*[3.5099] * 3, *ends_s[1:]]
    assert [interval.retransmits for interval in each] == [0, 0, 2, 2, 2, 2, 2]
