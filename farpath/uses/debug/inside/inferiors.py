"""Inferiors of gdb: the guests of a stopped run, one for each site, with its virtual clock."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import gdb

#: Signals by which User Mode Linux works. SIGTRAP, passed on, would panic it.
HANDLED = (
    "all nostop noprint pass",
    "SIGTRAP stop print nopass",
    "SIGINT stop print nopass",
)
SETTINGS = (
    "pagination off",
    "confirm off",
    "width 0",
    "auto-solib-add off",
    "displaced-stepping off",
    "print thread-events off",
    "print inferior-events off",
    "debuginfod enabled off",
    "schedule-multiple on",
)
#: Otherwise gdb loses the resumption of a site that alone goes on (seen with gdb 13).
ALL_STOP = "maintenance set target-non-stop off"
#: User Mode Linux's virtual clock, in ns (arch/um/kernel/time.c).
CLOCK = "time_travel_time"
STDOUT = 1
_WORD = struct.Struct("<Q")


@contextmanager
def _silence() -> Iterator[None]:
    """Send to nowhere what gdb prints, of stops and switches even while output is a text."""
    gdb.flush()
    kept, nowhere = os.dup(STDOUT), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STDOUT)
    try:
        yield
    finally:
        gdb.flush()
        os.dup2(kept, STDOUT)
        os.close(kept)
        os.close(nowhere)


def run_silently(command: str) -> str:
    """Run a command of gdb's; return what it printed."""
    with _silence():
        return str(gdb.execute(command, to_string=True) or "")


@dataclass
class Site:
    """A site's guest. ``number``: from 0. ``title``: its first host. ``inferior``: gdb's number.

    ``clock_address``: where the guest has its virtual clock.
    """

    number: int
    title: str
    pid: int
    inferior: int
    clock_address: int = 0

    @property
    def now_ns(self) -> int:
        """The site's virtual time in ns from its boot."""
        return self.word(self.clock_address)

    @property
    def is_alive(self) -> bool:
        """Whether gdb still has its guest."""
        return any(one.num == self.inferior and one.pid for one in gdb.inferiors())

    def read(self, address: int, size_bytes: int) -> bytes:
        """Read the guest's memory, whichever inferior is selected."""
        with open(f"/proc/{self.pid}/mem", "rb", 0) as memory:
            return os.pread(memory.fileno(), size_bytes, address)

    def word(self, address: int) -> int:
        """Read 8 bytes as a number."""
        return int(_WORD.unpack(self.read(address, _WORD.size))[0])

    @contextmanager
    def selected(self) -> Iterator[None]:
        """Select its inferior for as long as the context lasts."""
        before = gdb.selected_inferior().num
        self.select()
        try:
            yield
        finally:
            if any(one.num == before and one.pid for one in gdb.inferiors()):
                run_silently(f"inferior {before}")

    def select(self) -> None:
        """Select its inferior."""
        if gdb.selected_inferior().num != self.inferior:
            run_silently(f"inferior {self.inferior}")


class Sites:
    """All sites of a run. ``epoch_ns``: the schedule's start by their clocks."""

    def __init__(self, sites: Sequence[Site], epoch_ns: int) -> None:
        self.all = list(sites)
        self.epoch_ns = epoch_ns

    @property
    def current(self) -> Site:
        """The site of the selected inferior."""
        number = gdb.selected_inferior().num
        return next((site for site in self.all if site.inferior == number), self.all[0])

    def others(self, site: Site) -> list[Site]:
        """Return the other sites that still run."""
        return [one for one in self.all if one is not site and one.is_alive]

    def at_s(self, ns: int) -> float:
        """Return a time of the sites' clocks in s from the schedule's start."""
        return (ns - self.epoch_ns) / 1e9

    def ns_of(self, at_s: float) -> int:
        """Return a time in s from the schedule's start by the sites' clocks."""
        return self.epoch_ns + round(at_s * 1e9)

    def is_over(self) -> bool:
        """Whether a guest has ended."""
        return not all(site.is_alive for site in self.all)


def attach(config: Mapping[str, Any]) -> Sites:
    """Attach gdb to the guests of all sites, which stand still.

    Raises gdb.error if the machine does not allow it.
    """
    run_silently(ALL_STOP)
    for setting in SETTINGS:
        run_silently(f"set {setting}")
    for handled in HANDLED:
        run_silently(f"handle {handled}")
    found = []
    for one in config["sites"]:
        inferior = one["site"] + 1
        if one["site"]:
            run_silently("add-inferior -no-connection")
            run_silently(f"inferior {inferior}")
        run_silently(f"exec-file {one['linux']}")
        run_silently(f"symbol-file {one['symbols']}")
        run_silently(f"attach {one['pid']}")
        address = int(gdb.parse_and_eval(f"(unsigned long)&{CLOCK}"))
        found.append(Site(one["site"], one["title"], one["pid"], inferior, address))
    found[0].select()
    return Sites(found, config["epoch_ns"])
