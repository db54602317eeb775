"""What programs did on a path, by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.report import program_overview
from farpath.report.program_overview import program_metrics
from tests.support.program_records import write_programs


def test_the_path_and_both_ends_of_a_connection_have_what_they_had_by_hand(
    tmp_path: FilePath,
) -> None:
    metrics = program_metrics(write_programs(tmp_path / "exec-one"))
    assert (metrics["pings"], metrics["pings_lost"], metrics["rtt_median_ms"]) == (10, 1, 164.0)
    assert metrics["queues"] == {
        "receiver": {"max_bytes": 15_140, "drops": 20},
        "sender": {"max_bytes": 30_280, "drops": 40},
    }
    client, server = metrics["connections"]
    assert (client["host"], client["acked_bytes"]) == ("sender", 100)
    assert (server["host"], server["port"], server["acked_bytes"]) == ("receiver", 80, 10_000_100)
    assert (server["first_s"], server["last_s"]) == (1.0, 10.0)
    assert (server["cwnd_max_packets"], server["retransmits"]) == (100, 10)
    assert (server["rtt_median_ms"], server["rtt_min_ms"]) == (165.0, 164.0)
    assert server["ca_state"] == "recovery"


def test_of_many_connections_those_that_sent_the_most_are_shown(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_overview, "MOST_CONNECTIONS", 1)
    record = write_programs(tmp_path / "exec-one")
    *_, connections = program_overview.program_overview(record)
    (row,) = connections.lines
    assert row[0] == "receiver"
    assert connections.note.endswith("1 that sent less are left out.")


def test_the_first_changes_of_ports_are_a_table_as_they_were_read_back(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_overview, "MOST_CHANGES", 2)
    record = write_programs(tmp_path / "exec-one")
    changes = [
        {"port": "s2-eth2", "at_s": 1.5, "done_s": 1.5, "rate_bps": 20_000_000},
        {"port": "s1-eth1", "at_s": 2.0, "done_s": 2.0, "delay_ms": 40.0},
        {"port": "s2-eth1", "at_s": 2.0, "done_s": 2.0, "delay_ms": 40.0},
    ]
    data = {**record.data, "readback": {"link_changes": changes}}
    changed = dataclasses.replace(record, data=data)
    _, _, table, _ = program_overview.program_overview(changed)
    assert table.lines == (("1.5", "s2-eth2", "20", "-"), ("2", "s1-eth1", "-", "40"))
    assert table.note == "1 later ones are left out."
