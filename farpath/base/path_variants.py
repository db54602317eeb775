"""Variants of a path: what options of a run add to its name and title.

A path that a run changes gets another name, so that published numbers are not compared with it.
Names are part of the identities of records, so that no word here may change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple


class Variant(NamedTuple):
    """Word of a variant in a path's name, and in its title."""

    word: str
    title: str


CHANGED = Variant("changed", "changed")
SENDERS = Variant("senders", "further senders")
REVERSE = Variant("reverse", "flows in both directions")
IPV6 = Variant("ipv6", "IPv6")
DROPPING = Variant("dropping", "with droppers")
CORRUPTING = Variant("corrupting", "with damaged datagrams")
_AFTER_TOPOLOGY = (SENDERS, REVERSE, IPV6, DROPPING, CORRUPTING)


def of_topology(name: str, bottlenecks: int) -> Variant:
    """Return the variant of a topology other than the dumbbell.

    >>> of_topology("parking-lot", 2).word, of_topology("routed", 1).word
    ('parking-lot-2', 'routed')
    """
    if bottlenecks > 1:
        return Variant(f"{name}-{bottlenecks}", f"{name} of {bottlenecks} bottlenecks")
    return Variant(name, name)


def varied(name: str, title: str, variants: Iterable[Variant]) -> dict[str, Any]:
    """Return the name and the title of a path with variants, as fields of a path.

    >>> varied("lte", "LTE", [CHANGED, IPV6])
    {'name': 'lte-changed-ipv6', 'title': 'LTE, changed, IPv6'}
    """
    variants = tuple(variants)
    return {
        "name": "-".join([name, *(variant.word for variant in variants)]),
        "title": ", ".join([title, *(variant.title for variant in variants)]),
    }


def base_name(name: str, topology: Variant) -> str:
    """Return the name of the path from which another was derived, in a topology.

    >>> base_name("lte-changed-routed-ipv6", of_topology("routed", 1))
    'lte'
    """
    for variant in (*reversed(_AFTER_TOPOLOGY), topology, CHANGED):
        name = name.removesuffix(f"-{variant.word}")
    return name


def without(title: str, *variants: Variant) -> str:
    """Return a title without variants.

    >>> without("LTE, changed, with droppers", DROPPING)
    'LTE, changed'
    """
    titles = "|".join(re.escape(variant.title) for variant in variants)
    return re.sub(rf", (?:{titles})(?=,|$)", "", title)
