"""Hold: lets the guests of a run go freely until shortly before an instant, and stops them there.

Nobody traces a guest so far, so nothing slows it. Its virtual clock is read from its memory, and
it is stopped by a signal, which moves no virtual time.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from farpath.lab.watchdog import VirtualClock

#: Real seconds between two readings of a clock.
READ_S = 0.0005
#: How long before an instant guests are stopped, in virtual s: at the first try, and where a busy
#: machine has let one pass the instant in between, at further ones.
MARGINS_S = (0.5, 4.0)


@dataclass
class Hold:
    """The guests of a run and their clocks, by process id in the order of their sites.

    ``started`` is called by the lab with each guest's first process. ``is_held``: whether they are
    stopped here, or gdb has them.
    """

    clocks: Sequence[VirtualClock]
    pids: list[int] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    is_held: bool = False
    _ended: bool = False

    def started(self, pid: int) -> None:
        """Note a guest that has been started."""
        with self._changed:
            self.pids.append(pid)
            self._changed.notify_all()

    def end(self) -> None:
        """Note that the run has ended, however it did."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def stop_at(self, until_ns: int) -> bool:
        """Stop each guest as soon as its clock is at an instant; False if the run ends before."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self.pids) == len(self.clocks))
        self.is_held = True
        waiting = dict(zip(self.pids, self.clocks, strict=False))
        while waiting and not self._ended:
            for pid, clock in list(waiting.items()):
                # Before the kernel has started, its memory has no clock, or it is 0
                if (clock.read_ns(pid) or 0) > until_ns:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGSTOP)
                    del waiting[pid]
            time.sleep(READ_S)
        return not self._ended

    def now_ns(self) -> int:
        """Return the time of the guest that is first, by their clocks."""
        pairs = zip(self.pids, self.clocks, strict=False)
        return max(clock.read_ns(pid) or 0 for pid, clock in pairs)

    def go_on(self) -> None:
        """Let go of all guests: those go on that a signal has stopped."""
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.is_held = False

    def kill(self) -> None:
        """Kill every process of all guests."""
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def far_memory(pid: int, name: str) -> FilePath | None:
    """Return the file of the far links' memory that a guest has inherited; None without one."""
    with suppress(OSError):
        for descriptor in FilePath(f"/proc/{pid}/fd").iterdir():
            if f"/memfd:{name}" in str(descriptor.readlink()):
                return descriptor
    return None
