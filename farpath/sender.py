"""Sender: a further sending host with an RTT and an MTU of its own, as plain data.

Pure, shared by host and guest. The first sender has the path's RTT and MTU; further ones
share its bottleneck from farther away or with smaller packets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from farpath import units
from farpath.errors import BadInputError
from farpath.path import MTU_BYTES_RANGE, RTT_MS_RANGE, Path

#: The first sender and its receiver; the k-th further one of either has ``k + 1`` behind it.
SENDER, RECEIVER = "sender", "receiver"
#: Each is a host more, and perhaps a switch.
MOST_SENDERS = 16


@dataclass(frozen=True)
class Sender:
    """A host that sends through a path's bottleneck from ``rtt_ms`` away, whole path counted.

    ``mtu_bytes``: the largest IP packet that it sends and takes.
    """

    name: str
    rtt_ms: float
    mtu_bytes: int

    def __str__(self) -> str:
        return f"rtt={self.rtt_ms:g}ms,mtu={self.mtu_bytes}"


def numbered(kind: str, number: int) -> str:
    """The name of the ``number``-th host of a kind.

    >>> numbered(SENDER, 1), numbered(SENDER, 2)
    ('sender', 'sender2')
    """
    return kind if number == 1 else f"{kind}{number}"


def check_senders(senders: Iterable[Sender], path: Path) -> None:
    """Raise BadInputError for senders that cannot share a path's bottleneck."""
    for number, sender in enumerate(senders, start=2):
        if sender.name != numbered(SENDER, number):
            raise BadInputError(
                f"SENDERS: the {number}. is called '{sender.name}', not {numbered(SENDER, number)}"
            )
        if not path.rtt_ms <= sender.rtt_ms <= RTT_MS_RANGE[1]:
            raise BadInputError(
                f"SENDERS has an RTT of {sender.rtt_ms:g} ms: it must be at least the path's, "
                f"{path.rtt_ms:g} ms, and at most {RTT_MS_RANGE[1]:g} ms; give the shortest as RTT"
            )
        if not MTU_BYTES_RANGE[0] <= sender.mtu_bytes <= path.mtu_bytes:
            raise BadInputError(
                f"SENDERS has an MTU of {sender.mtu_bytes} bytes: it must be at most the path's, "
                f"{path.mtu_bytes}, and at least {MTU_BYTES_RANGE[0]}; give the largest as MTU"
            )


def parse_senders(text: str, path: Path) -> tuple[Sender, ...]:
    """The further senders of a text, one for each word; what a word leaves out is the path's.

    ``rtt=172ms mtu=1500,rtt=50ms`` are two. Raises BadInputError.
    """
    words = text.split()
    if not words:
        raise BadInputError("SENDERS is empty: leave it out, or give one for each, as in rtt=172ms")
    if len(words) > MOST_SENDERS:
        raise BadInputError(
            f"SENDERS has {len(words)} further senders: at most {MOST_SENDERS} are allowed"
        )
    senders = tuple(
        _parse_one(word, numbered(SENDER, number), path)
        for number, word in enumerate(words, start=2)
    )
    check_senders(senders, path)
    return senders


def _parse_one(word: str, name: str, path: Path) -> Sender:
    given: dict[str, str] = {}
    for part in word.split(","):
        key, equals, value = part.partition("=")
        if key not in ("rtt", "mtu") or not equals or key in given:
            raise BadInputError(
                f"SENDERS has '{word}': a sender is rtt=172ms, mtu=1500 or rtt=172ms,mtu=1500; "
                "senders are apart by blanks"
            )
        given[key] = value
    rtt_ms = units.parse_rtt_ms(given["rtt"], "SENDERS: rtt") if "rtt" in given else path.rtt_ms
    mtu_bytes = units.parse_mtu(given["mtu"], "SENDERS: mtu") if "mtu" in given else path.mtu_bytes
    return Sender(name, rtt_ms, mtu_bytes)
