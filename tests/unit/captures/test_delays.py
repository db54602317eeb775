"""Two captures of a connection give one-way delays and lost packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.captures.delays import (
    Merged,
    Way,
    connection_between,
    merge,
    nearer_client,
    queueing_histogram,
    summary,
)
from farpath.captures.segments import Capture, read_segments
from tests.support.packet_files import CLIENT, SERVER, Sent, as_pcap, handshake

MS = 10**6
TO_SERVER_NS, TO_CLIENT_NS = 25 * MS, 15 * MS
AT_CLIENT = [
    *handshake(),
    *(Sent(41 * MS + n, True, 1 + n * 1000, 1, 1000) for n in range(5)),
    *(Sent(82 * MS + n, False, 1, 1001 + n * 1000) for n in range(5)),
]
LOST = 3 + 2


def at_server(clock_ns: int = 0) -> list[Sent]:
    there = [
        replace(
            one,
            time_ns=one.time_ns + clock_ns + (TO_SERVER_NS if one.from_client else -TO_CLIENT_NS),
        )
        for number, one in enumerate(AT_CLIENT)
        if number != LOST
    ]
    return sorted(there, key=lambda one: one.time_ns)


def _read(file: FilePath, sent: Sequence[Sent]) -> Capture:
    file.write_bytes(as_pcap(sent))
    return read_segments(file)


def _merge(tmp_path: FilePath, there: Sequence[Sent]) -> Merged:
    return merge(
        _read(tmp_path / "client", AT_CLIENT).segments, _read(tmp_path / "server", there).segments
    )


def test_delays_of_both_directions_and_the_lost_packet_are_found(tmp_path: FilePath) -> None:
    merged = _merge(tmp_path, at_server())
    assert set(merged.to_server.delays["delay_ns"]) == {TO_SERVER_NS}
    assert set(merged.to_client.delays["delay_ns"]) == {TO_CLIENT_NS}
    assert merged.to_server.lost["seq"].tolist() == [2001]
    assert summary(merged.to_server) == {
        "packets": 7, "lost": 1, "least_ms": 25, "median_ms": 25, "p99_ms": 25, "p999_ms": 25,
        "largest_ms": 25,
    }  # fmt: skip
    assert not merged.is_of_two_clocks
    assert not merged.has_other_sizes


def _way_of(delays_ms: list[float]) -> Way:
    delays_ns = [round(1e6 * delay_ms) for delay_ms in delays_ms]
    delays = pd.DataFrame({"time_ns": range(len(delays_ns)), "delay_ns": delays_ns})
    return Way(True, delays, delays.head(0), 0)


def test_a_histogram_has_every_packet_and_its_tail_is_that_of_the_delays() -> None:
    # Two packets in a thousand wait 80 ms, others up to 9.98 ms
    way = _way_of([25 + 0.01 * (number % 999) for number in range(4990)] + [105.0] * 10)
    histogram = queueing_histogram(way)
    assert sum(count for _, count in histogram) == 5000
    assert [bound for bound, _ in histogram] == sorted(bound for bound, _ in histogram)
    bound, count = histogram[-1]
    assert count == 10
    assert 80 < bound <= 80 * 1.1
    p999_ms = summary(way)["p999_ms"]
    assert p999_ms == pytest.approx(105.0)
    # Packets that never waited are below the first bound
    assert histogram[0] == (1e-3, 5)
    assert queueing_histogram(_way_of([])) == []


def test_what_leaves_after_the_other_capture_has_ended_is_not_lost(tmp_path: FilePath) -> None:
    there = [one for one in at_server() if not one.from_client or one.seq < 3001]
    assert summary(_merge(tmp_path, there).to_server)["lost"] == 0


def test_clocks_that_differ_are_seen_where_packets_arrive_before_they_leave(
    tmp_path: FilePath,
) -> None:
    merged = _merge(tmp_path, at_server(clock_ns=30 * MS))
    assert merged.is_of_two_clocks
    both_ns = merged.to_server.delays["delay_ns"][0] + merged.to_client.delays["delay_ns"][0]
    assert both_ns == TO_SERVER_NS + TO_CLIENT_NS


def test_segments_that_were_joined_on_the_way_are_told(tmp_path: FilePath) -> None:
    there = at_server()
    first = there.index(next(one for one in there if one.length))
    joined = [*there[:first], replace(there[first], length=5000)]
    assert _merge(tmp_path, joined).has_other_sizes


def test_the_capture_of_the_client_is_the_one_in_which_the_handshake_takes_the_rtt(
    tmp_path: FilePath,
) -> None:
    near, far = _read(tmp_path / "client", AT_CLIENT), _read(tmp_path / "server", at_server())
    ends = (*CLIENT, *SERVER)
    assert nearer_client(near, far, ends)
    assert not nearer_client(far, near, ends)
    found = connection_between(far, (*SERVER, *CLIENT))
    assert found == far.connections[0]
    assert connection_between(far, (*CLIENT, "10.0.0.9", 1)) is None
