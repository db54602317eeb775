"""Instances of dataclasses from parsed TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from farpath.base.instances import instance_of
from farpath.base.validation import validated


@dataclass(frozen=True)
class Part:
    """A table in a table."""

    weight: float


@dataclass(frozen=True)
class Whole:
    """A table with a field of each kind."""

    name: str
    count: int = 0
    sizes: tuple[float, ...] = ()
    texts: Mapping[str, str] | None = None
    part: Part | None = None


def test_data_of_the_right_types_is_the_same_as_with_pydantic() -> None:
    data = {"name": "a", "sizes": [1, 2.5], "texts": {"x": "y"}, "part": {"weight": 3}}
    assert repr(instance_of(Whole, data)) == repr(validated(Whole, data))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"name": 1},
        {"name": "a", "count": 1.5},
        {"name": "a", "count": True},
        {"name": "a", "sizes": ["1"]},
        {"name": "a", "texts": {"x": 1}},
        {"name": "a", "part": {"weight": "3"}},
        {"name": "a", "other": 1},
    ],
)
def test_other_data_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        instance_of(Whole, data)
