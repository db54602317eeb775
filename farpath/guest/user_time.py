"""User time: loads the module by which a user's programs find time, and reads what it counts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.spec.protocol import site_modules
from farpath.spec.user_time import ADDRESSES_FILE, MODULE
from farpath.tools import modules

COUNTS_FILE = FilePath("/proc", MODULE)


@dataclass(frozen=True)
class Looker:
    """A program that polls or reads the clock in a loop.

    ``looks``: system calls that took virtual time, all its threads together. ``took_s``: that time.
    """

    host: str
    process: int
    command: str
    looks: int
    took_s: float


def load(share: FilePath) -> None:
    """Load the module, for all programs that start from now on; raises OSError if refused."""
    addresses = json.loads((share / ADDRESSES_FILE).read_text())
    modules.insert_quietly(share / site_modules(0), MODULE, addresses)


def parse(text: str) -> tuple[bool, list[Looker]]:
    r"""Parse the module's counts: whether the time stamp counter is virtual, and who looks.

    >>> parse("tsc virtual\nsender 9 40 1000000 cu rl\nsender 9 2 500000 cu rl\n")[1]
    [Looker(host='sender', process=9, command='cu rl', looks=42, took_s=0.0015)]
    """
    counter, *lines = text.splitlines()
    lookers: dict[tuple[str, int], Looker] = {}
    for line in lines:
        host, process, looks, took_ns, command = line.split(" ", 4)
        place = (host, int(process))
        before = lookers.get(place, Looker(host, int(process), command, 0, 0.0))
        took_s = round(before.took_s + int(took_ns) / 1e9, 9)
        lookers[place] = Looker(*place, before.command, before.looks + int(looks), took_s)
    return counter == "tsc virtual", list(lookers.values())


def read() -> dict[str, Any]:
    """Return the module's counts as JSON has them."""
    is_virtual, lookers = parse(COUNTS_FILE.read_text(errors="replace"))
    return {"tsc_virtual": is_virtual, "lookers": [asdict(looker) for looker in lookers]}
