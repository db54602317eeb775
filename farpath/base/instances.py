"""Instances of dataclasses from parsed TOML of the right types, without pydantic.

pydantic takes a tenth of a second to import. ``farpath.base.validation`` says what is wrong with
data that is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints


def instance_of(hint: Any, value: Any) -> Any:
    """Return a value as an instance of a type hint; raise TypeError for one of another type.

    A whole number is a float where one is wanted, a list a tuple, and a table a dataclass.

    >>> instance_of(tuple[float, ...], [1, 2.5]), instance_of(int | None, None)
    ((1.0, 2.5), None)
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        for part in parts:
            try:
                return instance_of(part, value)
            except TypeError:
                continue
    elif is_dataclass(hint) and isinstance(value, dict):
        hints = get_type_hints(hint)
        if value.keys() <= hints.keys():
            fields = {name: instance_of(hints[name], each) for name, each in value.items()}
            return cast(Any, hint)(**fields)
    elif origin is tuple and isinstance(value, list):
        if {type(each) for each in value} == {parts[0]}:
            # At once, as a trace has thousands of numbers
            return tuple(value)
        return tuple(instance_of(parts[0], each) for each in value)
    elif origin is Mapping and isinstance(value, dict):
        return {name: instance_of(parts[1], each) for name, each in value.items()}
    elif hint is float and type(value) is int:
        return float(value)
    elif type(value) is hint:
        return value
    raise TypeError(f"{value!r} is no {hint}")
