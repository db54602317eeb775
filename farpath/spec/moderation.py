"""Moderation of interrupts: how long an end host's card waits for further packets."""

from __future__ import annotations

import re

from farpath.spec.offloads import GRO
from farpath.spec.plan import Plan
from farpath.spec.settings import VIRTUAL

#: The word of OFFLOADS, as ``rx-usecs=20us``; ethtool -C has it so.
RX_USECS = "rx-usecs"
#: What the virtual lab has with ``gro``: its polls take no time, so that without it each would find
#: one packet. Drivers of cards of 10 Gbit/s and more have 3 to 50 us by default.
DEFAULT_NS = 20_000
_WORD = re.compile(rf"{RX_USECS}=([0-9]+)us")


def moderation_word(wait_us: int) -> str:
    """Return the word of a waiting time.

    >>> moderation_word(20)
    'rx-usecs=20us'
    """
    return f"{RX_USECS}={wait_us}us"


def is_moderation(word: str) -> bool:
    """Whether a word of a plan's offloads is a waiting time.

    >>> is_moderation("rx-usecs=20us"), is_moderation("gro")
    (True, False)
    """
    return bool(_WORD.fullmatch(word))


def moderation_ns(plan: Plan) -> int:
    """Return how long the cards of a plan's end hosts wait in ns; 0: they interrupt at once."""
    words = plan.offloads or ()
    given = [int(found[1]) * 1_000 for found in map(_WORD.fullmatch, words) if found]
    if given:
        return given[0]
    return DEFAULT_NS if GRO in words and plan.settings.lab == VIRTUAL else 0
