"""Further senders of SENDERS's text."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.planning import quantities
from farpath.planning.rules import check_senders
from farpath.spec.hosts import SENDER, Sender, numbered
from farpath.spec.path import Path

#: Each is a host more, and perhaps a switch.
MOST_SENDERS = 16


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
    rtt_ms = (
        quantities.parse_rtt_ms(given["rtt"], "SENDERS: rtt") if "rtt" in given else path.rtt_ms
    )
    mtu_bytes = (
        quantities.parse_mtu(given["mtu"], "SENDERS: mtu") if "mtu" in given else path.mtu_bytes
    )
    return Sender(name, rtt_ms, mtu_bytes)
