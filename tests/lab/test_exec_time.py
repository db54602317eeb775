"""Time as programs on the lab's hosts find it: loops that look, and the time stamp counter."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.lab import watchdog
from farpath.lab.exec import program_run
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

#: A thread that reads a flag in a loop until another thread has set it, at once or after a sleep.
SPINS = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static atomic_int flag;
static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
static void *set(void *after_us)
{
    if (after_us) usleep((long)after_us);
    flag = 1;
    return 0;
}
int main(void)
{
    for (long after_us = 0; after_us <= 1000; after_us += 1000) {
        pthread_t thread;
        long began_us = now_us();
        flag = 0;
        pthread_create(&thread, 0, set, (void *)after_us);
        while (!flag);
        printf("%ld\\n", now_us() - began_us);
        pthread_join(thread, 0);
    }
}
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


def test_a_loop_without_a_system_call_waits_for_another_thread_which_then_runs(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one processor without preemption it would wait for ever."""
    patience = dataclasses.replace(program_run.PATIENCE, free_cpu_s=0.5)
    monkeypatch.setattr(program_run, "PATIENCE", patience)
    monkeypatch.setattr(watchdog, "FREE_AGAIN_S", 0.2)
    lab = Lab(tmp_path)
    program = tmp_path / "spins"
    spins = ["gcc", "-O1", "-pthread", "-x", "c", "-o", str(program), "-"]
    subprocess.run(spins, input=SPINS, text=True, check=True)
    outcome = lab.run((str(program),), rtt="10ms")
    assert outcome.ending.status == 0
    at_once_us, later_us = map(int, lab.stdout.getvalue().split())
    # A sleep of 40 us, with the kernel's slack; and sleeps that double until 1 ms has passed
    assert 40 <= at_once_us < 200
    assert 1_000 <= later_us < 3_000
    record = load_program_record(outcome.directory).data
    assert record["readback"]["user_time"]["freed"] >= 5
    assert "without a system call" in record["warnings"][0]
