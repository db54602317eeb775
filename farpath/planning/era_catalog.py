"""Catalogue of eras: how end hosts of 2004 and of today differ, read from ``eras.toml``."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from farpath.base.errors import BadInputError
from farpath.planning.stack_catalog import split_text
from farpath.spec.era import Era

#: Length of a NIC's queue in packets. Linux allows any number; a longer queue than this would
#: hold more than a second of packets at 1 Gbit/s.
TXQUEUELEN_RANGE = (1, 100_000)


@dataclass(frozen=True)
class Feature:
    """A difference between hosts of 2004 and of today.

    ``then``, ``now``: behaviour of Linux in 2004 and today. ``set``: settings of the era.
    ``left``: what stays as today.
    """

    name: str
    then: str
    now: str
    set: str
    left: str


@cache
def _data() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("eras.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def era_names() -> tuple[str, ...]:
    """Return the names of all eras."""
    return tuple(_data())


def features(era: str) -> tuple[Feature, ...]:
    """Return how hosts of an era differ from today's; empty for today's."""
    return tuple(Feature(**feature) for feature in _data()[era].get("features", ()))


def title_of(era: str) -> str:
    """Return the title of an era."""
    title: str = _data()[era]["title"]
    return title


def era_by_text(text: str) -> Era:
    """Parse ``2004``, ``modern`` or ``2004:txqueuelen=100``; raise BadInputError otherwise."""
    name, parameters = split_text(text) if ":" in text else (text, {})
    if name not in _data():
        raise BadInputError(f"ERA is '{text}': it must be one of {', '.join(_data())}")
    field_names = {field.name for field in dataclasses.fields(Era)} - {"name"}
    era = Era(name, **{key: value for key, value in _data()[name].items() if key in field_names})
    if not parameters:
        return era
    low, high = TXQUEUELEN_RANGE
    if era.txqueuelen_packets is None or set(parameters) != {"txqueuelen"}:
        raise BadInputError(f"ERA is '{text}': only 2004:txqueuelen=<packets> can be set")
    packets = parameters["txqueuelen"]
    if not (packets.isascii() and packets.isdigit() and low <= int(packets[:9]) <= high):
        raise BadInputError(
            f"ERA: txqueuelen is '{packets}': it must be a whole number from {low} to {high}"
        )
    return dataclasses.replace(era, txqueuelen_packets=int(packets))
