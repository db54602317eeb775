"""Test cases of the QUIC interop runner: the files of each, its path and its time limit.

Names, letters, sizes, paths and limits are those of github.com/quic-interop/quic-interop-runner
(``testcases_quic.py``, 2026): a link of 10 Mbit/s with a queue of 25 packets and 15 ms each way.
Its simulator loses at most three packets in a row; here each has the probability by itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from farpath.base.errors import BadInputError, on_one_line
from farpath.spec.corruption import KEY as CORRUPT

KB, MB = 1 << 10, 1 << 20
#: Options of the path of each case, unless it names others.
PATH: Mapping[str, str] = {"rtt": "30ms", "rate": "10Mbit", "buffer": "25packets"}
#: Versions of QUIC on the wire (RFC 9000, RFC 9369).
QUIC_1, QUIC_2 = 0x00000001, 0x6B3343CF
#: Connections of the cases with extreme loss, each with a file.
CONNECTIONS = 50
#: Letters of the names of files in the case of 0-RTT, so that its requests are long.
LONG_NAME = 250


@dataclass(frozen=True)
class Case:
    """A case; the client gets ``files``, sizes in bytes, from the server.

    ``letters``: its short name in the runner's tables. ``test``: its name for the endpoints
    (``TESTCASE``). ``host``: of the files' addresses. ``path``: options beside ``PATH``.
    ``timeout_s``: virtual. ``handshakes``: connections that there must be. ``version``: of QUIC
    that the server answers with. ``retry``, ``early_data``: whether the packets must show a Retry,
    and 0-RTT. ``name_letters``: length of files' names. ``beside_tcp``: whether a flow of TCP takes
    the same way. ``measures``: whether its goodput counts.
    """

    name: str
    letters: str
    summary: str
    files: tuple[int, ...]
    test: str = "transfer"
    host: str = "server4"
    path: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 60.0
    handshakes: int = 1
    version: int = QUIC_1
    retry: bool = False
    early_data: bool = False
    name_letters: int = 10
    beside_tcp: bool = False
    measures: bool = False

    @property
    def options(self) -> Mapping[str, str]:
        """Options of the path by name, as typed."""
        return {**PATH, **self.path}

    @property
    def damages(self) -> bool:
        """Whether packets of it arrive damaged."""
        return CORRUPT in self.path


_OUTAGES = ",".join(f"{start + 5}s,{start + 7}s" for start in range(0, 50, 7))
CASES = (
    Case("handshake", "H", "a handshake and a small file", (KB,), "handshake"),
    Case("transfer", "DC", "three files at once", (2 * MB, 3 * MB, 5 * MB)),
    Case(
        *("longrtt", "LR", "a handshake over 1500 ms", (KB,), "handshake"),
        path={"rtt": "1500ms"},
    ),
    Case("chacha20", "C20", "ChaCha20 alone is offered", (3 * MB,), "chacha20"),
    Case("multiplexing", "M", "1999 files over a connection", (32,) * 1999),
    Case("retry", "S", "the server asks for a token", (10 * KB,), "retry", retry=True),
    Case(
        *("resumption", "R", "a second connection by the ticket of the first"),
        (5 * KB, 10 * KB),
        "resumption",
        handshakes=2,
    ),
    Case(
        *("zerortt", "Z", "requests before the second handshake has ended"),
        (32,) * 40,
        "zerortt",
        handshakes=2,
        early_data=True,
        name_letters=LONG_NAME,
    ),
    Case("http3", "3", "files by HTTP/3", (5 * KB, 10 * KB, 500 * KB), "http3"),
    Case(
        *("blackhole", "B", "nothing arrives for two seconds after each five", (10 * MB,)),
        path={"drop": f"outage:{_OUTAGES} outage:{_OUTAGES},direction=back"},
    ),
    Case(
        *("handshakeloss", "L1", "50 handshakes, 30 % of the packets lost"),
        (KB,) * CONNECTIONS,
        "multiconnect",
        path={"loss": "30%"},
        timeout_s=300.0,
        handshakes=CONNECTIONS,
    ),
    Case("transferloss", "L2", "2 % of the packets lost", (2 * MB,), path={"loss": "2%"}),
    Case(
        *("handshakecorruption", "C1", "50 handshakes, 30 % of the packets damaged"),
        (KB,) * CONNECTIONS,
        "multiconnect",
        path={CORRUPT: "30%"},
        timeout_s=300.0,
        handshakes=CONNECTIONS,
    ),
    Case(
        *("transfercorruption", "C2", "2 % of the packets damaged", (2 * MB,)),
        path={CORRUPT: "2%"},
    ),
    Case("ipv6", "6", "files over IPv6", (5 * KB, 10 * KB), host="server6"),
    Case("v2", "V2", "version 2 by compatible negotiation", (KB,), "v2", version=QUIC_2),
    Case("goodput", "G", "goodput over 10 Mbit/s", (10 * MB,), measures=True),
    Case(
        *("crosstraffic", "C", "goodput beside a flow of CUBIC", (25 * MB,)),
        timeout_s=180.0,
        beside_tcp=True,
        measures=True,
    ),
)
#: Cases of the runner that are not made here, and why.
LEFT_OUT = {
    "versionnegotiation": "the runner itself has disabled it",
    "keyupdate": "the keys that packets are read with would be needed",
    "ecn": "the keys that packets are read with would be needed",
    "amplificationlimit": "a certificate of nine parts and lost retransmissions would be needed",
    "rebind-port": "no NAT changes ports here",
    "rebind-addr": "no NAT changes addresses here",
    "connectionmigration": "a server with two addresses would be needed",
}


def asked_cases(text: str | None) -> tuple[Case, ...]:
    """Return the cases of a user's text, names or letters with commas between, or all of them.

    >>> [case.name for case in asked_cases("H,transfer")]
    ['handshake', 'transfer']

    Raises BadInputError.
    """
    if text is None:
        return CASES
    found = [_case(word.strip()) for word in text.split(",")]
    return tuple({case.name: case for case in found}.values())


def _case(word: str) -> Case:
    for case in CASES:
        if word in (case.name, case.letters):
            return case
    if word in LEFT_OUT:
        problem = f"that case is not made here: {LEFT_OUT[word]}"
    else:
        close = difflib.get_close_matches(word, [case.name for case in CASES], 1)
        problem = f"there is no such case{f' (did you mean {close[0]}?)' if close else ''}"
    raise BadInputError(
        option="case",
        given=on_one_line(word),
        problem=problem,
        remedy=f"the cases are {names_of(CASES)}",
    )


def names_of(cases: Sequence[Case]) -> str:
    """Return the names of cases with commas between."""
    return ", ".join(case.name for case in cases)
