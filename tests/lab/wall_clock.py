"""Runs on a host of the lab: prints what the wall clock shows, and how long waits for it take.

Each line: a name, how far the clock is ahead of that of the start, in s, or how long a wait until
the wall clock's time of ``WAIT_S`` later took, in s.
"""

import ctypes
import os
import signal
import socket
import sys
import threading
import time

WAIT_S = 0.25
C = ctypes.CDLL(None, use_errno=True)
Timespec = ctypes.c_long * 2
REALTIME, ABSOLUTE = 0, 1


def deadline(*, interval: bool = False) -> ctypes.Array[ctypes.c_long]:
    """The wall clock's time in ``WAIT_S``, behind no interval if a timer takes it."""
    at_ns = time.time_ns() + round(WAIT_S * 1e9)
    both = divmod(at_ns, 10**9)
    return (ctypes.c_long * 4)(0, 0, *both) if interval else Timespec(*both)


def sleep() -> None:
    """Sleep by clock_nanosleep(2)."""
    assert C.clock_nanosleep(REALTIME, ABSOLUTE, deadline(), None) == 0


def wait_for_semaphore() -> None:
    """Wait by futex(2), as glibc's sem_timedwait() does."""
    semaphore = ctypes.create_string_buffer(32)
    assert C.sem_init(semaphore, 0, 0) == 0
    assert C.sem_timedwait(semaphore, deadline()) == -1


def read_timer() -> None:
    """Wait by timerfd_settime(2)."""
    descriptor = C.timerfd_create(REALTIME, 0)
    assert C.timerfd_settime(descriptor, ABSOLUTE, deadline(interval=True), None) == 0
    os.read(descriptor, 8)
    os.close(descriptor)


def take_alarm() -> None:
    """Wait by timer_settime(2), whose signal is SIGALRM."""
    timer = ctypes.c_void_p()
    assert C.timer_create(REALTIME, None, ctypes.byref(timer)) == 0
    assert C.timer_settime(timer, ABSOLUTE, deadline(interval=True), None) == 0
    signal.sigwait([signal.SIGALRM])
    assert C.timer_delete(timer) == 0


def receive() -> float:
    """Return the time stamp of a packet that arrives now."""
    with socket.socket(type=socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        stamps = 35  # SO_TIMESTAMPNS
        one.setsockopt(socket.SOL_SOCKET, stamps, 1)
        one.sendto(b"x", one.getsockname())
        _, ((_, _, stamp),), _, _ = one.recvmsg(1, 100)
    s, ns = Timespec.from_buffer_copy(stamp)
    return s + ns / 1e9


def c_time() -> float:
    """Return what gettimeofday(2) says."""
    found = Timespec()
    assert C.gettimeofday(found, None) == 0
    return found[0] + found[1] / 1e6


def tai_time() -> float:
    """Return International Atomic Time; the kernel knows of no leap second."""
    return time.clock_gettime(time.CLOCK_TAI)


CLOCKS = {
    "clock_gettime": time.time,
    "gettimeofday": c_time,
    "time": lambda: C.time(None) + 0.5,
    "tai": tai_time,
    "stamp": receive,
}
WAITS = (sleep, wait_for_semaphore, read_timer, take_alarm)


def main() -> None:
    """Look at the clocks and wait, at each of the times that the arguments name, in s."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    began_s, began_monotonic_s = time.time(), time.monotonic()

    def ahead_s(read: object) -> float:
        assert callable(read)
        return read() - began_s - (time.monotonic() - began_monotonic_s)

    for at_s in map(float, sys.argv[1:]):
        time.sleep(began_monotonic_s + at_s - time.monotonic())
        for name, read in CLOCKS.items():
            print(name, round(ahead_s(read), 3), flush=True)
        for wait in WAITS:
            before_s = time.monotonic()
            # A thread of its own, with a stack of its own
            thread = threading.Thread(target=wait)
            thread.start()
            thread.join()
            print(wait.__name__, round(time.monotonic() - before_s, 3), flush=True)


if __name__ == "__main__":
    main()
