"""Transfers: what images/sender/transfer.c writes of a sender of a number of bytes."""

from __future__ import annotations

import re

_LINE = re.compile(r"^transferred (\d{1,20}) (\d{1,20})\n", re.MULTILINE)
_NS_PER_S = 1_000_000_000


def parse(text: str) -> float | None:
    r"""Return the time from the first byte written to the last acknowledged, in s.

    None if the sender did not get so far.

    >>> parse("transferred 1000000000 3500000000\n"), parse("")
    (2.5, None)
    """
    found = _LINE.search(text)
    return (int(found[2]) - int(found[1])) / _NS_PER_S if found else None
