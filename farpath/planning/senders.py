"""Parser of the text of SENDERS: the hosts that send besides the first."""

from __future__ import annotations

from farpath.base.errors import BadInputError
from farpath.base.words import parse_words
from farpath.mechanisms import quantities
from farpath.planning.rules import check_senders
from farpath.spec.hosts import SENDER, Sender, numbered
from farpath.spec.path import Path

#: Most further senders; each adds a host to the guest, and some add a switch.
MOST_SENDERS = 16


def parse_senders(text: str, path: Path) -> tuple[Sender, ...]:
    """Parse further senders, separated by blanks: ``rtt=172ms mtu=1500,rtt=50ms`` has two.

    A sender without an RTT or an MTU has the path's. Raises BadInputError for any other text, and
    for senders that cannot share the path's bottleneck.
    """
    sender_texts = text.split()
    if not sender_texts:
        raise BadInputError(
            option="senders",
            problem="it is empty",
            remedy="leave it out, or give senders, as in rtt=172ms",
        )
    if len(sender_texts) > MOST_SENDERS:
        raise BadInputError(
            option="senders",
            problem=f"it has {len(sender_texts)} further senders",
            remedy=f"at most {MOST_SENDERS} are allowed",
        )
    senders = tuple(
        _parse_sender(sender_text, numbered(SENDER, number), path)
        for number, sender_text in enumerate(sender_texts, start=2)
    )
    check_senders(senders, path)
    return senders


def _parse_sender(text: str, name: str, path: Path) -> Sender:
    example = "rtt=172ms,mtu=1500 rtt=50ms: senders are separated by blanks"
    options, _ = parse_words(text, "senders", text, example, ("rtt", "mtu"))
    rtt_ms = (
        quantities.RTT_MS.parse(options["rtt"], "senders: rtt") if "rtt" in options else path.rtt_ms
    )
    mtu_bytes = (
        quantities.MTU_BYTES.parse(options["mtu"], "senders: mtu")
        if "mtu" in options
        else path.mtu_bytes
    )
    return Sender(name, rtt_ms, mtu_bytes)
