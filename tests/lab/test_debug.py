"""``farpath debug``: a recorded run again, stopped in gdb, which moves no packet."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path as FilePath

import pytest

from farpath.base.project import PROJECT
from farpath.lab.run import run
from farpath.lab.user_parts import BuiltParts
from farpath.planning.request import RunRequest
from farpath.record.record import Record, load_record
from tests.support.command_line import Farpath
from tests.support.networks import short_plan
from tests.support.processes import completed, interruptible

SECONDS = 5
DOCUMENT = PROJECT / "docs" / "how-to" / "debug.md"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of a run in which the bottleneck drops packets."""
    out = tmp_path_factory.mktemp("recorded")
    plan = short_plan(stack="reno", rtt="20ms", rate="20Mbit", region=f"{SECONDS}s")
    return load_record(run(plan, out, False, lambda _event: None).directory)


def script(directory: FilePath, *lines: str) -> str:
    """The option of a script with these lines."""
    file = directory / "script"
    file.write_text("\n".join(lines))
    return f"--script={file}"


def stops(seed: int, count: int) -> list[str]:
    """Commands that stop a run at random instants, one after the other, and let it end."""
    drawn = random.Random(seed)
    instants = sorted(drawn.uniform(0.5, SECONDS - 0.5) for _ in range(count))
    return [f"run to {instant:.9f}s" for instant in instants]


def times(printed: str) -> list[float]:
    """The instants at which a run has stopped, as gdb's side prints them."""
    return [float(found) for found in re.findall(r"^\w+ at ([\d.]+) s$", printed, re.MULTILINE)]


def held_to(record: Record, *options: str, before: str = "", with_types: bool = False) -> str:
    """What a session has printed that let the run end; its fingerprint is the record's.

    ``before``: statements of Python that come before the command. ``with_types``: whether the
    kernel is compiled again, with debug information.
    """
    names_only = [] if with_types else ["--names-only"]
    command = ["farpath", "debug", str(record.directory), *names_only, *options]
    code = f"import sys; sys.argv = {command!r}; {before}from farpath.cli.app import main; main()"
    ended = completed([sys.executable, "-c", code])
    assert ended.returncode == 0, ended.stderr
    assert f"fingerprint {record.fingerprint}, as recorded" in ended.stdout
    return ended.stdout


@pytest.mark.nightly
def test_stops_at_random_instants_leave_the_fingerprint(
    recorded: Record, tmp_path: FilePath
) -> None:
    lines = [*stops(1, 4), "sites", "packets 3", "run to end"]
    printed = held_to(recorded, "--at=0.4s", script(tmp_path, *lines))
    wanted = [0.4, *(float(line.split()[-1].rstrip("s")) for line in lines[:4])]
    for stop_s, wanted_s in zip(times(printed), wanted, strict=True):
        # The next step of a clock, which ticks each millisecond at the least
        assert wanted_s <= stop_s <= wanted_s + 1.1e-3
    sites = [float(found) for found in re.findall(r"  (\d\.\d{9}) s  process", printed)]
    assert len(sites) == 2
    assert all(wanted[-1] <= site_s <= wanted[-1] + 1.1e-3 for site_s in sites)
    assert len(re.findall(r"link [01] .*TCP \d+ > \d+", printed)) == 3


@pytest.mark.nightly
def test_a_stop_longer_than_the_watchdogs_patience_is_no_hang(
    recorded: Record, tmp_path: FilePath
) -> None:
    # Ten minutes at a prompt, in short
    lines = script(tmp_path, "shell sleep 12", "run to end")
    short = (
        "from farpath.lab import uml; from farpath.lab.watchdog import Patience; "
        "uml.patience_with = lambda plan: Patience(real_s=6.0); "
    )
    held_to(recorded, "--at=2s", lines, before=short)


def test_an_event_stops_the_run_and_a_way_back_makes_it_again(
    recorded: Record, tmp_path: FilePath
) -> None:
    printf = re.search(r"printf '(.+)' >look", DOCUMENT.read_text())
    assert printf
    lines = script(tmp_path, *printf[1].split("\\n"))
    printed = held_to(recorded, "--break=tcp_enter_recovery", lines)
    event_s, earlier_s = times(printed)
    assert re.search(r"^\* 1  sender +\d\.\d{9} s  process", printed, re.MULTILINE)
    assert re.search(r"#0 .*tcp_enter_recovery", printed)
    assert event_s - 0.1 <= earlier_s <= event_s - 0.1 + 1.1e-3


def test_the_state_of_a_stop_is_one_object_of_json(recorded: Record, farpath: Farpath) -> None:
    ended = farpath("debug", recorded.directory, "--names-only", "--at=1s", "--json")
    assert ended.status == 0, ended.err
    state = json.loads(ended.out)
    assert [site["site"] for site in state["sites"]] == ["sender", "receiver"]
    assert 1.0 <= state["at_s"] < 1.0011
    assert state["backtrace"][0]["function"]


def test_a_run_without_the_event_ends_with_one_line(recorded: Record, farpath: Farpath) -> None:
    ended = farpath(
        "debug", recorded.directory, "--names-only", "--break=tcp_v6_connect", "--json", "--at=4s"
    )
    assert ended.status == 2
    assert "tcp_v6_connect has not come" in ended.err


def test_ctrl_c_leaves_nothing(recorded: Record, tmp_path: FilePath) -> None:
    command = [
        *(str(FilePath(sys.executable).with_name("farpath")), "debug", str(recorded.directory)),
        *(
            "--names-only",
            "--at=1s",
            script(tmp_path, "echo stopped\\n", "python import time; time.sleep(600)"),
        ),
    ]
    with subprocess.Popen(
        interruptible(command),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        before = next(line for line in process.stdout if "stopped" in line)
        guests = children_of(process.pid)
        assert before
        assert len(guests) > 2
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    end_s = time.monotonic() + 10
    while any(is_alive(pid) for pid in guests):
        assert time.monotonic() < end_s
        time.sleep(0.1)


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    tasks = FilePath(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for has."""
    try:
        return "\nState:\tZ" not in FilePath(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.nightly
def test_fifty_stops_leave_the_fingerprint(recorded: Record, tmp_path: FilePath) -> None:
    lines = [*stops(2, 50), "run to end"]
    printed = held_to(recorded, "--at=0.4s", script(tmp_path, *lines))
    assert len(times(printed)) == 51


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("event", "functions"),
    [
        (("--packet=flow1:100",), ("__tcp_transmit_skb",)),
        (("--packet=flow1:seq=1000000",), ("__tcp_transmit_skb",)),
        (("--drop",), ("qstats_drop_inc", "bfifo_enqueue")),
        (("--at=3s", "--watch=flow1.snd_cwnd<1000"), ()),
        (("--break=tcp_enter_recovery:flow1",), ("tcp_enter_recovery",)),
    ],
    ids=lambda value: value[-1].split("=")[0] if value and value[0].startswith("--") else "",
)
def test_an_event_of_a_flow_stops_the_run_in_its_function_with_its_state(
    recorded: Record, farpath: Farpath, event: tuple[str, ...], functions: tuple[str, ...]
) -> None:
    ended = farpath("debug", recorded.directory, *event, "--json")
    assert ended.status == 0, ended.err
    state = json.loads(ended.out)
    assert state["backtrace"][0]["file"].endswith((".c", ".h"))
    assert not functions or state["backtrace"][0]["function"] in functions
    sender, receiver = (state["flows"]["flow1"][end] for end in ("sender", "receiver"))
    assert (sender["congestion_control"], sender["port"]) == ("reno", receiver["other_port"])
    assert sender["in_flight"] <= sender["snd_cwnd"]
    if "--packet=flow1:100" in event:
        assert sender["data_segments_out"] == 99
    if "--drop" in event:
        assert any(queue["drops"] for queue in state["queues"])


@pytest.mark.nightly
def test_sockets_queues_and_timers_are_shown_and_packets_are_stepped(
    recorded: Record, tmp_path: FilePath
) -> None:
    lines = ("sock flow1", "scoreboard flow1", "queue", "timers", "step packet", "run to end")
    printed = held_to(
        recorded, "--at=2s", "--break=tcp_ack:flow1", script(tmp_path, *lines), with_types=True
    )
    assert re.search(r"^  congestion_control +reno$", printed, re.MULTILINE)
    assert re.search(r"^ +0 - +[\d,]+ +[\d,]+ segments +in flight$", printed, re.MULTILINE)
    assert re.search(r"^s\d-eth\d +bottleneck ", printed, re.MULTILINE)
    assert re.search(r"flow1 sender: retransmit", printed)
    stopped_s, stepped_s = times(printed)
    assert stopped_s < stepped_s < stopped_s + 0.01


@pytest.mark.nightly
def test_a_module_of_the_users_is_shown_with_its_source(
    tmp_path: FilePath, farpath: Farpath
) -> None:
    source = PROJECT / "examples" / "own-module" / "tcp_fixed.c"
    plan = RunRequest(stack=str(source), rtt="20ms", region="5s", schedule="together").plan(
        user_parts=BuiltParts("virtual")
    )
    directory = run(plan, tmp_path, False, lambda _event: None).directory
    ended = farpath("debug", directory, "--at=1s", "--break=fixed_control:flow1", "--json")
    assert ended.status == 0, ended.err
    here, caller, *_ = json.loads(ended.out)["backtrace"]
    assert (here["function"], FilePath(here["file"]).name) == ("fixed_control", source.name)
    lines = FilePath(here["file"]).read_text().splitlines()
    assert any("fixed_control(" in line for line in lines[: here["line"]][-6:])
    assert caller["function"] == "tcp_cong_control"
