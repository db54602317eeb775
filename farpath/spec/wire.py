"""Wire: dataclasses as plain data, under names that stay when a field is renamed in Python.

The host hands a plan to the guest as JSON, records hold it, and identities hash it. There a field
has its wire name: that of its metadata, or else Python's. A renamed field keeps its old name there:

>>> from dataclasses import dataclass, field
>>> @dataclass(frozen=True)
... class Disk:
...     rate_bps: int
...     read_ahead_bytes: int = field(default=0, metadata=on_wire("cache_bytes"))
>>> as_wire(Disk(8, 64))
{'rate_bps': 8, 'cache_bytes': 64}
>>> from_wire(Disk, {"rate_bps": 8, "cache_bytes": 64})
Disk(rate_bps=8, read_ahead_bytes=64)

A field that came later is not there while it has its default, so that identities stay:

>>> @dataclass(frozen=True)
... class FastDisk(Disk):
...     latency_ns: int = field(default=0, metadata=came_later())
>>> as_wire(FastDisk(8)), as_wire(FastDisk(8, latency_ns=5))
({'rate_bps': 8, 'cache_bytes': 0}, {'rate_bps': 8, 'cache_bytes': 0, 'latency_ns': 5})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")
_KEY, _LATER = "wire", "came later"
#: Types whose values are the same under any name.
_PLAIN = (bool, int, float, str)
_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


def on_wire(name: str) -> dict[str, str]:
    """Return the metadata of a field with another name on the wire than in Python."""
    return {_KEY: name}


def came_later() -> dict[str, bool]:
    """Return the metadata of a field that is not on the wire while it has its default."""
    return {_LATER: True}


def wire_fields(kind: Any) -> dict[str, Field[Any]]:
    """Return the fields of a dataclass by their names on the wire, in their order."""
    return {each.metadata.get(_KEY, each.name): each for each in fields(kind)}


def as_wire(value: Any) -> Any:
    """Return dataclasses, mappings and tuples as dicts and tuples of plain data."""
    if is_dataclass(value):
        named = wire_fields(type(value)).items()
        return {
            name: as_wire(getattr(value, each.name))
            for name, each in named
            if not (_LATER in each.metadata and getattr(value, each.name) == each.default)
        }
    if isinstance(value, tuple):
        return tuple(map(as_wire, value))
    if isinstance(value, Mapping):
        return {key: as_wire(element) for key, element in value.items()}
    return value


def from_wire(kind: type[Kind], data: object) -> Kind:
    """Return an instance of a dataclass from the output of ``as_wire``, or from its JSON.

    Values that are no dataclass, tuple or mapping stay as they are. Raises TypeError for a field
    that is missing or unknown, and for other data than a dataclass, tuple or mapping is made of.
    """
    return cast(Kind, _instance(kind, data))


def _instance(hint: Any, data: Any) -> Any:
    """Return plain data as what a type hint says."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        # One type and None: no field of a plan may be of two types
        return None if data is None else _instance(parts[0], data)
    if origin is tuple:
        _require(data, (list, tuple), hint)
        kinds = parts[:1] * len(data) if parts[-1] is Ellipsis else parts
        return tuple(_instance(each, value) for each, value in zip(kinds, data, strict=True))
    if origin is Mapping:
        _require(data, Mapping, hint)
        return {key: _instance(parts[1], value) for key, value in data.items()}
    if is_dataclass(hint):
        _require(data, Mapping, hint)
        return _dataclass(hint, data)
    return data


def _dataclass(kind: Any, data: Mapping[str, Any]) -> Any:
    """Return an instance of a dataclass from its fields by their names on the wire."""
    known, hints = wire_fields(kind), _hints(kind)
    if unknown := sorted(set(data) - set(known)):
        raise TypeError(f"{kind.__name__} has no {unknown[0]}")
    return kind(
        **{known[name].name: _instance(hints[known[name].name], data[name]) for name in data}
    )


def with_python_names(kind: Any, data: Any) -> Any:
    """Return plain data of a dataclass with Python's names of its fields, whatever its values are.

    What is no field, and what is of another type, stays as it is.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return with_python_names(parts[0], data)
    if origin is tuple and isinstance(data, (list, tuple)) and parts[-1] is Ellipsis:
        if parts[0] in _PLAIN:
            return list(data)
        return [with_python_names(parts[0], each) for each in data]
    if origin is Mapping and isinstance(data, Mapping):
        return {key: with_python_names(parts[1], value) for key, value in data.items()}
    if is_dataclass(kind) and isinstance(data, Mapping):
        known, hints = wire_fields(kind), _hints(kind)
        names = {name: known[name].name if name in known else name for name in data}
        return {
            names[name]: with_python_names(hints.get(names[name]), value)
            for name, value in data.items()
        }
    return data


def _require(data: object, kinds: Any, hint: Any) -> None:
    if not isinstance(data, kinds):
        raise TypeError(f"{data!r} is no {hint}")
