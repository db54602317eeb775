"""The command line, run in the tests' own process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Ended(NamedTuple):
    """How a command ended."""

    status: int | str | None
    out: str
    err: str


#: What runs farpath with the given arguments.
Farpath = Callable[..., Ended]
