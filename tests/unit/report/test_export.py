"""Records in the formats of other programs."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import json
from pathlib import Path as FilePath
from typing import Any

import pandas as pd
import pytest

from farpath.record.record import Record
from farpath.report.export import export
from farpath.report.flent import flent_data
from tests.support.refusals import refused
from tests.support.synthetic_run import ALONE, SHARED


def test_csv_has_a_file_for_each_table_with_stacks_and_without_loss_of_digits(
    record: Record, tmp_path: FilePath
) -> None:
    files = {file.name: file for file in export(record, "csv", tmp_path / "out")}
    assert sorted(files) == ["record-flows.csv", "record-ping.csv", "record-queue.csv"]
    flows = list(csv.DictReader(files["record-flows.csv"].read_text().splitlines()))
    assert {row["stack"] for row in flows} == {"htcp"}
    assert [float(row["t_s"]) for row in flows] == list(record.samples.flows["t_s"])
    # The lost ping is an empty field
    assert files["record-ping.csv"].read_text().count(",\n") == 1


def test_no_name_of_a_record_becomes_a_formula_of_a_spreadsheet(
    record: Record, tmp_path: FilePath
) -> None:
    formula = '=HYPERLINK("http://nowhere","x")'
    flows = record.samples.flows.assign(flow=formula)
    forged = dataclasses.replace(record)
    vars(forged)["samples"] = dataclasses.replace(record.samples, flows=flows)
    files = {file.name: file for file in export(forged, "csv", tmp_path)}
    rows = list(csv.DictReader(files["record-flows.csv"].read_text().splitlines()))
    assert {row["flow"] for row in rows} == {f"'{formula}"}
    # A number that is below zero stays one
    assert min(float(row["t_s"]) for row in rows) == min(flows["t_s"])


def test_a_trace_is_a_table_too(traced: Record, tmp_path: FilePath) -> None:
    names = [file.name for file in export(traced, "csv", tmp_path)]
    assert "traced-trace.csv" in names


def test_json_has_plan_metrics_and_tables_as_plain_values(
    record: Record, tmp_path: FilePath
) -> None:
    (file,) = export(record, "json", tmp_path)
    data = json.loads(file.read_text())
    assert data["fingerprint"] == record.fingerprint
    assert data["metrics"]["pings_lost"] == 1
    assert data["tables"]["ping"]["rtt_ms"][2] is None
    assert len(data["tables"]["flows"]["t_s"]) == len(record.samples.flows)


@pytest.fixture
def flent(record: Record, tmp_path: FilePath) -> dict[str, Any]:
    """Flent's data file of the synthetic run."""
    (file,) = export(record, "flent", tmp_path)
    assert file.name == "record.flent.gz"
    data: dict[str, Any] = json.load(io.BytesIO(gzip.decompress(file.read_bytes())))
    return data


def test_flent_finds_the_series_of_its_test_of_several_uploads(flent: dict[str, Any]) -> None:
    assert (flent["version"], flent["metadata"]["NAME"]) == (4, "tcp_nup")
    series = {"TCP upload::1", "TCP upload::2", "TCP upload sum", "TCP upload avg"}
    assert set(flent["results"]) == {*series, "TCP upload fairness", "Ping (ms) ICMP"}
    points = len(flent["x_values"])
    assert points == 40
    assert {len(values) for values in flent["results"].values()} == {points}
    assert flent["results"]["TCP upload::1"][2] == pytest.approx(ALONE * 8 / 1e6)
    assert flent["results"]["TCP upload sum"][20] == pytest.approx(2 * SHARED * 8 / 1e6)
    assert flent["results"]["TCP upload fairness"][20] == pytest.approx(1)
    assert flent["results"]["Ping (ms) ICMP"][5] == 164


def test_flent_s_raw_values_are_the_samples_at_the_time_of_the_run(record: Record) -> None:
    provenance = {**record.data["provenance"], "recorded_at": "2026-11-24T10:00:00+00:00"}
    dated = dataclasses.replace(record, data={**record.data, "provenance": provenance})
    data = flent_data(dated)
    assert data["metadata"]["T0"] == "2026-11-24T10:00:00.000000Z"
    first = data["raw_values"]["TCP upload::1"][0]
    t0_s = pd.Timestamp("2026-11-24T10:00:00Z").timestamp()
    assert first["t"] - t0_s == pytest.approx(record.samples.flows["t_s"].iloc[0])
    assert first["tcp_rtt"] == 164
    assert len(data["raw_values"]["Ping (ms) ICMP"]) == len(record.samples.ping) - 1


def test_equal_records_give_equal_files(record: Record, tmp_path: FilePath) -> None:
    for form in ("csv", "flent", "json"):
        twice = [list(export(record, form, tmp_path / place)) for place in ("a", "b")]
        assert [file.read_bytes() for file in twice[0]] == [file.read_bytes() for file in twice[1]]


def test_an_unknown_format_is_refused(record: Record, tmp_path: FilePath) -> None:
    with refused("format", "xls"):
        list(export(record, "xls", tmp_path))
