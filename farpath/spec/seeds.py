"""Seeds: whatever draws random numbers in a run has a stream of its own, by its name.

A plan's seed is a small number, and some generators hardly mix theirs: the first draws of netem's
(prandom_seed_state in include/linux/prandom.h, prandom_u32_state in lib/random32.c) are some
multiple of a small seed. So no generator gets a plan's seed as it is, or with a number added: each
gets a hash of the seed and of the names of who draws.
"""

from __future__ import annotations

import hashlib
import random

#: Bits of a generator's seed: every reader of a record's JSON keeps a number of so many (RFC 8259,
#: section 6). netem makes 32 of them (prandom_seed_state).
SEED_BITS = 53


def _text(seed: int, mechanism: str, *names: object) -> str:
    return " ".join(map(str, (mechanism, seed, *names)))


def stream_seed(seed: int, mechanism: str, *names: object) -> int:
    """Return the seed of a generator, of a plan's seed.

    These are the first ``SEED_BITS`` of the SHA-256 over mechanism, seed and names, with a blank
    between any two. ``names``: which instance of the mechanism draws, as a port of a host.

    >>> stream_seed(1, "netem", "s1-eth1")
    7662448448718934
    """
    digest = hashlib.sha256(_text(seed, mechanism, *names).encode()).digest()
    return int.from_bytes(digest, "big") >> 8 * len(digest) - SEED_BITS


def stream(seed: int, mechanism: str, *names: object) -> random.Random:
    """Return the random numbers of a mechanism's instance, of a plan's seed.

    Python hashes the text of mechanism, seed and names (random.seed, version 2, SHA-512).
    """
    return random.Random(_text(seed, mechanism, *names))
