"""Time as programs on the lab's hosts find it: loops that look, and the time stamp counter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.lab.exec.program_run import WallTimeoutError
from farpath.lab.watchdog import OutOfTime, Watchdog
from farpath.record.program_record import load_program_record
from farpath.spec.programs import TIMED_OUT
from tests.lab.test_exec import Lab

LOOPS = FilePath(__file__).with_name("loops.c")
CONNECTIONS = 300
#: A server that echoes, and a client that opens its connections at once and pings on each.
ECHO_SERVER = """
import asyncio
async def echo(reader, writer):
    while data := await reader.read(100): writer.write(data)
async def main():
    await (await asyncio.start_server(echo, "0.0.0.0", 9000, backlog=4096)).serve_forever()
asyncio.run(main())
"""
BURST_CLIENT = f"""
import asyncio, time
async def ping():
    reader, writer = await asyncio.open_connection("server", 9000)
    writer.write(b"ping")
    await reader.readexactly(4)
async def main():
    began_ns = time.monotonic_ns()
    await asyncio.gather(*(ping() for _ in range({CONNECTIONS})))
    print("burst", {CONNECTIONS}, (time.monotonic_ns() - began_ns) // 1000, flush=True)
asyncio.run(main())
"""


def test_loops_that_look_take_virtual_time_bursts_take_none_and_rdtsc_counts_it(
    tmp_path: FilePath,
) -> None:
    lab = Lab(tmp_path)
    program = tmp_path / "loops"
    subprocess.run(["gcc", "-O1", "-o", str(program), str(LOOPS)], check=True)
    client = ("sh", "-c", f'"$0" -c "$1"; exec {program}', sys.executable, BURST_CLIENT)
    server = (sys.executable, "-c", ECHO_SERVER)
    outcome = lab.run(client, [server], rtt="10ms", rate="450Mbit", timeout_s=5.0)
    assert (outcome.ending.status, lab.stderr.getvalue()) == (TIMED_OUT, b"")
    lines = [line.split() for line in lab.stdout.getvalue().decode().splitlines()]
    found = {name: (int(looks), int(took_us)) for name, looks, took_us in lines}
    # A tick is a nanosecond, and the lab's one processor has the number 0
    assert found.pop("counter") == (0, 100_050)
    # The kernel gives a sleep 50 us of slack (prctl(2), PR_SET_TIMERSLACK)
    assert 10_000 <= found.pop("sleeper")[1] < 10_520
    # Two round trips; the packets of a connection and its readings of the clock take 9 us
    connections, took_us = found.pop("burst")
    assert 20_000 <= took_us < 20_000 + 15 * connections
    # Calls that change 100 descriptors in turn are progress, 65,536 times at most
    assert 60_000 < found["many"][0] < 68_000
    found["many"] = (0, found["many"][1])
    assert len(found) == 13
    user_time = load_program_record(outcome.directory).data["readback"]["user_time"]
    assert user_time["tsc_virtual"]
    assert [looker["command"] for looker in user_time["lookers"]] == ["loops"]
    for looks, took_us in found.values():
        assert looks < 3000
        # A timer of the kernel's is late by a tick at most, and a look takes 40 us
        assert 20_000 <= took_us < 21_050


def test_programs_that_are_out_of_real_time_are_ended_and_leave_their_output(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)

    def check(_watchdog: Watchdog) -> None:
        if any(event.get("t_s") == 2.0 for event in lab.events):
            raise OutOfTime

    monkeypatch.setattr(Watchdog, "check_wall", check)
    loop = "import select\nprint('here', flush=True)\nwhile True: select.select([], [], [], 0)"
    client = (sys.executable, "-c", loop)
    with pytest.raises(WallTimeoutError, match="2 of at most 60 virtual s; the client's") as caught:
        lab.run(client, rtt="10ms")
    assert caught.value.exit_status == TIMED_OUT
    assert lab.stdout.getvalue() == b"here\n"
    (kept,) = (tmp_path / "results").glob("*.output")
    assert (kept / "client.out").read_text() == "here\n"
    assert str(kept) in str(caught.value)
