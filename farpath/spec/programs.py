"""Programs: what ``farpath exec`` runs on the hosts of a lab in place of flows, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
#: Exit status of a client that its time limit ended, as timeout(1) has it.
TIMED_OUT = 124


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

    ``client``, ``servers``: commands. ``places``: by host. ``user``, ``group``: ids of all
    programs; 0 is root of the lab. ``timeout_s``: limit of the client's run in virtual s.
    ``share``: the directory that the programs may read, by its name inside; empty for none.
    ``collect``: the directory whose files come back; empty for none. ``joined``: the client's
    stderr goes where its stdout goes, each line in its turn, as on a terminal. ``date_s``: what
    clocks show when the client begins, in Unix time; None for the lab's own date.
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

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Programs:
        """Build programs from the output of ``dataclasses.asdict``, or from its JSON."""
        return cls(
            **{
                **data,
                "client": tuple(data["client"]),
                "servers": tuple(tuple(server) for server in data["servers"]),
                "places": {
                    host: Place(**{**place, "environment": tuple(place["environment"])})
                    for host, place in data["places"].items()
                },
            }
        )


def server_label(number: int) -> str:
    """Return the name of a server's files, by its number from 0.

    >>> server_label(0), server_label(1)
    ('server', 'server2')
    """
    return SERVER if number == 0 else f"{SERVER}{number + 1}"
