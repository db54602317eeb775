"""A meeting: a case between a server and a client, and the files that it is about."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.uses.interop.implementation import Endpoint
from farpath.uses.interop.testcases import Case


@dataclass(frozen=True)
class Meeting:
    """A case between a server and a client, with the seed of its run."""

    server: Endpoint
    client: Endpoint
    case: Case
    seed: int = 1

    @property
    def name(self) -> str:
        """Its name for people."""
        return f"{self.case.name}, {self.client.name} from {self.server.name}"

    @property
    def is_quic(self) -> bool:
        """Whether both speak QUIC."""
        return not (self.server.is_tcp or self.client.is_tcp)

    def names(self) -> tuple[str, ...]:
        """Return the names of the case's files, as its seed makes them."""
        return tuple(name for name, _, _ in self._drawn())

    def files(self) -> dict[str, bytes]:
        """Return the files of the case by name, as its seed makes them."""
        return {name: chance.randbytes(size_bytes) for name, size_bytes, chance in self._drawn()}

    def _drawn(self) -> Iterator[tuple[str, int, random.Random]]:
        """Yield of each file its name, its size in bytes, and the source of its content."""
        for number, size_bytes in enumerate(self.case.files):
            chance = random.Random(f"interop {self.case.name} {self.seed} {number}")
            name = "".join(chance.choices(string.ascii_lowercase, k=self.case.name_letters))
            yield name, size_bytes, chance


def meetings(
    servers: Sequence[Endpoint], clients: Sequence[Endpoint], cases: Sequence[Case], seed: int
) -> tuple[Meeting, ...]:
    """Return all cases of all pairs that can speak to each other: TCP with TCP alone.

    Damaged packets are QUIC's alone: the kernel's checksum makes losses of them for TCP. Raises
    BadInputError if none is left.
    """
    found = tuple(
        Meeting(server, client, case, seed)
        for server in servers
        for client in clients
        if server.is_tcp == client.is_tcp
        for case in cases
        if not (case.damages and server.is_tcp)
    )
    if not found:
        raise BadInputError(
            option="case",
            given=",".join(case.name for case in cases),
            problem="no server and client have it: TCP meets TCP alone, and has no damaged packets",
            remedy="name endpoints that speak QUIC, or another case",
        )
    return found
