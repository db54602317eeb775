"""YAML: texts, numbers, lists and mappings of a file, within bounds of size.

Files of other people are read: a small one can stand for gigabytes by aliases of aliases. So values
are made from PyYAML's events, and each alias counts as what it stands for. Plain scalars are those
of YAML 1.2's core schema, as Compose and containerlab have them: ``no`` and ``22:22`` are texts.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any

import yaml

from farpath.base.errors import BadInputError, on_one_line

#: Largest file in bytes, most values of a file with its aliases written out, and most lists and
#: mappings within each other.
MOST_BYTES = 1 << 20
MOST_VALUES = 200_000
MOST_DEPTH = 64
#: What a value may be.
Value = str | int | float | bool | None | list[Any] | dict[str, Any]

_NULL = re.compile(r"null|Null|NULL|~|")
_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
#: Whole numbers of at most 18 digits; longer ones stay texts, as no value here is one.
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_OCTAL, _HEXADECIMAL = re.compile(r"0o[0-7]{1,18}"), re.compile(r"0x[0-9a-fA-F]{1,15}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,3})?")
_MERGE = "<<"
_TAGS = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:seq": list,
    "tag:yaml.org,2002:map": dict,
}
#: libyaml's parser where PyYAML has it: ten times as fast.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_text(file: FilePath, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a file of at most so many bytes, in UTF-8; raise BadInputError."""
    try:
        if not file.is_file():
            raise BadInputError(file=str(file), problem="there is no such file")
        with file.open("rb") as opened:
            content = opened.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadInputError(file=str(file), problem=f"it cannot be read: {reason}") from error
    if len(content) > most_bytes:
        raise BadInputError(
            file=str(file), problem=f"it has more than {most_bytes:,} bytes", remedy="split it"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(file=str(file), problem=f"it is no UTF-8: {error.reason}") from error


def parse_yaml(text: str) -> Value:
    r"""Return the value of the one document of a text.

    Raises BadInputError for a text that is no YAML, with the line of the first error, for several
    documents, for tags of applications, and for more values than ``MOST_VALUES``.

    >>> parse_yaml("a: &x {port: 80, name: no}\nb: {<<: *x, name: 1.0}")
    {'a': {'port': 80, 'name': 'no'}, 'b': {'port': 80, 'name': 1.0}}
    """
    try:
        return _Document(yaml.parse(text, Loader=_LOADER)).value()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        where = f"line {mark.line + 1}: " if mark else ""
        raise BadInputError(problem=f"{where}no YAML: {on_one_line(str(problem))}") from error


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a question with the name that is nearest to another; empty if none is near.

    >>> nearest("comand", ["image", "command"])
    ' (did you mean command?)'
    """
    near = difflib.get_close_matches(name[:100], list(names), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


class _Document:
    """The values of a stream of events; ``anchors`` has values by name, with their sizes."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events
        self.anchors: dict[str, tuple[Value, int, int]] = {}

    def value(self) -> Value:
        """Return the document's value; None for an empty stream."""
        found: Value = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _error(event, "a second document begins", "give one in each file")
                found, _, _ = self._value(next(self.events), 0)
        return found

    def _value(self, event: Any, depth: int) -> tuple[Value, int, int]:
        """Return a value, its number of values, and how many it has within each other."""
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise _error(event, f"*{event.anchor} stands for nothing above")
            found = self.anchors[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            found = (_scalar(event), 1, 0)
        else:
            _require_tag(event, list if isinstance(event, yaml.SequenceStartEvent) else dict)
            if depth >= MOST_DEPTH:
                raise _error(event, f"more than {MOST_DEPTH} lists and mappings in each other")
            self.anchors.pop(event.anchor, None)
            is_list = isinstance(event, yaml.SequenceStartEvent)
            found = self._list(event, depth) if is_list else self._mapping(event, depth)
        if found[1] > MOST_VALUES or depth + found[2] > MOST_DEPTH:
            raise _error(
                event,
                f"it stands for more than {MOST_VALUES:,} values or {MOST_DEPTH} within each other",
            )
        if getattr(event, "anchor", None) and not isinstance(event, yaml.AliasEvent):
            self.anchors[event.anchor] = found
        return found

    def _list(self, start: Any, depth: int) -> tuple[Value, int, int]:
        values: list[Value] = []
        count, deepest = 1, 0
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            value, size, below = self._value(event, depth + 1)
            values.append(value)
            count, deepest = count + size, max(deepest, below)
            _require_size(start, count)
        return values, count, deepest + 1

    def _mapping(self, start: Any, depth: int) -> tuple[Value, int, int]:
        own: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        count, deepest = 1, 0
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key, _, _ = self._value(event, depth + 1)
            is_merge = key == _MERGE and _is_plain(event)
            value, size, below = self._value(next(self.events), depth + 1)
            count, deepest = count + size + 1, max(deepest, below)
            _require_size(start, count)
            if is_merge:
                for one in value if isinstance(value, list) else [value]:
                    if not isinstance(one, dict):
                        raise _error(event, "<< merges mappings alone")
                    # Of several the first has precedence (yaml.org/type/merge.html)
                    merged = {**one, **merged}
                continue
            if not isinstance(key, str):
                raise _error(event, "a key is no text", "put it in quotes")
            if key in own:
                raise _error(event, f"key '{on_one_line(key)}' is there twice")
            own[key] = value
        return {**merged, **own}, count, deepest + 1


def _require_size(event: Any, count: int) -> None:
    if count > MOST_VALUES:
        raise _error(event, f"it stands for more than {MOST_VALUES:,} values")


def _require_tag(event: Any, kind: type) -> None:
    if event.tag is not None and event.tag != "!" and _TAGS.get(event.tag) is not kind:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")
        raise _error(event, f"tag {on_one_line(tag)} has no meaning here", "leave it out")


def _is_plain(event: Any) -> bool:
    """Whether a scalar stands without quotes: libyaml's style is then empty, PyYAML's None."""
    return isinstance(event, yaml.ScalarEvent) and not event.style


def _scalar(event: Any) -> Value:
    """Return a scalar: a text in quotes, or what a plain one means in YAML 1.2's core schema."""
    text = str(event.value)
    _require_tag(event, str)
    if not _is_plain(event) or event.tag is not None:
        return text
    if _NULL.fullmatch(text):
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text) or _HEXADECIMAL.fullmatch(text):
        return int(text, 0)
    number = float(text) if _FLOAT.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text


def _error(event: Any, problem: str, remedy: str = "") -> BadInputError:
    return BadInputError(problem=f"line {event.start_mark.line + 1}: {problem}", remedy=remedy)


def text_of(value: object) -> str | None:
    """Return a scalar as Compose's Go writes it in an environment; None for anything else.

    >>> [text_of(value) for value in (1.0, 0.25, 1e30, True, 7, "a", None)]
    ['1', '0.25', '1e+30', 'true', '7', 'a', None]
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value)
    return str(value) if isinstance(value, str | int) else None


def _float_text(value: float) -> str:
    """Format a number by its shortest digits, with an exponent from 21 on and below -4 (``%v``)."""
    mantissa, _, exponent = f"{value!r}".partition("e")
    if exponent and not 1e-4 <= abs(value) < 1e21:
        return f"{mantissa.removesuffix('.0')}e{int(exponent):+03d}"
    return f"{value:.0f}" if value.is_integer() else f"{value!r}"


def shown(value: object) -> object:
    """Return a value as an error quotes it: a scalar on one line, or None for what is no scalar."""
    text = text_of(value)
    return None if text is None else on_one_line(text)
