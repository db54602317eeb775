"""File models: pydantic's models of people's YAML files, whose errors name a key and a remedy.

Values are those of ``yaml_text``. Numbers and switches may be texts, as variables make them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from farpath.base.errors import BadInputError, on_one_line
from farpath.planning.yaml_text import nearest, shown, text_of

Model = TypeVar("Model", bound=BaseModel)
_UNKNOWN = "unknown_key"
_SWITCHES = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), True),
    **dict.fromkeys(("false", "no", "off", "n", "0"), False),
}
#: Units of a duration in s, of which several may follow each other (compose-spec, 11-extension.md).
_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(h|ms|m|s|us|µs|ns)")
#: Longest duration in s: that of a run.
MOST_DURATION_S = 86_400.0


def _text(value: object) -> str:
    text = text_of(value)
    if text is None:
        raise ValueError("it must be a text")
    if "\0" in text:
        raise ValueError("a text cannot have a null character")
    return text


def _switch(value: object) -> bool:
    word = (text_of(value) or "").lower()
    if word not in _SWITCHES:
        raise ValueError("it must be true or false")
    return _SWITCHES[word]


def _whole(value: object) -> int:
    text = text_of(value) or ""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError("it must be a whole number")
    return int(text)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("it must be a list of texts")
    return tuple(_text(each) for each in value)


def _text_or_texts(value: object) -> tuple[str, ...]:
    return _texts(value) if isinstance(value, list) else (_text(value),)


def _words(value: object) -> tuple[str, ...]:
    """Return a command's words: those of a list, or of a text split as by a shell."""
    if isinstance(value, list):
        return _texts(value)
    try:
        return tuple(shlex.split(_text(value)))
    except ValueError as error:
        raise ValueError(f"{error}; quote it as for a shell") from error


def _variables(value: object) -> dict[str, str | None]:
    """Return variables of a mapping, or of a list of NAME=value; None for one to pass on."""
    if isinstance(value, dict):
        pairs = [(name, None if each is None else _text(each)) for name, each in value.items()]
    else:
        split = [text.partition("=") for text in _texts(value)]
        pairs = [(name, each if equals else None) for name, equals, each in split]
    for name, _ in pairs:
        if not name or re.search(r"[=\s\0]", name):
            raise ValueError(f"'{on_one_line(name)}' is no variable's name")
    return dict(pairs)


def duration_s(value: object) -> float:
    """Return a duration of compose-spec in s; raise ValueError for anything else.

    >>> duration_s("1h5m30s20ms"), duration_s("1.5s"), duration_s(0)
    (3930.02, 1.5, 0.0)
    """
    text = text_of(value) or ""
    parts = _PART.findall(text)
    if text != "0" and (not parts or "".join(map("".join, parts)) != text):
        raise ValueError("it must be a duration such as 1m30s or 500ms")
    seconds = round(sum((float(number) * _UNITS_S[unit] for number, unit in parts), 0.0), 9)
    if seconds > MOST_DURATION_S:
        raise ValueError(f"it must be at most {MOST_DURATION_S:,.0f} s")
    return seconds


Text = Annotated[str, BeforeValidator(_text)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Whole = Annotated[int, BeforeValidator(_whole)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
TextOrTexts = Annotated[tuple[str, ...], BeforeValidator(_text_or_texts)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Variables = Annotated[dict[str, str | None], BeforeValidator(_variables)]
Seconds = Annotated[float, BeforeValidator(duration_s)]


class Keyed(BaseModel):
    """A mapping with known keys; those that begin with ``x-`` are left out, as compose-spec has it.

    A key is a field's name, or its alias.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: object) -> object:
        if not isinstance(data, dict):
            raise ValueError("it must be a mapping")
        known = [field.alias or name for name, field in cls.model_fields.items()]
        own = {key: value for key, value in data.items() if not key.startswith("x-")}
        for key in own:
            if key not in known:
                problem = f"there is no such key{nearest(key, known)}"
                raise PydanticCustomError(_UNKNOWN, "{problem}", {"problem": problem, "key": key})
        return own


def checked(model: type[Model], data: object) -> Model:
    """Return a mapping as a model; raise BadInputError of its first wrong key, as ``option``."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        details = error.errors()[0]
        way = [str(part) for part in details["loc"]]
        context = details.get("ctx", {})
        if details["type"] == _UNKNOWN:
            way.append(context["key"])
        message = details["msg"].removeprefix("Value error, ")
        parts = [on_one_line(part) for part in way]
        problem = ": ".join([*([".".join(parts[1:])] if parts[1:] else []), message])
        given = shown(details["input"]) if details["type"] != _UNKNOWN else None
        raise BadInputError(
            option=parts[0] if parts else "",
            given=given if len(parts) == 1 else None,
            problem=problem[:1].lower() + problem[1:] if len(parts) <= 1 else problem,
        ) from error


def mapping_of(data: object, option: str) -> Mapping[str, Any]:
    """Return a mapping as it is, and nothing as an empty one; raise BadInputError for others."""
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise BadInputError(option=option, given=shown(data), problem="it must be a mapping")
    return data


@contextmanager
def in_part(name: str) -> Iterator[None]:
    """Name the part of a file, or the file, in the errors of what is read within."""
    try:
        yield
    except BadInputError as error:
        raise error.in_file(name) from error
