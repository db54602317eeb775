"""A search over seeds for a run of services that fails, and its smallest schedule of faults."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path as FilePath
from xml.etree import ElementTree

import pytest

from farpath.lab.exec.program_run import WallTimeoutError
from farpath.lab.exec.service_roots import FoundServices, found_services
from farpath.lab.exec.service_run import UpRun
from farpath.planning.deployment import Deployment
from farpath.planning.faults import Targets, read_faults
from farpath.record.service_record import load_service_record, service_records_in
from farpath.runs.make import RunEvent
from farpath.runs.search.first_failure import search_seeds
from farpath.runs.search.result import Ended, SeedSearch
from farpath.runs.search.shrink import shrink_faults
from farpath.runs.service_runs import up_run
from farpath.spec.services import Condition, Fault, Healthcheck
from tests.support.command_line import Farpath
from tests.support.deployments import ECHO, deployment, link, service

pytestmark = pytest.mark.lab

#: Asks twice, at 1 s and at 4 s; it goes on without an answer the first time alone: the bug.
CLIENT = """
import socket, sys, time
begin_s = time.monotonic()
for at_s in (1, 4):
    time.sleep(begin_s + at_s - time.monotonic())
    try:
        with socket.create_connection(("server", 9000), timeout=0.5) as connection:
            connection.sendall(b"hello")
            answer = connection.recv(100)
    except OSError:
        if at_s == 4:
            sys.exit(3)
"""
#: The seed draws when the partition falls. The other faults leave the client alone.
FAULTS = (
    "loss:eu-ap=20%,at=0s..1s",
    "stop:other,at=1s..2s,for=1s",
    "partition:eu-us,at=0s..6s,for=1s",
    "kill:other,at=3s..5s",
)
SEEDS = range(3, 9)


class Asked:
    """A client in us, a server in eu and one in ap, with faults that a seed draws."""

    def __init__(self, *texts: str, health: Healthcheck | None = None) -> None:
        wait = (Condition("server", "service_healthy"),) if health else ()
        self.deployment = deployment(
            [
                service("server", ECHO, health=health),
                service("other", ECHO),
                service("client", CLIENT, waits_for=wait),
            ],
            {"eu": ["server"], "ap": ["other"], "us": ["client"]},
            [link("us", "eu", 80), link("eu", "ap", 100)],
            timeout_s=20.0,
        )
        self.texts = texts
        self.found: FoundServices = found_services(self.deployment)

    def drawn(self, seed: int) -> Deployment:
        faults = read_faults(self.texts, None, Targets.of(self.deployment), seed)
        return replace(self.deployment, seed=seed, faults=faults)

    def run_of(self, seed: int) -> UpRun:
        return up_run(self.drawn(seed), self.found)

    def run_with(self, seed: int, faults: tuple[Fault, ...]) -> UpRun:
        return up_run(replace(self.deployment, seed=seed, faults=faults), self.found)


def falls_onto(seed: int, asked: Asked) -> bool:
    """Whether a seed's partition is there when the client asks for the second time."""
    (partition,) = (one for one in asked.drawn(seed).faults if one.kind == "partition")
    # A connection, whose first packet is sent again after 1 s, and the answer take 160 ms
    return 3.05 < partition.at_s < 4.1


def answer(search: SeedSearch) -> list[tuple[int, int | None, str]]:
    return [
        (result.seed, result.ended.status, result.ended.fingerprint) for result in search.results
    ]


def interrupting(_before: int) -> Callable[[RunEvent[Ended]], None]:
    """Interrupt a search as Ctrl-C does, when its first run has ended."""

    def watch(event: RunEvent[Ended]) -> None:
        if event.result is not None:
            raise KeyboardInterrupt

    return watch


def test_the_lowest_failing_seed_is_found_repeats_and_shrinks_to_the_fault_that_matters(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(*FAULTS)
    failing = min(seed for seed in SEEDS if falls_onto(seed, asked))
    out = tmp_path / "results"
    with pytest.raises(KeyboardInterrupt):
        search_seeds(asked.run_of, SEEDS, out, printer=interrupting)
    finished = len(service_records_in(out))
    assert finished > 0
    search = search_seeds(asked.run_of, SEEDS, out)
    assert search.first is not None
    assert search.first.seed == failing
    assert search.first.ended.status == 3
    assert [result.seed for result in search.results] == list(range(SEEDS[0], failing + 1))
    assert search.cached == finished
    assert f"up: seed {failing} failed: status 3 after" in capsys.readouterr().err
    again = search_seeds(asked.run_of, SEEDS, out)
    assert answer(again) == answer(search)
    assert again.cached == len(search.results)
    assert capsys.readouterr().err == ""
    repeated = search_seeds(asked.run_of, [failing], tmp_path / "elsewhere")
    assert answer(repeated) == answer(search)[-1:]
    shrunk = shrink_faults(
        lambda faults: asked.run_with(failing, faults), search.first, out, most_halvings=2
    )
    assert len(search.first.faults) == len(FAULTS)
    assert [(fault.kind, fault.of) for fault in shrunk.faults] == [("partition", ("eu", "us"))]
    assert shrunk.ended.status == 3
    assert shrunk.tries[0].faults == ()
    smallest = asked.run_with(failing, shrunk.faults)
    assert shrunk.ended.record is not None
    assert load_service_record(shrunk.ended.record).services.faults == smallest.services.faults


def test_a_service_that_can_never_start_fails_a_seed_and_real_time_ends_the_search(
    tmp_path: FilePath,
) -> None:
    asked = Asked("kill:other,at=1s..2s", health=Healthcheck(("false",), interval_s=1.0, retries=1))
    search = search_seeds(asked.run_of, range(1, 3), tmp_path, keep_going=True)
    what = "client waits for server to be healthy"
    assert [(result.failed, result.ended.words) for result in search.results] == [
        (True, f"error: {what}")
    ] * 2
    assert service_records_in(tmp_path) == []
    with pytest.raises(WallTimeoutError):
        search_seeds(asked.run_of, range(1, 3), tmp_path, wall_s=0.5)


#: The client fails if its server is killed before it asks; the seed draws the other fault.
FILE = """
services:
  server: {image: machine, command: python3 -m http.server 80}
  client: {image: machine, command: sh -c "sleep 2; curl -s -o /dev/null -m 2 http://server/"}
x-farpath:
  main: client
  timeout: 20s
  sites: {eu: [server], us: [client]}
  links: [{sites: [eu, us], rtt: 80ms}]
  faults:
    - {delay: [eu, us], value: 90ms, at: 0s..1s, for: 1s}
    - {kill: server, at: 1s, probability: 0.5}
"""


@pytest.mark.nightly
def test_the_commands_that_a_search_prints_repeat_its_runs(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    file, out, report = tmp_path / "demo.yml", f"--out={tmp_path / 'out'}", tmp_path / "junit.xml"
    file.write_text(FILE)
    ended = farpath(
        *("up", str(file), "--seed=2", "--seeds=6", "--shrink", "--json", out),
        f"--junit={report}",
    )
    assert ended.status == 1
    found = json.loads(ended.out)
    first = found["runs"][-1]
    assert [run["status"] for run in found["runs"]] == [0] * (len(found["runs"]) - 1) + [7]
    assert "kill:server" in first["faults"]
    smallest = found["smallest"]
    assert smallest["faults"] == ["kill:server,at=1s"]
    for command, fingerprint in (
        (first["command"], first["fingerprint"]),
        (smallest["command"], smallest["fingerprint"]),
    ):
        program, *words = shlex.split(command)
        again = farpath(*words, "--json", f"--out={tmp_path / 'elsewhere'}")
        assert program == "farpath"
        assert again.status == 7
        assert json.loads(again.out)["fingerprint"] == fingerprint
    # The report stands where the programs start, which may read it
    again = farpath("up", str(file), "--seed=2", "--seeds=1", out)
    assert "do not count, since these have changed: the shared directory" in again.err
    assert "1 of 1 runs made" in again.err
    (suite,) = ElementTree.parse(report).getroot()
    assert len(suite.findall("testcase/failure")) == 1
