"""Eras: what end hosts of a time were, read from ``eras.toml``."""

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

#: Packets that may wait before a card: Linux takes any number; beyond this the
#: queue would hold seconds at a gigabit.
TXQUEUELEN_RANGE = (1, 100_000)


@dataclass(frozen=True)
class Feature:
    """One way in which hosts changed: then and now, what is set, what stays."""

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
    """The eras that there are."""
    return tuple(_data())


def features(era: str) -> tuple[Feature, ...]:
    """What an era changes, and what of it cannot be restored."""
    return tuple(Feature(**feature) for feature in _data()[era].get("features", ()))


def title_of(era: str) -> str:
    """An era in a few words."""
    title: str = _data()[era]["title"]
    return title


def era_by_text(text: str) -> Era:
    """``2004``, ``modern`` or ``2004:txqueuelen=100``; BadInputError for anything else."""
    name, given = split_text(text) if ":" in text else (text, {})
    if name not in _data():
        raise BadInputError(f"ERA is '{text}': it must be one of {', '.join(_data())}")
    known = {field.name for field in dataclasses.fields(Era)} - {"name"}
    era = Era(name, **{key: value for key, value in _data()[name].items() if key in known})
    if not given:
        return era
    low, high = TXQUEUELEN_RANGE
    if era.txqueuelen_packets is None or set(given) != {"txqueuelen"}:
        raise BadInputError(f"ERA is '{text}': only 2004:txqueuelen=<packets> can be set")
    packets = given["txqueuelen"]
    if not (packets.isascii() and packets.isdigit() and low <= int(packets[:9]) <= high):
        raise BadInputError(
            f"ERA: txqueuelen is '{packets}': it must be a whole number from {low} to {high}"
        )
    return dataclasses.replace(era, txqueuelen_packets=int(packets))
