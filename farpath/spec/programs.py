"""Programs: what ``farpath exec`` runs on the hosts of a lab in place of flows, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from farpath.spec.hosts import CLIENT, RECEIVER, SENDER, SERVER

#: The hosts of the client and of the servers.
CLIENT_HOST, SERVER_HOST = SENDER, RECEIVER
#: Further names of these hosts, which programs resolve.
NAMES = {CLIENT_HOST: (CLIENT_HOST, CLIENT), SERVER_HOST: (SERVER_HOST, SERVER)}
#: Longest and shortest time limit of a client, in virtual s.
TIMEOUT_S_RANGE = (1.0, 86_400.0)
#: How long before the client the servers start, in virtual s: computing takes no virtual time.
SERVER_LEAD_S = 2.0
#: How long servers may take to end, in virtual s, once they are asked to.
SERVER_END_S = 5.0
#: How long the server's host may take until it listens on the ports that are waited for, in
#: virtual s from the moment at which the client would start.
LISTEN_S = 60.0
#: Exit status of a client that its time limit ended, as timeout(1) has it.
TIMED_OUT = 124
#: Exit status of a program that the kernel killed (128 + SIGKILL, as shells have it).
KILLED = 137
#: File with the client's stdin in the shared directory.
INPUT_FILE = "stdin"
#: What the client's stdin is: nothing, a file, or a pipe.
NO_INPUT, FILE_INPUT, PIPE_INPUT = "", "file", "pipe"
#: Module of a mechanism's folder with the devices that a lab of programs has in place of those of
#: its ``device.py``.
PROGRAM_DEVICE = "program_device"
#: Most memory that one host's files and shared memory may take, as a part of all programs' memory:
#: a disk is full before the kernel has to kill a program.
WRITTEN_PART = 0.75
#: A word of a server that refuses root, or any other user; no directory.
_ROOT = re.compile(r"(?<![/\w.-])root\b", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Where a host's programs run.

    ``root``: the directory of their root file system, below the shared one. ``environment``:
    NAME=value. ``directory``: their working directory.
    """

    root: str
    environment: tuple[str, ...]
    directory: str


@dataclass(frozen=True)
class Programs:
    """A client, the servers that it talks to, and what surrounds them.

    ``client``, ``servers``: commands. ``places``: by host. ``user``, ``group``, ``groups``: ids of
    all programs and their further groups; 0 is root of the lab. ``timeout_s``: limit of the
    client's run in virtual s.
    ``share``: the directory that the programs may read, by its name inside; empty for none.
    ``collect``: the directory whose files come back; empty for none. ``joined``: the client's
    stderr goes where its stdout goes, each line in its turn, as on a terminal. ``date_s``: what
    clocks show when the client begins, in Unix time; None for the lab's own date. ``input``: what
    the client's stdin is, and ``input_sha256`` the SHA-256 of what it holds. ``limits``: soft and
    hard limit of each resource (getrlimit(2)), by its name in lower case; -1 for none.
    ``memory_bytes``: limit of all programs together and what they write. ``wait_for``: TCP ports
    of the server's host on which it has to listen before the client starts. ``both_families``:
    whether hosts have addresses of IPv6 beside those of IPv4.
    """

    client: tuple[str, ...]
    servers: tuple[tuple[str, ...], ...]
    places: Mapping[str, Place]
    user: int
    group: int
    timeout_s: float
    share: str = ""
    collect: str = ""
    joined: bool = False
    date_s: int | None = None
    groups: tuple[int, ...] = ()
    input: str = NO_INPUT
    input_sha256: str = ""
    limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    memory_bytes: int = 1 << 30
    wait_for: tuple[int, ...] = ()
    both_families: bool = False


def server_label(number: int) -> str:
    """Return the name of a server's files, by its number from 0.

    >>> server_label(0), server_label(1)
    ('server', 'server2')
    """
    return SERVER if number == 0 else f"{SERVER}{number + 1}"


def server_remedy(said: str, user: int) -> str:
    """Return what to do about a server that ended at once, by what it said and its user's id.

    >>> server_remedy("initdb: error: cannot be run as root", user=0)
    '--user=postgres runs programs as that user of their root'
    >>> server_remedy("you must be root", user=1000)
    '--as-root makes programs root of the lab'
    >>> server_remedy("/root/conf: no such file", user=0).partition(",")[0]
    'a server has to stay in the foreground'
    """
    if _ROOT.search(said):
        refused = "--user=postgres runs programs as that user of their root"
        return "--as-root makes programs root of the lab" if user else refused
    return (
        "a server has to stay in the foreground, as with nginx -g 'daemon off;' or "
        "rsync --daemon --no-detach"
    )
