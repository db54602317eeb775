"""Guests that are stopped by their virtual clocks, with processes in their place."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest

from farpath.lab.watchdog import VirtualClock, is_stopped
from farpath.uses.debug.hold import Hold

COUNTS = """
import ctypes, time
clock = ctypes.c_uint64(1)
print(ctypes.addressof(clock), flush=True)
while True:
    clock.value += 1000
    time.sleep(1e-4)
"""


class Clock(VirtualClock):
    """A clock at a place that its process has told."""

    def __init__(self, address: int) -> None:
        self._address = address


@pytest.fixture
def guest() -> Iterator[tuple[int, Clock]]:
    """A process whose clock goes on, and that clock."""
    with subprocess.Popen(
        [sys.executable, "-c", COUNTS], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        yield process.pid, Clock(int(process.stdout.readline()))
        process.kill()


def test_a_guest_is_stopped_once_its_clock_is_there_and_goes_on_when_told(
    guest: tuple[int, Clock],
) -> None:
    pid, clock = guest
    hold = Hold([clock])
    hold.started(pid)
    assert hold.stop_at(100_000)
    now_ns = hold.now_ns()
    assert now_ns > 100_000
    while not is_stopped(pid):
        pass
    assert hold.now_ns() == clock.read_ns(pid)
    held = [hold.is_held]
    hold.go_on()
    held.append(hold.is_held)
    assert held == [True, False]
    while clock.read_ns(pid) == now_ns:
        pass
    hold.kill()


def test_a_run_that_ends_before_is_not_waited_for(guest: tuple[int, Clock]) -> None:
    hold = Hold([guest[1], guest[1]])
    hold.started(guest[0])
    hold.end()
    assert not hold.stop_at(1 << 60)
    assert FilePath(f"/proc/{guest[0]}").exists()
    assert signal.SIGSTOP
