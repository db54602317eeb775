"""Programs of this machine and of an image on the lab's hosts, in virtual time."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import pandas as pd
import pytest

from farpath.base.errors import LabFailedError
from farpath.base.project import BUILD, PROJECT
from farpath.lab.artifacts.images import find_images
from farpath.lab.exec import program_run as lab_programs
from farpath.lab.exec.program_run import ProgramOutcome, run_programs
from farpath.lab.exec.roots import roots
from farpath.planning.program_plan import DEFAULT_DATE, parse_date_s, program_plan
from farpath.planning.request import RunRequest
from farpath.record.program_record import load_program_record
from farpath.record.replaced import FILE_WORDS, FILES
from farpath.report.program_overview import program_metrics
from farpath.spec.programs import CLIENT_HOST, PIPE_INPUT, SERVER_HOST, TIMED_OUT, Programs

PYTHON = sys.executable
SERVER = (PYTHON, "-m", "http.server", "80")
BYTES = 500_000
#: A client with a deadline: fine in a building, too slow across an ocean.
CLIENT = f"""
import sys, time, urllib.request
began_s = time.monotonic()
page = urllib.request.urlopen("http://server/page").read()
took_s = time.monotonic() - began_s
print(len(page), round(took_s, 3), flush=True)
sys.exit("too slow" if took_s > 0.2 or len(page) != {BYTES} else 0)
"""
#: A program that writes to its stderr for ever, or until it may not.
ENDLESS = "import os\ntry:\n    while True: os.write(2, 1000 * b'x')\nexcept OSError: pass"
#: A server that answers each datagram, and tells over TCP which have come.
ECHO_SERVER = """
import socket
udp, tcp, came = socket.socket(type=socket.SOCK_DGRAM), socket.create_server(("", 8)), []
udp.bind(("", 7))
try:
    while data := udp.recvfrom(100):
        udp.settimeout(0.5)
        came.append(data[0].decode())
        udp.sendto(b"%d" % len(came), data[1])
except TimeoutError:
    tcp.accept()[0].sendall(" ".join(came).encode())
"""
#: A client that prints which of its 60 datagrams came, and which answers came back.
ECHO_CLIENT = """
import socket, time
udp = socket.socket(type=socket.SOCK_DGRAM)
udp.settimeout(0.2)
for number in range(1, 61):
    udp.sendto(b"%d" % number, ("server", 7))
    time.sleep(0.001)
answers = []
try:
    while True:
        answers.append(udp.recv(100).decode())
except TimeoutError:
    time.sleep(1)
print(socket.create_connection(("server", 8)).makefile().read())
print(*answers)
"""


class Lab:
    """Runs programs with their files in a directory of the test's own."""

    def __init__(self, directory: FilePath) -> None:
        self.directory = directory
        self.stdout, self.stderr = io.BytesIO(), io.BytesIO()
        self.events: list[dict[str, Any]] = []

    def run(
        self,
        client: Sequence[str],
        servers: Sequence[Sequence[str]] = (),
        root: str = "machine",
        timeout_s: float = 60.0,
        collect: FilePath | None = None,
        image: FilePath | None = None,
        build: FilePath = BUILD,
        user: int | None = None,
        further: Mapping[str, Any] | None = None,
        stdin: bytes = b"",
        **options: Any,
    ) -> ProgramOutcome:
        self.stdout, self.stderr = io.BytesIO(), io.BytesIO()
        plan = program_plan(RunRequest(**{"stack": "cubic", "sample": "100ms", **options}))
        commands = {CLIENT_HOST: [client], SERVER_HOST: servers}
        found = roots(root, str(image) if image else None, self.directory, (), commands, build)
        programs = Programs(
            client=tuple(client),
            servers=tuple(tuple(server) for server in servers),
            places=found.places,
            user=os.getuid() if user is None else user,
            group=os.getgid() if user is None else user,
            timeout_s=timeout_s,
            share=str(found.share or ""),
            collect=str(collect or ""),
            **(further or {}),
        )
        plan = dataclasses.replace(plan, images=found.images)
        return run_programs(
            *(plan, programs, self.directory / "results", found.share, collect),
            *(self.stdout, self.stderr),
            images=find_images(build),
            watch=self.events.append,
            stdin=stdin,
        )


@pytest.fixture
def lab(tmp_path: FilePath) -> Lab:
    return Lab(tmp_path)


def test_a_ping_waits_in_a_long_buffer_and_passes_a_bulk_transfer_by_in_fq_codel(
    lab: Lab,
) -> None:
    client = ("iperf3", "-c", "server", "-p", "80", "-t", "4")
    server = ("iperf3", "-s", "-p", "80")
    path: dict[str, Any] = {"rtt": "20ms", "rate": "10Mbit", "buffer": "300ms"}
    metrics = {}
    for queue in ("droptail", "fq_codel"):
        options = path | {"queue": queue, "ecn": "on"}
        outcome = lab.run(client, [server], root="lab", **options)
        metrics[queue] = program_metrics(load_program_record(outcome.directory))
    # RFC 8290: a sparse flow waits for the packet under way, and the one that tbf has taken
    assert metrics["fq_codel"]["rtt_max_ms"] < 20 + 3 * 1514 * 8 / 10e3
    assert metrics["droptail"]["rtt_max_ms"] > 100
    towards = {queue: found["queues"][SERVER_HOST] for queue, found in metrics.items()}
    assert "marks" not in towards["droptail"]
    assert towards["fq_codel"]["marks"] > 0


@pytest.mark.nightly
def test_a_path_that_loses_a_third_and_jitters_by_what_was_asked_is_no_failure(lab: Lab) -> None:
    """All pings of a small seed were lost, and jitter of both directions was one too many."""
    asked: dict[str, Any] = {
        "rtt": "100ms",
        "loss": "30%",
        "jitter": "10ms",
        "reorder": "20%",
        "duplicate": "20%",
    }
    outcome = lab.run(["true"], **asked)
    assert outcome.ending.status == 0
    record = json.loads((outcome.directory / "exec.json").read_text())
    assert 80 < record["readback"]["idle_rtt_ms"] < 120.01


def test_a_client_meets_its_deadline_at_1_ms_and_misses_it_at_164_ms_each_time(
    lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    (lab.directory / "page").write_bytes(bytes(BYTES))
    (lab.directory / "client.py").write_text(CLIENT)
    client = (PYTHON, "client.py")
    near = lab.run(client, [SERVER], rtt="1ms", rate="100Mbit")
    assert (near.ending.status, lab.stderr.getvalue()) == (0, b"")
    far: dict[str, Any] = {"rtt": "164ms", "rate": "100Mbit", "loss": "1e-3"}
    first = lab.run(client, [SERVER], **far)
    said = lab.stdout.getvalue(), lab.stderr.getvalue()
    assert first.ending.status == 1
    assert said[1] == b"too slow\n"
    size, took_s = said[0].split()
    # A handshake, a request, and a window that doubles from ten segments on
    assert int(size) == BYTES
    assert 5 * 0.164 < float(took_s) < 10 * 0.164
    files = [load_program_record(first.directory).data["provenance"][FILES]]
    again = lab.run(client, [SERVER], **far)
    assert (lab.stdout.getvalue(), lab.stderr.getvalue()) == said
    assert again.fingerprint == first.fingerprint
    # Neither what was read nor the record in whose place this one is
    files.append(load_program_record(again.directory).data["provenance"][FILES])
    assert files[0] == files[1]
    assert files[0].keys() == FILE_WORDS.keys()
    assert not caplog.messages


@pytest.mark.nightly
def test_at_a_loss_of_a_fifth_each_direction_loses_other_packets_and_pings_come_back(
    lab: Lab,
) -> None:
    server = (PYTHON, "-c", ECHO_SERVER)
    outcome = lab.run((PYTHON, "-c", ECHO_CLIENT), [server], rtt="20ms", loss="20%")
    assert (outcome.ending.status, lab.stderr.getvalue()) == (0, b"")
    came, answers = (
        {int(word) for word in line.split()} for line in lab.stdout.getvalue().splitlines()
    )
    numbers = set(range(1, len(came) + 1))
    lost, lost_back = set(range(1, 61)) - came, numbers - answers
    # A fifth of 60, and of some 48, within three standard deviations
    assert 3 <= len(lost) <= 21
    assert 1 <= len(lost_back) <= 18
    assert lost & numbers != lost_back


def test_a_record_has_pings_queues_and_the_state_of_each_connection(lab: Lab) -> None:
    (lab.directory / "page").write_bytes(bytes(BYTES))
    (lab.directory / "client.py").write_text(CLIENT)
    outcome = lab.run((PYTHON, "client.py"), [SERVER], rtt="50ms", rate="10Mbit")
    tables = {
        name: pd.read_parquet(outcome.directory / f"{name}.parquet")
        for name in ("ping", "queue", "queue_back", "connections")
    }
    # The page goes to the client, and waits in the buffer before it
    most = {name: tables[name]["backlog_bytes"].max() for name in ("queue", "queue_back")}
    assert most["queue_back"] > 10 * max(most["queue"], 1500)
    connections = tables["connections"]
    assert set(connections["port"]) == {80}
    server = connections[connections["host"] == SERVER_HOST]
    assert server["bytes_acked"].max() >= BYTES / 4
    assert server["cwnd_packets"].max() > 40
    assert server["min_rtt_us"].max() == pytest.approx(50_000, rel=0.1)
    assert tables["ping"]["rtt_ms"].min() >= 50
    record = load_program_record(outcome.directory)
    assert record.fingerprint == outcome.fingerprint
    sent = [one["acked_bytes"] for one in program_metrics(record)["connections"]]
    assert max(sent) == server["bytes_acked"].max()
    assert (outcome.directory / "server.err").read_bytes()


def test_programs_read_what_is_shared_and_files_come_back_when_time_is_over(lab: Lab) -> None:
    (lab.directory / "input").write_text("from outside")
    collect = lab.directory / "got"
    script = (
        f"cat input >{collect}/copy; ln -s /etc/passwd {collect}/link; "
        "echo changed >input; cat input; ls; touch /elsewhere; sleep 1000"
    )
    outcome = lab.run(("sh", "-c", script), root="lab", rtt="10ms", timeout_s=3.0, collect=collect)
    assert outcome.ending == dataclasses.replace(outcome.ending, status=TIMED_OUT)
    assert outcome.ending.took_s == pytest.approx(3.0, abs=0.01)
    assert lab.stdout.getvalue().split() == [b"changed", b"got", b"input", b"results"]
    assert [file.name for file in collect.iterdir()] == ["copy"]
    assert (collect / "copy").read_text() == (lab.directory / "input").read_text() == "from outside"
    assert sorted(file.name for file in lab.directory.iterdir()) == ["got", "input", "results"]


def test_nothing_that_a_program_writes_reaches_this_machine(lab: Lab) -> None:
    script = "echo changed >file; rm -f kept; cat file; ls; echo 1 >/etc/farpath-was-here"
    (lab.directory / "file").write_text("as before")
    (lab.directory / "kept").write_text("")
    lab.run(("sh", "-c", script), rtt="10ms")
    assert lab.stdout.getvalue().split() == [b"changed", b"file", b"results"]
    assert (lab.directory / "file").read_text() == "as before"
    assert (lab.directory / "kept").exists()
    assert not FilePath("/etc/farpath-was-here").exists()


def test_a_static_program_of_an_image_runs_with_nothing_else_there(
    lab: Lab, build: FilePath
) -> None:
    image = lab.directory / "image"
    (image / "bin").mkdir(parents=True)
    source = lab.directory / "client.c"
    source.write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        'int main(void) { printf("%d %d\\n", getuid(), access("/usr", F_OK)); return 5; }\n'
    )
    program = str(image / "bin" / "client")
    subprocess.run(["cc", "-static", "-o", program, str(source)], check=True)
    outcome = lab.run(("client",), image=image, build=build, user=1000, rtt="10ms")
    assert (outcome.ending.status, lab.stdout.getvalue()) == (5, b"1000 -1\n")


def test_any_user_may_listen_on_any_port_of_the_lab_s_own_root(lab: Lab) -> None:
    client = ("iperf3", "-c", "server", "-p", "80", "-t", "1")
    server = ("iperf3", "-s", "-p", "80")
    outcome = lab.run(client, [server], root="lab", user=65534, rtt="10ms")
    assert outcome.ending.status == 0
    assert b"receiver" in lab.stdout.getvalue()


def test_programs_find_what_they_expect_of_a_host(lab: Lab) -> None:
    walk = str(FilePath(__file__).with_name("host_walk.py"))
    further = {
        "both_families": True,
        "date_s": parse_date_s(DEFAULT_DATE),
        "input": PIPE_INPUT,
        "limits": {"nofile": (5000, 6000), "nproc": (700, 800)},
        "wait_for": (9000,),
    }
    outcome = lab.run(
        *((PYTHON, walk), [(PYTHON, walk, "serve")]),
        rtt="20ms",
        further=further,
        stdin=b"data",
    )
    assert (outcome.ending.status, lab.stderr.getvalue()) == (143, b"")
    found = json.loads(lab.stdout.getvalue())
    date, _, time_of_day = found.pop("date").partition(" ")
    assert date == DEFAULT_DATE
    assert time_of_day < "00:01"
    assert found.pop("pid") > 1
    assert found == {
        "init": "sleep",
        "server": "10.0.0.1",
        "server over IPv6": "fd00::1",
        "server of the link": "fe80::ff:fe00:1",
        "localhost": ["127.0.0.1", "::1"],
        "closed port": "ConnectionRefusedError: Connection refused",
        "nobody there": "OSError: No route to host",
        "name elsewhere": "gaierror: Temporary failure in name resolution",
        "all hosts": "10.0.0.1",
        "group": "10.0.0.1",
        "group over IPv6": "fe80::ff:fe00:1",
        "transmit time stamps": [0.0],
        "own address": "10.0.0.2",
        "orphans": ["R", "S"],
        "terminal": "/dev/pts/0",
        "SIGABRT": -6,
        "files": [5000, 6000],
        "processes": [700, 800],
        "locale": "C.UTF-8",
        "shared memory": True,
        "temporary file": 4,
        "full": "OSError: No space left on device",
        "random": 16,
        "ps": "UID",
        "free": "Mem:",
        "uptime": 1,
        "routes": ["default", "10.0.0.0/8"],
        "input": "data",
    }


def test_servers_end_by_signal_or_alone_and_memory_is_bounded(lab: Lab) -> None:
    """A server that dies is told at once, and others get SIGTERM with all their children."""
    collect = lab.directory / "got"
    trap = f"trap 'echo ended >{collect}/child; exit 0' TERM; while :; do sleep 0.1; done"
    servers = [
        ("sh", "-c", "echo last words; sleep 4; exit 3"),
        ("sleep", "1000"),
        ("sh", "-c", f'sh -c "{trap}"; true'),
    ]
    client = """
import time
time.sleep(3)
print("here", flush=True)
held = [b"x" * (20 << 20) for _ in range(10)]
"""
    outcome = lab.run(
        *((PYTHON, "-c", client), servers),
        rtt="20ms",
        collect=collect,
        further={"memory_bytes": 128 << 20},
    )
    ending = outcome.ending
    assert (ending.status, lab.stdout.getvalue()) == (137, b"here\n")
    assert ending.killed_for_memory == 1
    assert [server.status for server in ending.servers] == [3, 143, 143]
    (told,) = [event for event in lab.events if event["event"] == "server-ended"]
    assert (told["label"], told["status"], told["said"]) == ("server", 3, "last words")
    assert told["t_s"] == pytest.approx(2.0, abs=0.01)
    assert ending.servers[0].t_s == told["t_s"]
    assert (collect / "child").read_text() == "ended\n"
    assert load_program_record(outcome.directory).ending == ending


def test_a_server_that_ends_at_once_is_quoted(lab: Lab) -> None:
    """One that wants another user is told the option for it."""
    server = ("sh", "-c", "echo not as this user, root or not >&2; exit 3")
    option = "as-root makes" if os.getuid() else "user=postgres runs"
    with pytest.raises(LabFailedError, match=rf"the server ended with status 3 .*not .*--{option}"):
        lab.run(("true",), [server], rtt="10ms")


def test_a_program_may_compute_for_long_between_system_calls_but_not_without_any(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = dataclasses.replace(lab_programs.PATIENCE, cpu_s=1.0)
    monkeypatch.setattr(lab_programs, "PATIENCE", patience)
    computes = "import os\nfor _ in range(300): os.write(1, b'%d ' % sum(range(500_000)))"
    script = 'began=$(date +%s%N); $0 -c "$1"; echo $(($(date +%s%N) - began)); while :; do :; done'
    with pytest.raises(LabFailedError, match="computing takes no virtual time") as caught:
        lab.run(("sh", "-c", script, PYTHON, computes), rtt="10ms")
    assert caught.value.detail == ""
    *sums, took_ns = map(int, lab.stdout.getvalue().split())
    assert sums == 300 * [sum(range(500_000))]
    assert took_ns < 20_000_000


def test_the_command_ends_with_its_clients_status_and_output_and_passes_stdin_on(
    tmp_path: FilePath,
) -> None:
    options = ["--rtt=10ms", "--server=sleep 100", "--env=WORD=there", "--output-limit=64KiB"]
    script = 'echo $WORD; getent ahosts server | grep -c 10.0.0.1; cat; $0 -c "$1"; kill -INT $$'
    ended = subprocess.run(
        [PYTHON, "-m", "farpath", "--quiet", "exec", *options, "sh", "-c", script, PYTHON, ENDLESS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        input=b"piped\n",
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (130, b"there\n3\npiped\n")
    written, message = ended.stderr[: 64 << 10], ended.stderr[64 << 10 :]
    assert written == b"x" * (64 << 10)
    assert message == (
        b"client.err has --output-limit=64KiB, and what exceeds it is lost; SIGXFSZ ends a program "
        b"then (status 153): give more, as in --output-limit=1GiB\n"
    )


def test_the_readme_shows_what_its_command_prints(tmp_path: FilePath) -> None:
    sample = (PROJECT / "README.md").read_text().partition("    $ farpath exec ")[2]
    command, shown = sample.partition("\n\n!")[0].split("\n", 1)
    ended = subprocess.run(
        [PYTHON, "-m", "farpath", "--quiet", "exec", *command.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.strip() == textwrap.dedent(shown).strip()
