"""Segments get the marks that Wireshark gives them, and RTTs follow Karn's rule and timestamps."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path as FilePath

import pandas as pd
import pytest

from farpath.captures.analysis import MARKS, marked, rtt_samples
from farpath.captures.segments import Capture, read_segments
from tests.support.captures import tshark
from tests.support.packet_files import Sent, as_pcap, handshake, sack

MS = 10**6
DATA = FilePath(__file__).parents[2] / "data" / "captures"


def _capture(tmp_path: FilePath, sent: Sequence[Sent]) -> Capture:
    file = tmp_path / "made.pcap"
    file.write_bytes(as_pcap(sent))
    return read_segments(file)


def _data(time_ms: float, number: int, length: int = 1000) -> Sent:
    return Sent(round(time_ms * MS), True, 1 + number * 1000, 1, length)


def _ack(time_ms: float, number: int, window: int = 1000, options: bytes = b"") -> Sent:
    return Sent(round(time_ms * MS), False, 1, 1 + number * 1000, window=window, options=options)


#: Segment 1 is lost; three duplicates ask for it; it is sent again twice, the second time in vain.
RECOVERY = [
    *handshake(),
    *(_data(41 + number, number) for number in range(5)),
    _ack(81, 1),
    *(_ack(82 + n, 1, options=sack(2001, 3001 + n * 1000)) for n in range(3)),
    _data(85, 1),
    _data(95, 1),
    _ack(125, 5),
    _data(126, 1),
    _data(127, 5),
    _ack(167, 6),
]
#: A receiver whose window closes, with a probe of it, and two segments that change places.
FULL_WINDOW = [
    *handshake(),
    *(_data(41 + number, number) for number in range(5)),
    _data(46, 5),
    _data(46.1, 7),
    _data(46.2, 6),
    _ack(90, 8, window=8),
    Sent(91 * MS, True, 8001, 1, 1024),
    Sent(131 * MS, False, 1, 9025, window=0),
    Sent(400 * MS, True, 9025, 1, 1),
    Sent(440 * MS, False, 1, 9025, window=0),
    Sent(500 * MS, False, 1, 9025, window=500),
    Sent(900 * MS, True, 9024, 1, 0),
]


def _rows(capture: Capture) -> dict[str, list[int]]:
    table = marked(capture.of(capture.connections[0]), capture.connections[0])
    return {name: (table.index[table[name]] - 3).tolist() for name in MARKS if table[name].any()}


def test_a_loss_is_seen_as_duplicate_acks_and_retransmissions(tmp_path: FilePath) -> None:
    assert _rows(_capture(tmp_path, RECOVERY)) == {
        "retransmission": [9, 10, 12],
        "fast_retransmission": [9, 10],
        "spurious_retransmission": [12],
        "duplicate_ack": [6, 7, 8],
    }


def test_a_full_window_a_probe_and_a_swap_of_segments_are_seen(tmp_path: FilePath) -> None:
    found = _rows(_capture(tmp_path, FULL_WINDOW))
    assert found["out_of_order"] == [7]
    assert found["lost_segment"] == [6]
    assert found["window_full"] == [9]
    assert found["zero_window_probe"] == [11]
    assert found["zero_window"] == [10, 12]
    assert found["window_update"] == [13]
    assert found["keep_alive"] == [14]
    assert "retransmission" not in found


@pytest.mark.parametrize("sent", [RECOVERY, FULL_WINDOW], ids=["recovery", "full window"])
def test_tshark_gives_the_same_marks(tmp_path: FilePath, sent: Sequence[Sent]) -> None:
    capture = _capture(tmp_path, sent)
    _assert_as_tshark(capture, tmp_path / "made.pcap")


@pytest.mark.parametrize("name", ["sll.pcap", "lo6.pcap"])
def test_tshark_gives_the_same_marks_of_captured_transfers(name: str) -> None:
    _assert_as_tshark(read_segments(DATA / name), DATA / name)


def _assert_as_tshark(capture: Capture, file: FilePath) -> None:
    (connection,) = capture.connections
    table = marked(capture.of(connection), connection)
    fields = [f"tcp.analysis.{name}" for name in MARKS]
    packets = tshark(file, fields, 10_000)
    for name, field in zip(MARKS, fields, strict=True):
        expected = [row for row, packet in enumerate(packets) if packet[field]]
        assert table.index[table[name]].tolist() == expected, name


def test_bytes_in_flight_are_those_sent_and_not_acknowledged_in_any_way(tmp_path: FilePath) -> None:
    capture = _capture(tmp_path, RECOVERY)
    table = marked(capture.of(capture.connections[0]), capture.connections[0])
    in_flight = table["in_flight_bytes"].to_numpy()[3:]
    assert in_flight[:5].tolist() == [1000, 2000, 3000, 4000, 5000]
    # One acknowledged, three in SACK blocks
    assert in_flight[9] == 1000


def test_no_rtt_is_taken_from_what_was_sent_again(tmp_path: FilePath) -> None:
    capture = _capture(tmp_path, RECOVERY)
    samples = rtt_samples(capture.segments, from_client=True)
    by_segment = samples[samples["by"] == "segment"]
    times = zip(by_segment["time_ns"] // MS, by_segment["rtt_ns"] // MS, strict=True)
    assert list(times) == [(81, 40), (167, 40)]


def test_rtts_by_timestamps_count_from_the_first_segment_that_has_one(tmp_path: FilePath) -> None:
    def stamps(value: int, echo: int) -> bytes:
        return bytes([1, 1, 8, 10]) + struct.pack(">II", value, echo)

    sent = [
        *handshake(),
        Sent(50 * MS, True, 1, 1, 1000, options=stamps(7, 1)),
        Sent(51 * MS, True, 1001, 1, 1000, options=stamps(7, 1)),
        Sent(95 * MS, False, 1, 2001, options=stamps(9, 7)),
    ]
    samples = rtt_samples(_capture(tmp_path, sent).segments, from_client=True)
    expected = pd.DataFrame(
        {"time_ns": [95 * MS] * 2, "rtt_ns": [44 * MS, 45 * MS], "by": ["segment", "timestamp"]}
    )
    pd.testing.assert_frame_equal(samples, expected)
