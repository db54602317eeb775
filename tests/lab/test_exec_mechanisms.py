"""Programs over a path that changes, drops packets, and whose packets are captured."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import CheckFailedError
from farpath.lab.exec.program_run import ProgramOutcome
from farpath.mechanisms.capture.capture_files import captured_files
from farpath.record.program_record import ProgramRecord, load_program_record
from farpath.spec.arrivals import arrivals
from farpath.spec.corruption import BYTE
from farpath.spec.programs import CLIENT_HOST, SERVER_HOST
from tests.lab.test_exec import Lab
from tests.support.captures import tcp_packets

#: Payload of TCP with timestamps in a full frame.
GOODPUT = 1448 / 1514
PYTHON = sys.executable
WEB_SERVER = (PYTHON, "-m", "http.server", "80")
BYTES = 300_000
DOWNLOAD = (
    *(PYTHON, "-c"),
    "import urllib.request as r; print(len(r.urlopen('http://server/page').read()))",
)


@pytest.fixture
def lab(tmp_path: FilePath) -> Lab:
    return Lab(tmp_path)


def _iperf3(lab: Lab, *arguments: str, **options: Any) -> tuple[dict[str, Any], ProgramOutcome]:
    """What iperf3's client prints of a connection to its server, which it counts in segments."""
    client = ("iperf3", "-c", "server", "-J", "-l", "1448", *arguments)
    outcome = lab.run(client, [("iperf3", "-s")], root="lab", **options)
    return json.loads(lab.stdout.getvalue()), outcome


def _received_mbit(report: dict[str, Any]) -> float:
    return float(report["end"]["sum_received"]["bits_per_second"]) / 1e6


def _download(lab: Lab, **options: Any) -> ProgramRecord:
    (lab.directory / "page").write_bytes(bytes(BYTES))
    outcome = lab.run(DOWNLOAD, [WEB_SERVER], rtt="50ms", rate="20Mbit", **options)
    assert (outcome.ending.status, lab.stdout.getvalue()) == (0, b"%d\n" % BYTES)
    return load_program_record(outcome.directory)


@pytest.mark.nightly
def test_a_download_has_the_rate_of_each_time_since_the_clients_start(lab: Lab) -> None:
    rate = "50Mbit,2s:10Mbit,4s:50Mbit,500s:1Mbit"
    report, outcome = _iperf3(lab, "-R", "-t", "6", "-i", "0.5", rtt="20ms", rate=rate)
    mbit = [one["sum"]["bits_per_second"] / 1e6 for one in report["intervals"]]
    # Intervals count from the connection, some round trips after the client's start
    for number, rate_mbit in ((2, 50), (5, 10), (6, 10), (9, 50), (10, 50)):
        assert mbit[number] == pytest.approx(rate_mbit * GOODPUT, rel=0.02)
    record = load_program_record(outcome.directory)
    made = [(one["at_s"], one["rate_bps"]) for one in record.readback["link_changes"]]
    assert made == [(2, 10_000_000)] * 2 + [(4, 50_000_000)] * 2


def test_pings_of_a_client_have_the_rtt_of_their_time(lab: Lab) -> None:
    client = ("ping", "-i", "0.5", "-c", "8", "server")
    outcome = lab.run(client, root="lab", rtt="50ms,1.7s:80ms", rate="100Mbit")
    lines = lab.stdout.getvalue().decode().splitlines()
    rtts_ms = [float(line.split("time=")[1].split()[0]) for line in lines if "time=" in line]
    assert rtts_ms[:4] == pytest.approx([50] * 4, abs=0.1)
    assert rtts_ms[4:] == pytest.approx([80] * 4, abs=0.1)
    done = load_program_record(outcome.directory).readback["link_changes"]
    assert {one["delay_ms"] for one in done} == {40}
    assert all(0 <= one["done_s"] - 1.7 < 1e-4 for one in done)


@pytest.mark.nightly
def test_each_direction_has_its_own_rate(lab: Lab) -> None:
    path: dict[str, Any] = {"rtt": "20ms", "rate": "20Mbit", "up_rate": "4Mbit"}
    for direction, rate_mbit in (((), 20), (("-R",), 4)):
        report, _ = _iperf3(lab, *direction, "-t", "5", **path)
        assert _received_mbit(report) == pytest.approx(rate_mbit * GOODPUT, rel=0.04)


@pytest.mark.nightly
def test_a_trace_of_rates_begins_with_the_client(lab: Lab) -> None:
    trace = lab.directory / "trace"
    # A second of 12 Mbit/s of IP packets, and a second of nothing
    trace.write_text("".join(f"{ms}\n" for ms in range(1, 1001)) + "2000\n")
    report, _ = _iperf3(lab, "-R", "-t", "4", "-i", "0.25", rtt="20ms", rate=f"trace:{trace}")
    mbit = [one["sum"]["bits_per_second"] / 1e6 for one in report["intervals"]]
    assert mbit[2] == pytest.approx(12 * 1448 / 1500, rel=0.03)
    assert max(mbit[5:7]) < 0.1


@pytest.mark.nightly
def test_background_traffic_takes_its_part_of_the_way_to_the_server(lab: Lab) -> None:
    path: dict[str, Any] = {"rtt": "20ms", "rate": "20Mbit", "background": "cbr:5Mbit"}
    report, outcome = _iperf3(lab, "-t", "5", **path)
    assert _received_mbit(report) == pytest.approx(15 * GOODPUT, rel=0.05)
    readback = load_program_record(outcome.directory).readback
    sent = readback["after"]["background_bytes"] - readback["before"]["background_bytes"]
    assert sent == pytest.approx(5e6 / 8 * outcome.ending.took_s, rel=0.01)


def test_captures_have_the_packets_of_a_client_at_both_ends(lab: Lab) -> None:
    record = _download(lab, capture="sender,receiver,bottleneck2")
    files = captured_files(record)
    packets = {place: tcp_packets(file) for place, file in files.items()}
    for place in ("sender", "receiver"):
        answered = [one for one in packets[place] if one.sender.endswith(".80")]
        assert BYTES < sum(one.payload_bytes for one in answered) < BYTES + 1000
        assert record.data["captures"][place]["missed"] == 0
    sent, arrived = packets["sender"][0], packets["receiver"][0]
    assert (sent.flags, sent.numbers) == (arrived.flags, arrived.numbers)
    assert arrived.time_ns - sent.time_ns == pytest.approx(25e6, abs=100_000)
    full = [one for one in packets["bottleneck2"] if one.payload_bytes == 1448]
    assert len(full) == BYTES // 1448
    # As in a run of flows, captures are no part of what the fingerprint covers
    files["sender"].write_bytes(b"")
    load_program_record(record.directory)


def test_the_packet_that_a_dropper_takes_is_sent_again(lab: Lab) -> None:
    drop = "packets:30,direction=back"
    record = _download(lab, drop=drop, capture="sender,receiver")
    (counts,) = record.readback["after"]["droppers"]
    assert (counts["dropper"], counts["lost"]) == (drop, 1)
    of_server = record.tables["connections"].query(f"host == '{SERVER_HOST}'")
    assert of_server["retransmits"].max() == 1
    files = captured_files(record)
    data = {
        place: Counter(one.numbers.split(" ack")[0] for one in packets if one.payload_bytes)
        for place in ("sender", "receiver")
        for packets in [[one for one in tcp_packets(files[place]) if one.sender.endswith(".80")]]
    }
    (again,) = (numbers for numbers, count in data["receiver"].items() if count == 2)
    assert data["sender"][again] == 1


def test_a_client_that_connects_in_an_outage_gets_through_after_its_end(lab: Lab) -> None:
    # Its SYN goes again each second (net.ipv4.tcp_syn_linear_timeouts), first at 1 s
    (lab.directory / "page").write_bytes(bytes(BYTES))
    path: dict[str, Any] = {"rtt": "50ms", "rate": "20Mbit", "drop": "outage:0.01s,2s"}
    outcome = lab.run(DOWNLOAD, [WEB_SERVER], **path)
    assert lab.stdout.getvalue() == b"%d\n" % BYTES
    assert 2.0 < outcome.ending.took_s < 3.0


def test_droppers_that_see_no_packet_are_told_and_fail_nothing(lab: Lab) -> None:
    client = (PYTHON, "-c", "import time; time.sleep(2)")
    outcome = lab.run(client, rtt="20ms", drop="at:1s every:2,direction=back")
    record = load_program_record(outcome.directory)
    assert [one["lost"] for one in record.readback["after"]["droppers"]] == [0, 0]
    assert len(record.data["warnings"]) == 2


def test_short_flows_share_the_path_with_programs_until_the_client_ends(lab: Lab) -> None:
    traffic, end_s = "tcp:30%,cc=reno", 6.0
    outcome = lab.run(
        (PYTHON, "-c", f"import time; time.sleep({end_s}); print(open('/etc/hosts').read())"),
        *([("sleep", "100")],),
        rtt="40ms",
        rate="20Mbit",
        background=traffic,
    )
    record = load_program_record(outcome.directory)
    flows = record.short_flows
    assert flows is not None
    started = [arrival.start_s for arrival in arrivals(record.plan) if arrival.start_s < end_s]
    assert flows["start_s"].tolist() == pytest.approx(started, abs=1e-3)
    assert flows["retransmits"].sum() < len(flows) / 10
    # A request of three round trips at least; the last ones had no time to end
    ended = flows["completion_s"].dropna()
    assert ended.min() >= 0.08
    assert len(ended) > 0.9 * len(flows)
    sent_bytes = record.readback["after"]["short_flow_bytes"]
    assert sent_bytes >= flows["received_bytes"].sum()
    to_receiver = record.tables["queue"]
    assert to_receiver["backlog_bytes"].max() > 0
    # Their hosts are no ends of the path, and have no name that programs find
    names = lab.stdout.getvalue().decode().split()
    assert (names.count("client"), names.count("server")) == (1, 1)


def test_a_change_that_was_not_made_as_planned_fails_the_run(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farpath.mechanisms.changes.carried.LATE_S", -1e-3)
    with pytest.raises(CheckFailedError, match="is not as planned: it was made at"):
        lab.run(["sleep", "1"], root="lab", rtt="20ms,0.5s:40ms")


def test_devices_wait_for_the_client_that_waits_for_a_port(lab: Lab) -> None:
    further = {"wait_for": (80,)}
    options: dict[str, Any] = {"rtt": "20ms,1s:40ms", "capture": CLIENT_HOST}
    server = (PYTHON, "-c", f"import time; time.sleep(3.3); {_SERVE}")
    outcome = lab.run((PYTHON, "-c", _CONNECT), [server], further=further, **options)
    record = load_program_record(outcome.directory)
    first, *_ = tcp_packets(captured_files(record)[CLIENT_HOST])
    assert 0 <= first.time_ns < 1_000_000
    assert {one["at_s"] for one in record.readback["link_changes"]} == {1}


_SERVE = "import socket; s = socket.create_server(('', 80)); time.sleep(60)"
_CONNECT = "import socket, time; socket.create_connection(('server', 80)); time.sleep(1.5)"


#: A server that answers each datagram with itself, and a client that prints which zeros changed.
ECHO_SERVER = """
import socket
server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
server.bind(("::", 9000))
while True:
    server.sendto(*server.recvfrom(2000))
"""
ECHO_CLIENT = """
import json, socket, sys
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
client = socket.socket(family, socket.SOCK_DGRAM)
found = []
for _ in range(60):
    client.sendto(bytes(100), ("server", 9000))
    found.append([[at, byte] for at, byte in enumerate(client.recv(2000)) if byte])
client.sendto(bytes(10), ("server", 9000))
print(json.dumps([found, len(client.recv(2000))]))
"""


@pytest.mark.parametrize("version", ["4", pytest.param("6", marks=pytest.mark.nightly)])
def test_a_damaged_datagram_reaches_its_program_with_one_byte_inverted(
    lab: Lab, version: str
) -> None:
    outcome = lab.run(
        (PYTHON, "-c", ECHO_CLIENT, version),
        [(PYTHON, "-c", ECHO_SERVER)],
        rtt="20ms", rate="10Mbit", corrupt="30%", ip=version,
    )  # fmt: skip
    found, short_bytes = json.loads(lab.stdout.getvalue())
    counts = load_program_record(outcome.directory).readback["after"]["corruption"]
    hosts = [counts[host] for host in (CLIENT_HOST, SERVER_HOST)]
    assert [each["seen"] for each in hosts] == [61, 61]
    damaged = [tuple(map(tuple, each)) for each in found]
    assert set(damaged) == {(), ((BYTE, 0xFF),)}
    assert short_bytes == 10
    # One that is damaged on both ways has its byte back
    twice, odd = divmod(sum(each["damaged"] for each in hosts) - sum(map(bool, damaged)), 2)
    assert not odd
    assert 0 <= twice <= min(each["damaged"] for each in hosts)
    for each in hosts:
        assert each["damaged"] / 60 == pytest.approx(0.3, abs=0.25)
