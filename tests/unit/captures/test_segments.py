"""Captures of any form are read as the TCP segments that are in them."""

from __future__ import annotations

import gzip
import struct
from dataclasses import replace
from pathlib import Path as FilePath

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from farpath.base.errors import BadInputError
from farpath.captures.segments import ABSENT, ACK, FIN, RST, SYN, Capture, read_segments
from tests.support.captures import tshark
from tests.support.packet_files import Sent, as_pcap, as_pcapng, handshake, sack

DATA = FilePath(__file__).parents[2] / "data" / "captures"
SENT = [
    *handshake(1000, 5000),
    Sent(40_001_000, True, 1001, 5001, 1448),
    Sent(40_002_000, True, 2449, 5001, 1448),
    Sent(80_003_000, False, 5001, 1001, options=sack(2449, 3897)),
]
MAC = bytes(12)


def _read(tmp_path: FilePath, content: bytes) -> Capture:
    file = tmp_path / "capture"
    file.write_bytes(content)
    return read_segments(file)


def test_windows_numbers_and_blocks_are_relative_and_scaled(tmp_path: FilePath) -> None:
    capture = _read(tmp_path, as_pcapng(SENT))
    (connection,) = capture.connections
    assert connection.ends == ("10.0.0.2", 40000, "10.0.0.1", 5201)
    assert (connection.client_bytes, connection.server_bytes, connection.packets) == (2896, 0, 6)
    table = capture.segments
    assert table["seq"].tolist() == [0, 0, 1, 1, 1449, 1]
    assert table["ack"].tolist() == [ABSENT, 1, 1, 1, 1, 1]
    # The windows of segments with SYN are not scaled (RFC 7323, 2.2)
    assert table["window"].tolist() == [60_000, 60_000, *[1000 << 7] * 4]
    blocks = table[["sack1_left", "sack1_right", "sack2_left"]]
    assert blocks.to_numpy()[-1].tolist() == [1449, 2897, ABSENT]
    assert list(table["time_ns"]) == [one.time_ns for one in SENT]


@pytest.mark.parametrize(
    "content",
    [
        as_pcap(SENT),
        as_pcap(SENT, order=">"),
        as_pcap(SENT, unit_ns=1_000),
        as_pcap(SENT, head=MAC + b"\x81\x00\x00\x05\x08\x00"),
        as_pcap(SENT, head=MAC + b"\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00"),
        as_pcap(SENT, link=0, head=b"\x02\0\0\0"),
        as_pcap(SENT, link=108, head=b"\0\0\0\x02"),
        as_pcap(SENT, link=101, head=b""),
        as_pcap(SENT, link=113, head=bytes(14) + b"\x08\x00"),
        as_pcap(SENT, link=276, head=b"\x08\x00" + bytes(18)),
        gzip.compress(as_pcap(SENT)),
        pa.compress(as_pcapng(SENT), codec="zstd", asbytes=True),
    ],
    ids=[
        "pcap", "big-endian", "us", "vlan", "two vlans", "null", "loop", "raw", "cooked",
        "cooked 2", "gzip", "zstd",
    ],
)  # fmt: skip
def test_every_form_of_a_file_has_the_same_segments(tmp_path: FilePath, content: bytes) -> None:
    expected = _read(tmp_path, as_pcapng(SENT)).segments.drop(columns="wire_bytes")
    found = _read(tmp_path, content).segments.drop(columns="wire_bytes")
    pd.testing.assert_frame_equal(found, expected)


def test_numbers_go_on_where_they_wrap(tmp_path: FilePath) -> None:
    first = 2**32 - 1000
    sent = handshake(first) + [
        Sent(10**8 + n, True, first + 1 + n * 1448, 1, 1448) for n in range(4_000)
    ]
    sent.insert(2000, Sent(10**8 + 1990, False, 1, first + 1 + 1448, options=sack(448, 1448)))
    table = _read(tmp_path, as_pcap(sent)).segments
    data = table[table["length"] > 0]
    assert data["seq"].tolist() == [1 + n * 1448 for n in range(4_000)]
    blocks = table[table["sack1_left"] != ABSENT]
    assert blocks[["ack", "sack1_left", "sack1_right"]].to_numpy().tolist() == [[1449, 1448, 2448]]


def test_without_a_handshake_numbers_begin_with_the_first_byte_seen(tmp_path: FilePath) -> None:
    capture = _read(tmp_path, as_pcap(SENT[3:]))
    assert capture.connections[0].client_shift is None
    assert capture.segments["seq"].tolist() == [1, 1449, 1]
    assert capture.segments["ack"].tolist() == [1, 1, 1]
    assert set(capture.segments["window"]) == {1000}


def test_a_port_that_is_used_again_is_another_connection(tmp_path: FilePath) -> None:
    again = [*handshake(1000), Sent(5 * 10**7, True, 1001, 1, flags=RST)]
    later = [replace(one, time_ns=one.time_ns + 10**9) for one in handshake(9000)]
    capture = _read(tmp_path, as_pcap(again + later))
    assert [one.packets for one in capture.connections] == [4, 3]
    # A SYN that is sent again opens none
    repeated = [SENT[0], Sent(10**6, True, 1000, 0, flags=SYN), *SENT[1:]]
    assert len(_read(tmp_path, as_pcap(repeated)).connections) == 1


def test_a_dsack_is_below_the_acknowledgement_or_within_the_next_block(tmp_path: FilePath) -> None:
    blocks = [(1001, 2449), (8000, 9000, 7000, 9500), (8000, 9000)]
    sent = SENT[:4] + [
        Sent(9 * 10**7 + n, False, 5001, 2449, options=sack(*sides))
        for n, sides in enumerate(blocks)
    ]
    assert _read(tmp_path, as_pcap(sent)).segments["dsack"].tolist()[4:] == [True, True, False]


@pytest.mark.parametrize("name", ["sll.pcap", "sll2.pcap", "lo6.pcap", "raw6.pcapng"])
def test_files_of_tcpdump_and_editcap_hold_a_whole_transfer(name: str) -> None:
    capture = read_segments(DATA / name)
    (connection,) = capture.connections
    # Of the client some bytes were sent again in one of them
    assert connection.client_bytes >= 200_000
    assert connection.server_bytes == 1_000
    assert connection.server == ("::1" if "6" in name else "127.0.0.1")
    table = capture.segments
    ends = table[table["tcp_flags"] & FIN != 0]
    assert dict(zip(ends["from_client"], ends["seq"] + ends["length"], strict=True)) == {
        True: 200_001,
        False: 1_001,
    }
    # Segments as large as the loopback lets them be
    assert table["length"].max() > 32_000


@pytest.mark.parametrize("name", ["sll.pcap", "sll2.pcap", "lo6.pcap", "raw6.pcapng"])
def test_tshark_reads_the_same_fields(name: str) -> None:
    names = {
        "frame.number": "packet",
        "tcp.seq": "seq",
        "tcp.ack": "ack",
        "tcp.len": "length",
        "tcp.window_size": "window",
        "tcp.options.timestamp.tsval": "tsval",
        "tcp.options.timestamp.tsecr": "tsecr",
        "frame.len": "wire_bytes",
    }
    table = read_segments(DATA / name).segments
    has_ack = table["tcp_flags"] & ACK != 0
    packets = tshark(DATA / name, tuple(names), 1000)
    for field, column in names.items():
        expected = np.array([int(packet[field]) for packet in packets])
        chosen = has_ack if column == "ack" else slice(None)
        assert expected[chosen].tolist() == table[column][chosen].tolist(), field


def test_a_file_that_was_cut_short_has_what_is_before_the_cut(tmp_path: FilePath) -> None:
    for content in (as_pcap(SENT), as_pcapng(SENT)[:-56]):
        capture = _read(tmp_path, content[:-5])
        assert len(capture.segments) == len(SENT) - 1
        assert "the file was cut short; it has 5 packets before that" in capture.warnings[0]


def test_packets_of_which_too_little_was_kept_are_counted(tmp_path: FilePath) -> None:
    content = as_pcap(SENT, head=b"", link=101)
    short = SENT[3].ip()[:32]
    cut = struct.pack("<IIII", 1, 0, len(short), 1488) + short
    capture = _read(tmp_path, content + cut)
    assert len(capture.segments) == len(SENT)
    assert "1 TCP packets are left out" in capture.warnings[0]
    with pytest.raises(BadInputError, match="its 1 TCP packets are cut within their headers"):
        _read(tmp_path, content[:24] + cut)


UDP = bytearray(SENT[0].ip())
UDP[9] = 17


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04 a sheet", "the file is no capture"),
        (b"\x1f\x8b\x08", "it cannot be read"),
        (gzip.compress(as_pcap(SENT))[:-20], "it cannot be read"),
        (pa.compress(as_pcap(SENT), codec="zstd", asbytes=True)[:-20], "it cannot be read"),
        (as_pcap([]), "there is no packet in it"),
        (as_pcap(SENT)[:30], "the file was cut short"),
        (as_pcap(SENT, link=105), "its packets are of link type 105"),
        (
            as_pcap([])[:20]
            + struct.pack("<I", 101)
            + struct.pack("<IIII", 0, 0, len(UDP), len(UDP))
            + UDP,
            "there is no TCP in its 1 packets",
        ),
    ],
)
def test_what_is_no_capture_of_tcp_is_refused(
    tmp_path: FilePath, content: bytes, problem: str
) -> None:
    with pytest.raises(BadInputError) as refused:
        _read(tmp_path, content)
    assert problem in refused.value.problem
    assert refused.value.file == str(tmp_path / "capture")


def test_a_file_that_is_not_there_is_refused(tmp_path: FilePath) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        read_segments(tmp_path / "none.pcap")
    with pytest.raises(BadInputError, match="Is a directory"):
        read_segments(tmp_path)
