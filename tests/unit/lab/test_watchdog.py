"""The watchdog: a guest that works slowly lives, one that makes no progress does not."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path as FilePath

import pytest

from farpath.lab import watchdog
from farpath.lab.artifacts import elf
from farpath.lab.watchdog import (
    Hang,
    LastProgress,
    OutOfTime,
    Patience,
    VirtualClock,
    Watchdog,
    activity_of,
)
from tests.support.processes import completed

#: Each is a guest's kernel; the first line says that it has begun, with its clock's address.
BEGIN = """
import ctypes, subprocess, sys, time
clock = ctypes.c_uint64(10**9)
print(ctypes.addressof(clock), flush=True)
"""
COMPUTES = BEGIN + "while True: pass"
COMPUTES_AND_ITS_CLOCK_GOES_ON = BEGIN + "while True: clock.value += 1"
STANDS_STILL = BEGIN + "time.sleep(600)"
#: A clock that goes on and a program that runs and waits, in turns.
WORKS = BEGIN + (
    "wait = 'import time\\nwhile True: time.sleep(1e-3)'\n"
    "program = subprocess.Popen([sys.executable, '-c', wait])\n"
    "while program.poll() is None: clock.value += 1\n"
)
#: A program that runs and waits, in turns, while the clock stands still.
CALLS_ALONE = WORKS.replace("clock.value += 1", "pass")
LATE = BEGIN + "sys.stdin.readline()\nclock.value += 10**12\ntime.sleep(600)"
LIMIT_S = 30.0
#: Says whether the pointer at the given address is that of a function which it has called.
CALLS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words)
{
    getppid();
    puts(*(void **)strtoul(words[1], NULL, 0) == dlsym(RTLD_DEFAULT, "getppid") ? "same" : "other");
}
"""


class Clock(VirtualClock):
    """A clock at a place that its guest has told."""

    def __init__(self, address: int) -> None:
        self._address = address


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "LOOK_S", 0.01)


Guest = Callable[..., Watchdog]


@pytest.fixture
def watch() -> Iterator[Guest]:
    """Start a process and watch it; it is killed at the end, with all that it started."""
    started: list[subprocess.Popen[str]] = []

    def start(
        text: str, patience: Patience, progress: LastProgress | None = None, readable: bool = True
    ) -> Watchdog:
        process = subprocess.Popen(
            [sys.executable, "-c", text],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        address = int(process.stdout.readline())
        clock = Clock(address) if readable else None
        dog = Watchdog(process.pid, patience, clock, progress)
        process.stdin.write("\n")
        process.stdin.flush()
        return dog

    yield start
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def look_until_hang(dog: Watchdog) -> str:
    """What the watchdog says of a hang; fails if there is none."""
    end_s = time.monotonic() + LIMIT_S
    while time.monotonic() < end_s:
        try:
            dog.look()
        except Hang as hang:
            return str(hang)
        time.sleep(0.02)
    return pytest.fail("it was not taken for hanging")


@pytest.mark.parametrize("text", [COMPUTES, COMPUTES_AND_ITS_CLOCK_GOES_ON])
def test_a_kernel_that_computes_and_runs_no_program_hangs(watch: Guest, text: str) -> None:
    message = look_until_hang(watch(text, Patience(real_s=600, cpu_s=0.2, virtual_s=600)))
    assert "computed for 0.2 s without progress" in message


def test_a_guest_that_works_outlives_the_limit_of_one_that_does_not(watch: Guest) -> None:
    dog = watch(WORKS, Patience(real_s=600, cpu_s=0.3, virtual_s=600))
    end_s = time.monotonic() + 2.0
    looks = 0
    while time.monotonic() < end_s:
        looks += dog.look()
        time.sleep(0.05)
    assert looks
    assert (dog.silence_s() or 0.0) > 0.0


def test_a_guest_whose_programs_look_at_the_clock_for_too_long_hangs(watch: Guest) -> None:
    patience = Patience(real_s=600, cpu_s=0.2, busy_virtual_s=1e-7, virtual_s=600)
    assert "without progress" in look_until_hang(watch(WORKS, patience))


def test_system_calls_while_the_clock_stands_still_are_progress_up_to_a_limit_of_their_own(
    watch: Guest,
) -> None:
    patience = Patience(real_s=600, cpu_s=0.4, virtual_s=600)
    assert "computed for 0.4 s" in look_until_hang(watch(CALLS_ALONE, patience))
    patience = dataclasses.replace(patience, calling_cpu_s=1.0)
    assert "computed for 1 s" in look_until_hang(watch(CALLS_ALONE, patience))
    assert "computed for 0.4 s" in look_until_hang(watch(COMPUTES, patience))


@pytest.mark.parametrize("readable", [True, False])
def test_a_guest_without_a_sign_of_life_hangs(watch: Guest, readable: bool) -> None:
    patience = Patience(real_s=0.2, cpu_s=600, virtual_s=600)
    assert "printed nothing for 0.2 s" in look_until_hang(
        watch(STANDS_STILL, patience, readable=readable)
    )


def test_a_stopped_guest_of_a_debugger_does_not_hang_nor_one_that_waits_for_it(
    watch: Guest,
) -> None:
    patience = Patience(real_s=0.3, cpu_s=600, virtual_s=600, is_held=lambda: True)
    shared = LastProgress()
    stopped, waits = watch(STANDS_STILL, patience, shared), watch(STANDS_STILL, patience, shared)
    os.kill(stopped.pid, signal.SIGSTOP)
    end_s = time.monotonic() + 1.0
    while time.monotonic() < end_s:
        stopped.look()
        waits.look()
        time.sleep(0.02)
    os.kill(stopped.pid, signal.SIGCONT)
    assert "printed nothing for 0.3 s" in look_until_hang(waits)


def test_a_guest_that_a_signal_has_stopped_hangs(watch: Guest) -> None:
    stopped = watch(STANDS_STILL, Patience(real_s=0.3, cpu_s=600, virtual_s=600))
    os.kill(stopped.pid, signal.SIGSTOP)
    assert "printed nothing for 0.3 s" in look_until_hang(stopped)
    os.kill(stopped.pid, signal.SIGCONT)


def test_a_guest_whose_own_time_passes_in_silence_hangs(watch: Guest) -> None:
    dog = watch(LATE, Patience(real_s=600, cpu_s=600, virtual_s=90))
    assert "it sent no event in 1000 virtual s" in look_until_hang(dog)


def test_an_event_begins_all_limits_anew(watch: Guest) -> None:
    dog = watch(STANDS_STILL, Patience(real_s=0.4, cpu_s=600, virtual_s=600))
    for _ in range(4):
        time.sleep(0.2)
        dog.feed()
        time.sleep(0.02)
        assert dog.look()


def test_a_guest_that_waits_for_another_one_lives_as_long_as_that_works(watch: Guest) -> None:
    patience = Patience(real_s=0.4, cpu_s=600, virtual_s=600)
    shared = LastProgress()
    works, waits = watch(WORKS, patience, shared), watch(STANDS_STILL, patience, shared)
    end_s = time.monotonic() + 1.5
    while time.monotonic() < end_s:
        works.look()
        waits.look()
        time.sleep(0.02)
    assert "printed nothing for 0.4 s" in look_until_hang(waits)


def test_a_guest_has_its_real_time_and_no_more(watch: Callable[..., Watchdog]) -> None:
    watch(WORKS, Patience()).check_wall()
    dog = watch(WORKS, Patience(wall_s=0.0))
    with pytest.raises(OutOfTime):
        dog.check_wall()


def test_a_process_that_is_gone_has_no_clock() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert Clock(ctypes.addressof(ctypes.c_uint64(1))).read_ns(process.pid) is None
    assert activity_of(process.pid).waits == 0


def test_a_symbol_is_found_by_its_whole_name(tmp_path: FilePath) -> None:
    program = tmp_path / "program"
    source = "unsigned long long time_travel_time = 7, time_travel_time_too; int main() {return 0;}"
    command = ["gcc", "-no-pie", "-x", "c", "-o", str(program), "-"]
    subprocess.run(command, input=source, text=True, check=True)
    listed = completed(["nm", str(program)], check=True)
    addresses = {line.split()[-1]: line.split()[0] for line in listed.stdout.splitlines()}
    symbol = elf.symbol(program.read_bytes(), b"time_travel_time")
    assert symbol == int(addresses["time_travel_time"], 16)
    assert elf.symbol(program.read_bytes(), b"travel_time") is None
    assert elf.symbol(program.read_bytes(), b"time_travel") is None
    wanted = (b"time_travel_time", b"main", b"nowhere")
    found = elf.symbols(program.read_bytes(), wanted)
    assert found == {
        name.encode(): int(addresses[name], 16) for name in ("time_travel_time", "main")
    }


def test_the_pointer_to_a_function_of_the_c_library_is_found(tmp_path: FilePath) -> None:
    source = tmp_path / "calls.c"
    source.write_text(CALLS)
    program = tmp_path / "calls"
    subprocess.run(["gcc", "-no-pie", "-Wl,-z,lazy", "-o", program, source], check=True)
    content = program.read_bytes()
    slot = elf.import_slot(content, b"getppid")
    assert subprocess.check_output([program, str(slot)]) == b"same\n"
    assert elf.import_slot(content, b"getpp") is None
    assert elf.import_slot(b"\x7fELF" + bytes(60), b"getppid") is None
