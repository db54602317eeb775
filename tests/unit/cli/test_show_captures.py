"""Captures are shown as a table of connections, and one of them as a picture and a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path as FilePath

import pytest

from farpath.record.record import Record
from tests.support.command_line import Farpath
from tests.support.packet_files import Sent, as_pcap
from tests.unit.captures.test_analysis import RECOVERY
from tests.unit.captures.test_delays import AT_CLIENT, at_server


def _file(directory: FilePath, name: str, sent: Sequence[Sent]) -> FilePath:
    file = directory / name
    file.write_bytes(as_pcap(sent))
    return file


@pytest.fixture
def capture(tmp_path: FilePath) -> FilePath:
    return _file(tmp_path, "one.pcap", RECOVERY)


def test_a_capture_is_shown_as_its_connections(farpath: Farpath, capture: FilePath) -> None:
    ended = farpath("show", capture)
    assert ended.status == 0
    row = ended.out.splitlines()[-1].split()
    assert row[:4] == ["0", "10.0.0.2:40000", ">", "10.0.0.1:5201"]
    assert row[-3:] == [str(len(RECOVERY)), "9,000", "0"]
    assert list(capture.parent.iterdir()) == [capture]


def test_a_connection_is_drawn_and_counted(
    farpath: Farpath, capture: FilePath, tmp_path: FilePath
) -> None:
    out = tmp_path / "out"
    ended = farpath("show", capture, "--graph=all", "--out", out, "--json")
    assert ended.status == 0
    data = json.loads(ended.out)
    assert data["marks"]["fast_retransmission"] == 2
    assert data["rtt_ms"]["segment"]["median"] == 40
    assert data["one_way_delay"] is None
    picture, page = (out / f"one_pcap-connection0.{suffix}" for suffix in ("png", "html"))
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text()
    assert "connect-src 'none'" in text
    curves = json.loads(text.partition('id="curves-data">')[2].partition("</script>")[0])
    again = next(one for one in curves["data"] if one["name"] == "retransmission")
    assert again["x"][:3] == [0.085, 0.085, None]
    assert again["y"][:2] == [1001, 2001]


def test_a_span_holds_only_its_segments(
    farpath: Farpath, capture: FilePath, tmp_path: FilePath
) -> None:
    arguments = ("show", capture, "--graph=stevens", "--out", tmp_path, "--json")
    data = json.loads(farpath(*arguments, "--span=90ms-1s").out)
    assert data["marks"]["retransmission"] == 2
    assert data["span_s"] == [0.09, 1]


def test_captures_of_both_hosts_give_one_way_delays(farpath: Farpath, tmp_path: FilePath) -> None:
    near, far = _file(tmp_path, "a.pcap", AT_CLIENT), _file(tmp_path, "b.pcap", at_server())
    out = tmp_path / "out"
    ended = farpath("show", near, far, "--graph=delay", "--out", out, "--json")
    data = json.loads(ended.out)
    assert data["one_way_delay"]["to_server"]["lost"] == 1
    assert data["one_way_delay"]["to_client"]["median_ms"] == 15
    assert "clocks of the two captures agree" in data["warnings"][0]
    other = _file(tmp_path, "c.pcap", at_server(clock_ns=30_000_000))
    ended = farpath("show", near, other, "--graph=delay", "--out", out)
    assert "warning: packets arrive before they leave" in ended.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--graph=stevns"], "did you mean stevens? it must be of stevens, window, rtt, delay"),
        (["--graph=all", "--connection=7"], "there is no such connection"),
        (["--graph=all", "--connection=10.0.0.9:1"], "there are 0 (10.0.0.2:40000 > "),
        (["--graph=all", "--span=5s-2s"], "write two times, the lesser first"),
        (["--graph=all", "--span=soon-2s"], "write two times, the lesser first"),
        (["--graph=all", "--span=20s-21s"], "the connection is from 0.000 s to 0.167 s"),
        (["--graph=delay"], "one-way delays need captures of both hosts"),
    ],
)
def test_a_wrong_question_about_a_capture_is_refused_in_one_line(
    farpath: Farpath, capture: FilePath, tmp_path: FilePath, options: list[str], message: str
) -> None:
    ended = farpath("show", capture, *options, "--out", tmp_path / "out")
    assert ended.status == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_captures_of_other_connections_and_too_many_are_refused(
    farpath: Farpath, capture: FilePath, tmp_path: FilePath
) -> None:
    moved = as_pcap(RECOVERY).replace(bytes([10, 0, 0, 2]), bytes([10, 0, 0, 9]))
    other = tmp_path / "other.pcap"
    other.write_bytes(moved)
    ended = farpath("show", capture, other, "--graph=all")
    assert ended.status == 2
    assert "other.pcap: 10.0.0.2:40000 > 10.0.0.1:5201 is not in it" in ended.err
    ended = farpath("show", capture, other, other, "--graph=all")
    assert "3 captures were given" in ended.err
    ended = farpath("show", capture, tmp_path, "--graph=all")
    assert "is a directory" in ended.err


def test_a_record_without_captures_says_how_to_have_them(farpath: Farpath, record: Record) -> None:
    ended = farpath("show", record.directory, "--graph=stevens")
    assert ended.status == 2
    assert "has no captures" in ended.err
    assert "--capture=sender,receiver" in ended.err
    ended = farpath("show", record.directory, "--span=1s-2s")
    assert "add --graph=all" in ended.err
