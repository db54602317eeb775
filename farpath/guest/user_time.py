"""User time: loads the module by which a user's programs find time, and reads what it counts.

The module also steps the wall clock of a host.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.guest.system import NS_PER_S
from farpath.spec.protocol import site_modules
from farpath.spec.user_time import ADDRESSES_FILE, MODULE
from farpath.tools import modules

COUNTS_FILE = FilePath("/proc", MODULE)
#: Begin lines of that file: of a wall clock, and of all loops without a system call that slept;
#: lines of programs begin with a number.
CLOCK, FREED = "clock ", "freed "
#: How many programs are told to the host.
MOST_LOOKERS = 4


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


def load(share: FilePath, site: int = 0) -> None:
    """Load a site's module, for all programs that start from now on; raises OSError if refused."""
    addresses = json.loads((share / ADDRESSES_FILE).read_text())
    modules.insert_quietly(share / site_modules(site), MODULE, addresses)


def parse(text: str, hosts: Mapping[int, str]) -> tuple[bool, list[Looker]]:
    r"""Parse the module's counts: whether the time stamp counter is virtual, and who looks.

    ``hosts``: by the numbers of their network namespaces; other programs are left out.

    >>> text = "tsc virtual\nclock 7 -1\n5 9 40 1000000 cu rl\n5 9 2 500000 cu rl\n6 1 2 3 sh\n"
    >>> parse(text, {5: "sender"})[1]
    [Looker(host='sender', process=9, command='cu rl', looks=42, took_s=0.0015)]
    """
    counter, *lines = text.splitlines()
    lookers: dict[tuple[str, int], Looker] = {}
    for line in lines:
        if line.startswith((CLOCK, FREED)):
            continue
        network, process, looks, took_ns, command = line.split(" ", 4)
        if int(network) not in hosts:
            continue
        place = (hosts[int(network)], int(process))
        before = lookers.get(place, Looker(*place, command, 0, 0.0))
        took_s = round(before.took_s + int(took_ns) / 1e9, 9)
        lookers[place] = Looker(*place, before.command, before.looks + int(looks), took_s)
    return counter == "tsc virtual", list(lookers.values())


def freed(text: str) -> int:
    r"""Parse how often the lab let others run beside a loop without a system call.

    >>> freed("tsc virtual\nfreed 3\nclock 7 -1\n")
    3
    """
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(FREED))


def network_number(pid: int) -> int:
    """Return the number of a process's network namespace."""
    return namespace_number(pid, "net")


def namespace_number(pid: int, kind: str) -> int:
    """Return the number of a process's namespace; ``kind``: its name in /proc."""
    return os.stat(f"/proc/{pid}/ns/{kind}").st_ino


def step_clock(namespace: int, ahead_s: float) -> float:
    """Set by how much a wall clock is ahead of the lab's; return it, read back.

    ``namespace``: the number of its host's PID namespace. Raises OSError if the module refuses.
    """
    with os.fdopen(os.open(COUNTS_FILE, os.O_WRONLY), "wb", buffering=0) as opened:
        opened.write(f"{namespace} {round(ahead_s * NS_PER_S)}".encode())
    return clocks(COUNTS_FILE.read_text(errors="replace"))[namespace]


def clocks(text: str) -> dict[int, float]:
    r"""Parse by how much the module's wall clocks are ahead in s, by PID namespace.

    >>> clocks("tsc virtual\nclock 7 -1500000000\n5 9 40 1000000 curl\n")
    {7: -1.5}
    """
    lines = [line.split() for line in text.splitlines() if line.startswith(CLOCK)]
    return {int(namespace): int(ahead_ns) / NS_PER_S for _, namespace, ahead_ns in lines}


def read(hosts: Mapping[int, str]) -> dict[str, Any]:
    """Return as JSON has it: whether the counter is virtual, and who looked for most time.

    Loops without a system call are counted if there were any (``freed``).
    """
    text = COUNTS_FILE.read_text(errors="replace")
    is_virtual, lookers = parse(text, hosts)
    lookers.sort(key=lambda looker: -looker.took_s)
    return {
        "tsc_virtual": is_virtual,
        "lookers": [asdict(one) for one in lookers[:MOST_LOOKERS]],
        **({"freed": count} if (count := freed(text)) else {}),
    }
