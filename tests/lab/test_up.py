"""Services of a user's over a network of sites."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import LabFailedError
from farpath.lab.machine import limited_cores
from farpath.planning.deployment import Deployment
from farpath.record.service_record import ServiceRecord
from farpath.spec import services as spec
from farpath.spec.services import Condition, Fault, Healthcheck
from tests.support.deployments import ECHO, deployment, link, run_up, service
from topologies import lay_out

#: Connects to each server once a round and prints how long an answer took, in ms, or the error.
CLIENT = """
import socket, sys, time
rounds, names = int(sys.argv[1]), sys.argv[2:]
for _ in range(rounds):
    for name in names:
        began_s = time.monotonic()
        try:
            with socket.create_connection((name, 9000), timeout=1.0) as connection:
                connection.sendall(b"hello")
                answer = connection.recv(100).decode()
        except OSError as error:
            answer = type(error).__name__
        print(name, answer.split()[0], round((time.monotonic() - began_s) * 1e3, 2), flush=True)
    time.sleep(1 - time.monotonic() % 1)
"""
#: Exits with the status that its argument says, after so many seconds.
JOB = "import sys, time; time.sleep(float(sys.argv[1])); sys.exit(int(sys.argv[2]))"
#: All services in one kernel, which other files have too, and a kernel for each site.
GUESTS = pytest.mark.parametrize(
    "guest_per_site", [pytest.param(False, marks=pytest.mark.nightly), True]
)
RATE = {"rate_bps": 100_000_000, "buffer_packets": 1000}


def three_sites(*faults: Fault, rounds: int = 4) -> Deployment:
    """A client in us with servers in eu and ap; the link from us to ap is the longest way."""
    return deployment(
        [
            service("eu-server", ECHO),
            service("ap-server", ECHO),
            service(
                *("client", CLIENT, str(rounds), "eu-server", "ap-server"),
                waits_for=(Condition("eu-server"), Condition("ap-server")),
            ),
        ],
        {"eu": ["eu-server"], "ap": ["ap-server"], "us": ["client"]},
        [
            link("us", "eu", 80, **RATE),
            link("eu", "ap", 100, **RATE),
            link("us", "ap", 300, **RATE),
        ],
        faults=faults,
    )


def answers(printed: str, name: str) -> list[tuple[str, float]]:
    """The answers of a server, each with its time in ms."""
    rows = (line.split() for line in printed.splitlines())
    return [(words[1], float(words[2])) for words in rows if words[0] == name]


@GUESTS
def test_services_find_each_other_by_name_and_packets_take_the_nearest_way(
    tmp_path: FilePath, guest_per_site: bool
) -> None:
    asked = replace(three_sites(), guest_per_site=guest_per_site)
    record, printed = run_up(asked, tmp_path)
    assert lay_out(record.plan).sites == (3 if guest_per_site else 1)
    assert record.ending.status == 0
    for name, rtt_ms in {"eu-server": 80, "ap-server": 180}.items():
        for host, took_ms in answers(printed, name):
            assert host == name
            assert took_ms == pytest.approx(2 * rtt_ms, abs=1)
    pings = record.tables["pings"].groupby("sites")["rtt_ms"].median()
    assert pings.to_dict() == pytest.approx(
        {"eu-ap": 100.03, "eu-us": 80.03, "ap-us": 180.06}, abs=0.05
    )
    sent = record.tables["queues"].groupby("link")["bytes"].max()
    # All of us to ap goes by eu, pings too
    assert sent["us>ap"] == sent["ap>us"] == 0 < sent["us>eu"]
    assert {row["status"] for row in ends(record).values()} == {0, 128 + signal.SIGTERM}


def ends(record: ServiceRecord) -> dict[str, dict[str, Any]]:
    """How each service ended, as plain data."""
    return {name: vars(end) for name, end in record.ending.services.items()}


@GUESTS
def test_faults_come_at_their_instant_are_read_back_and_repeat_to_the_packet(
    tmp_path: FilePath, guest_per_site: bool
) -> None:
    faults = (
        Fault(spec.PARTITION, ("us", "eu"), 2.5, 1.0, one_way=True),
        Fault(spec.DELAY, ("us", "eu"), 4.5, 1.0, one_way=True, value=140.0),
        Fault(spec.LOSS, ("us", "eu"), 6.5, 1.0, value=1.0),
        Fault(spec.STOP, ("eu-server",), 8.5, 2.0),
        Fault(spec.KILL, ("ap-server",), 8.5),
        Fault(spec.RESTART, ("ap-server",), 11.5),
        Fault(spec.LINK_DOWN, ("eu", "ap"), 12.5, 1.0),
        Fault(spec.RATE, ("us", "eu"), 14.5, None, value=100_000),
    )
    asked = replace(three_sites(*faults, rounds=14), timeout_s=40.0, guest_per_site=guest_per_site)
    record, printed = run_up(asked, tmp_path)
    assert record.ending.status == 0
    for fault, note in zip(faults, record.ending.faults, strict=True):
        assert 0 <= note["began_s"] - fault.at_s < 1e-4
        if fault.lasts_s is not None:
            assert 0 <= note["ended_s"] - fault.at_s - fault.lasts_s < 1e-4
    cut, delayed, lost, *_, down, slow = record.ending.faults
    assert cut["dropped_packets"] > 0 < down["dropped_packets"]
    assert delayed["found"] == {"us>eu": {"delay_ms": 140.0, "loss": 0.0}}
    assert delayed["found_after"] == {"us>eu": {"delay_ms": 40.0, "loss": 0.0}}
    assert lost["found"]["us>eu"]["loss"] == lost["found"]["eu>us"]["loss"] == 1.0
    assert slow["found"] == {way: {"rate_bps": 100_000} for way in ("us>eu", "eu>us")}
    took_ms = answers(printed, "eu-server")
    # In the partition, with every packet lost, and of a server that is stopped
    assert [took > 1000 for _, took in took_ms].count(True) == 3, printed
    assert any(took == pytest.approx(160 + 200, abs=2) for _, took in took_ms), printed
    assert "ConnectionRefusedError" in [host for host, _ in answers(printed, "ap-server")]
    assert ends(record)["ap-server"]["starts"] == 2
    # On one core guests wait for each other in another order
    with limited_cores(1):
        again, _ = run_up(asked, tmp_path)
    assert again.fingerprint == record.fingerprint


@GUESTS
def test_a_service_starts_when_others_are_healthy_or_have_done_their_work(
    tmp_path: FilePath, guest_per_site: bool
) -> None:
    check = "import socket; socket.create_connection(('localhost', 9000))"
    late = f"import time; time.sleep(2.2)\n{ECHO}"
    health = Healthcheck(("python3", "-c", check), interval_s=1.0, timeout_s=5.0, retries=5)
    order = "import time; print(time.time())"
    sites = {"here": ["db", "client"], "there": ["migration"]}
    asked = deployment(
        [
            service("db", late, health=health),
            service("migration", JOB, "1.5", "0", waits_for=(Condition("db", spec.HEALTHY),)),
            service("client", order, waits_for=(Condition("migration", spec.COMPLETED),)),
        ],
        sites,
        [link("here", "there", 200)],
        date_s=1_800_000_000,
        guest_per_site=guest_per_site,
    )
    record, printed = run_up(asked, tmp_path)
    # Healthy at the third check, after 3 s, and then the work of 1.5 s; guests hear of both 99
    # ms later, which is the delay that no packet falls short of
    heard_s = 0.099 if guest_per_site else 0.0
    assert ends(record)["migration"]["ended_s"] == pytest.approx(4.5 + heard_s, abs=0.02)
    assert record.ending.took_s == pytest.approx(4.5 + 2 * heard_s, abs=0.03)
    assert float(printed) == pytest.approx(1_800_000_004.5 + 2 * heard_s, abs=0.03)
    sick = replace(health, command=("false",), retries=2)
    services = (replace(asked.services[0], health=sick), *asked.services[1:])
    with pytest.raises(LabFailedError, match="migration waits for db to be healthy, and that is "):
        run_up(replace(asked, services=services), tmp_path)
    failing = replace(service("migration", JOB, "1", "3"), waits_for=())
    services = (asked.services[0], failing, asked.services[2])
    with pytest.raises(LabFailedError, match="to end with status 0, and that ended with status 3"):
        run_up(replace(asked, services=services), tmp_path)


def test_a_full_disk_refuses_what_is_written_and_a_service_may_start_again(
    tmp_path: FilePath,
) -> None:
    writer = """
import sys, time
for number in range(40):
    try:
        open(f"/tmp/{time.monotonic_ns()}", "wb").write(b"x" * 100_000)
    except OSError as error:
        sys.exit(error.strerror)
    time.sleep(0.1)
"""
    asked = deployment(
        [service("writer", writer, restart=spec.ON_FAILURE), service("client", JOB, "8", "0")],
        {"here": ["writer", "client"]},
        faults=(Fault(spec.FULL_DISK, ("writer",), 1.0, 2.0),),
    )
    record, _ = run_up(asked, tmp_path)
    (note,) = record.ending.faults
    assert note["found"] == {"writer": {"free_bytes": 0}}
    assert note["found_after"]["writer"]["free_bytes"] > 1e8
    assert "No space left on device" in (record.directory / "writer.err").read_text()
    writer_end = ends(record)["writer"]
    # It failed all the time that the disk was full, and wrote its files then
    assert (writer_end["status"], writer_end["ended_s"]) == (0, pytest.approx(7.0, abs=0.3))
    assert 10 < writer_end["starts"] <= 22


def test_a_run_that_takes_too_long_ends_with_124(tmp_path: FilePath) -> None:
    asked = deployment([service("client", JOB, "50", "0")], {"here": ["client"]}, timeout_s=2.0)
    record, _ = run_up(asked, tmp_path)
    assert record.ending.status == 124
    assert record.ending.took_s == pytest.approx(2.0, abs=1e-3)


def test_volumes_are_read_shared_or_kept_in_the_lab(tmp_path: FilePath) -> None:
    from farpath.planning.deployment import VolumeRequest

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "name").write_text("far")
    writer = (
        "open('/data/name', 'a').write('path'); "
        "open('/shared/it', 'w').write(open('/data/name').read())"
    )
    reader = "import json; print(json.dumps([open(p).read() for p in ('/shared/it', '/one')]))"
    data = VolumeRequest(str(tmp_path / "data"), "/data")
    shared = VolumeRequest("shared", "/shared")
    one = VolumeRequest(str(tmp_path / "data" / "name"), "/one")
    asked = deployment(
        [
            service("writer", writer, volumes=(data, shared)),
            service(
                *("client", reader),
                volumes=(shared, one),
                waits_for=(Condition("writer", spec.COMPLETED),),
            ),
        ],
        {"here": ["writer", "client"]},
    )
    _, printed = run_up(asked, tmp_path / "records")
    assert json.loads(printed) == ["farpath", "far"]
    assert (tmp_path / "data" / "name").read_text() == "far"
