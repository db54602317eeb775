"""Faults within a site: the wall clock of one host, and services cut off from each other."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path as FilePath

import pytest

from farpath.spec import services as spec
from farpath.spec.services import Fault
from tests.lab import wall_clock
from tests.support.deployments import deployment, link, run_up, service

#: At each tenth of a second sends a datagram to each service that it names and prints which answer.
ASKING = """
import socket, sys, time
rounds, names = int(sys.argv[1]), sys.argv[2:]
one = socket.socket(type=socket.SOCK_DGRAM)
# Servers that start at the same moment listen by then
began_s = time.monotonic() + 0.05
for number in range(rounds):
    time.sleep(max(began_s + number / 10 - time.monotonic(), 0))
    for name in names:
        one.sendto(str(number).encode(), (name, 9000))
    one.settimeout(0.05)
    try:
        while True:
            answer, _ = one.recvfrom(100)
            print(*answer.decode().split(), flush=True)
    except TimeoutError:
        pass
"""
ANSWERING = """
import socket
one = socket.socket(type=socket.SOCK_DGRAM)
one.bind(("", 9000))
while True:
    asked, peer = one.recvfrom(100)
    one.sendto(socket.gethostname().encode() + b" " + asked, peer)
"""
MOMENTS = ("0.2", "2.2", "4.2")


@pytest.mark.parametrize("step_s", [3600.0, -7200.5])
def test_the_wall_clock_of_one_host_jumps_and_comes_back(tmp_path: FilePath, step_s: float) -> None:
    code = FilePath(wall_clock.__file__).read_text()
    asked = deployment(
        [service("other", code, *MOMENTS[:2]), service("main", code, *MOMENTS)],
        {"eu": ["main"], "us": ["other"]},
        [link("eu", "us", 80)],
        faults=(Fault(spec.CLOCK_STEP, ("main",), 2.0, 2.0, value=step_s),),
    )
    record, printed = run_up(asked, tmp_path)
    (note,) = record.ending.faults
    assert 0 <= note["began_s"] - 2.0 < 1e-4
    assert (note["found"], note["found_after"]) == (
        {"main": {"ahead_s": step_s}},
        {"main": {"ahead_s": 0.0}},
    )
    other = (record.directory / "other.out").read_text()
    each = len(wall_clock.CLOCKS) + len(wall_clock.WAITS)
    lines = {"main": printed.splitlines(), "other": other.splitlines()}
    for name, ahead_s in (("main", (0.0, step_s, 0.0)), ("other", (0.0, 0.0))):
        found = [line.split() for line in lines[name]]
        assert len(found) == each * len(ahead_s)
        for moment, expected_s in enumerate(ahead_s):
            looks = found[moment * each : (moment + 1) * each]
            for clock, value in looks[: len(wall_clock.CLOCKS)]:
                # time(2) has whole seconds, and half a second is added
                exactness_s = 0.51 if clock == "time" else 0.011
                assert float(value) == pytest.approx(expected_s, abs=exactness_s), (name, clock)
            for wait, value in looks[len(wall_clock.CLOCKS) :]:
                assert float(value) == pytest.approx(wall_clock.WAIT_S, abs=0.011), (name, wait)
    # The tools that ask for the delay of the link are not programs of the host
    pings = record.tables["pings"]
    assert pings["rtt_ms"].between(79.9, 80.5).all()


def test_services_of_one_site_are_cut_off_from_each_other_in_both_directions_or_one(
    tmp_path: FilePath,
) -> None:
    cuts = (
        Fault(spec.PARTITION, ("asking", "a"), 1.0, 1.0, is_of_services=True),
        Fault(spec.PARTITION, ("a", "asking"), 3.0, 1.0, one_way=True, is_of_services=True),
        Fault(spec.PARTITION, ("asking", "a+far"), 5.0, 1.0, is_of_services=True),
    )
    names = ("a", "b", "far")
    asked = deployment(
        [*(service(name, ANSWERING) for name in names), service("asking", ASKING, "80", *names)],
        {"here": ["asking", "a", "b"], "there": ["far"]},
        [link("here", "there", 20)],
        faults=cuts,
    )
    record, printed = run_up(asked, tmp_path)
    answered = {name: set[int]() for name in names}
    for line in printed.splitlines():
        name, number = line.split()
        answered[name].add(int(number))
    everything = set(range(80))

    def within(*spans: tuple[int, int]) -> set[int]:
        return {number for first, end in spans for number in range(first, end)}

    # What is sent within 50 ms of an edge may be either; asking starts within 0.1 s
    lost = {name: everything - numbers for name, numbers in answered.items()}
    assert lost["b"] == set()
    assert within((10, 19), (30, 39), (50, 59)) <= lost["a"] <= within((9, 20), (29, 40), (49, 60))
    assert within((50, 59)) <= lost["far"] <= within((49, 60))
    both, back, group = record.ending.faults
    assert both["found"] == {"asking>a": {"is_cut": True}, "a>asking": {"is_cut": True}}
    assert back["found"] == {"a>asking": {"is_cut": True}}
    for note, packets in ((both, 10), (back, 10), (group, 20)):
        assert 0.9 * packets <= note["dropped_packets"] <= packets + 2
        for instant in ("began_s", "ended_s"):
            assert note[instant] % 1 < 1e-4
    again, _ = run_up(asked, tmp_path)
    assert again.fingerprint == record.fingerprint


def test_a_partition_begins_between_two_packets_of_a_millisecond(tmp_path: FilePath) -> None:
    """What is sent before its instant arrives, and what is sent from then on does not."""
    sender = """
import socket, time
one = socket.socket(type=socket.SOCK_DGRAM)
until = time.monotonic() + 3
while time.monotonic() < until:
    one.sendto(str(time.monotonic_ns()).encode(), ("target", 9000))
    time.sleep(0.0005)
"""
    target = """
import socket
one = socket.socket(type=socket.SOCK_DGRAM)
one.bind(("", 9000))
while True:
    print(one.recv(100).decode(), flush=True)
"""
    asked = deployment(
        [service("target", target), service("sender", sender)],
        {"eu": ["target"], "us": ["sender"]},
        [link("eu", "us", 20, rate_bps=100_000_000, buffer_packets=1000)],
        faults=(Fault(spec.PARTITION, ("us", "eu"), 1.0, 1.0),),
    )
    record, _ = run_up(asked, tmp_path)
    sent_ns = [int(line) for line in (record.directory / "target.out").read_text().split()]
    gap_ns, before = max(
        (later - earlier, number) for number, (earlier, later) in enumerate(pairwise(sent_ns))
    )
    (note,) = record.ending.faults
    assert note["ended_s"] - note["began_s"] == pytest.approx(1.0, abs=1e-5)
    period_ns = (sent_ns[before] - sent_ns[0]) / before
    # One period more than the packets that are lost, at most
    assert 1e9 <= gap_ns <= 1e9 + 2 * period_ns
    lost = round(gap_ns / period_ns) - 1
    assert note["dropped_packets"] == pytest.approx(lost, abs=2)
