"""Axes: options of a run that are given several values at once, separated by commas."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: A comma between two values, but not one between words of a value (``fast:alpha=8,beta=2``), nor
#: before a change of it (``100Mbit,30s:20Mbit,repeat:60s``).
_SEPARATOR = re.compile(r",(?!\s*(?:[\w.]+=|[0-9.]+\s*[a-z]+\s*:|repeat\s*:))")
#: The option whose values may hold any comma: packets:7,8.
_UNSPLIT = "drop"


def split_options(
    option_values: Mapping[str, str | None],
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Split options into fixed ones with their value and swept ones with their values."""
    values = {
        name: split_values(name, text) for name, text in option_values.items() if text is not None
    }
    single = {name: texts[0] for name, texts in values.items() if len(texts) == 1}
    return single, {name: texts for name, texts in values.items() if len(texts) > 1}


def split_values(name: str, text: str) -> tuple[str, ...]:
    """Return the values of an option that are separated by commas.

    >>> split_values("rtt", "20ms, 160ms"), split_values("stack", "cubic,fast:alpha=8,beta=2,bbr")
    (('20ms', '160ms'), ('cubic', 'fast:alpha=8,beta=2', 'bbr'))
    >>> split_values("rate", "100Mbit,30s:20Mbit,1Gbit")
    ('100Mbit,30s:20Mbit', '1Gbit')
    >>> split_values("drop", "packets:7,8")
    ('packets:7,8',)
    """
    if name == _UNSPLIT:
        return (text,)
    return tuple(part.strip() for part in _SEPARATOR.split(text))
