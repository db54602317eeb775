"""Timer: waits for times of the monotonic clock without reading it."""

from __future__ import annotations

import ctypes
import os
import sys
import time

#: Flags of timerfd_create(2), which the standard library has only since Python 3.13.
TFD_CLOEXEC = os.O_CLOEXEC
TFD_TIMER_ABSTIME = 1
NS_PER_S = 1_000_000_000


class Timer:
    """A periodic timer by timerfd(2), on which a read waits."""

    def __init__(self) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self.libc.timerfd_create(time.CLOCK_MONOTONIC, TFD_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")

    def start(self, first_ns: int, interval_ns: int = 0) -> None:
        """Start the timer; it expires at ``first_ns`` of the monotonic clock and periodically.

        ``interval_ns``: 0 for a timer that expires once.
        """
        # struct itimerspec: interval and first expiry, each in s and ns.
        times = (ctypes.c_long * 4)(*divmod(interval_ns, NS_PER_S), *divmod(first_ns, NS_PER_S))
        if self.libc.timerfd_settime(self.descriptor, TFD_TIMER_ABSTIME, times, None):
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def expirations(self) -> int:
        """Wait for the timer; return how often it has expired since the last call."""
        return int.from_bytes(os.read(self.descriptor, 8), sys.byteorder)
