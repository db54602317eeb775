"""udtperf: its own C++ tests under sanitizers, its JSON, and the key of its build."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.base.project import PROJECT
from farpath.tools import iperf3
from tests.support.data import captured
from tests.support.processes import completed

SOURCES = PROJECT / "images" / "udtperf"
#: What a sender and a receiver printed in the lab: 4 s of UDT version 2 over the path
#: from SLAC to CERN.
#: Bytes of data in a packet of 1500 bytes: less 28 of IPv4 and UDP and 16 of UDT.
PAYLOAD_BYTES = 1456


def _build_key(build: FilePath) -> str:
    done = completed([str(build), "key"], check=True, timeout=60)
    return done.stdout.strip()


def _copy(tmp_path: FilePath) -> FilePath:
    images = tmp_path / "images"
    shutil.copytree(SOURCES, images / "udtperf")
    shutil.copytree(SOURCES.parent / "lib", images / "lib")
    # Reads C without its comments
    (tmp_path / "farpath" / "base").mkdir(parents=True)
    shutil.copy(PROJECT / "farpath/base/c_source.py", tmp_path / "farpath/base")
    return images / "udtperf"


def _append(source: FilePath, text: str) -> None:
    source.write_text(source.read_text() + text)


@pytest.mark.nightly
def test_the_cplusplus_tests_pass_under_sanitizers(tmp_path: FilePath) -> None:
    if not shutil.which("g++"):
        pytest.skip("this machine has no g++; building udtperf brings its own")
    done = completed(
        ["make", "--silent", "-C", str(SOURCES), "check", f"OUT={tmp_path}"], timeout=900
    )
    print(done.stdout[-2000:])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.count("\nok ") > 20, "tests are missing from the program"


def test_a_senders_json_reads_as_that_of_iperf3() -> None:
    rows = iperf3.parse_sender(captured("udtperf/sender.json"))
    assert [round(row.end_s) for row in rows] == [1, 2, 3, 4]
    assert all(row.snd_cwnd_bytes % PAYLOAD_BYTES == 0 for row in rows)
    assert all(row.snd_wnd_bytes > 0 for row in rows)
    # 164 ms of path and at most 187 ms of buffer, from the second row on; before, UDT
    # holds part of the 100 ms that it starts from
    assert all(164_000 <= row.rtt_us <= 351_000 for row in rows[2:]), [r.rtt_us for r in rows]


def test_a_receivers_json_reads_as_that_of_iperf3() -> None:
    rows = iperf3.parse_receiver(captured("udtperf/receiver.json"))
    sent = iperf3.parse_sender(captured("udtperf/sender.json"))
    assert 0 < sum(row.bytes for row in rows) <= sum(row.bytes for row in sent)
    assert all(before.end_s == after.start_s for before, after in pairwise(rows))


def test_the_error_of_a_failed_transfer_is_reported() -> None:
    report = json.loads(captured("udtperf/sender.json"))
    report["error"] = "the connection broke"
    with pytest.raises(LabFailedError, match="the connection broke"):
        iperf3.parse_sender(json.dumps(report))


def test_equal_sources_have_equal_keys_and_others_another(tmp_path: FilePath) -> None:
    copy = _copy(tmp_path)
    key = _build_key(copy / "build")
    assert key == _build_key(SOURCES / "build")
    _append(copy / "src" / "main.cpp", "// a comment\n\n")
    assert _build_key(copy / "build") == key
    _append(copy / "src" / "main.cpp", "static int changed;\n")
    assert _build_key(copy / "build") != key


def test_tests_and_documents_do_not_change_the_key(tmp_path: FilePath) -> None:
    copy = _copy(tmp_path)
    key = _build_key(copy / "build")
    _append(copy / "tests" / "main.cpp", "static int changed;\n")
    assert _build_key(copy / "build") == key


def test_the_key_is_part_of_the_end_hosts_root() -> None:
    text = (SOURCES.parent / "rootfs").read_text()
    assert '"$HERE/udtperf/build" key' in text


def test_the_build_refuses_what_it_does_not_know() -> None:
    done = completed([str(SOURCES / "build"), "all"], timeout=60)
    assert done.returncode == 2
    assert "allowed: images/udtperf/build [key]" in done.stderr
