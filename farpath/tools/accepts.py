"""Accepts: what images/sender/accept.c writes of a receiver's connections."""

from __future__ import annotations

import re

_LINE = re.compile(r"^accepted (\d{1,20})\n", re.MULTILINE)


def parse(text: str) -> list[int]:
    r"""Return when each connection was accepted, in ns of the monotonic clock of its host.

    >>> parse("accepted 12\naccepted 15\nwarning\n")
    [12, 15]
    """
    return [int(number) for number in _LINE.findall(text)]


def without(text: str) -> str:
    r"""Return what a program wrote besides.

    >>> without("accepted 12\nwarning\n")
    'warning\n'
    """
    return _LINE.sub("", text)
