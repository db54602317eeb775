"""Documents: files of JSON and TOML that somebody else wrote, read by one door.

What comes out is plain values that can be printed and computed with: text that UTF-8 can
hold, numbers of 64 bits, and no nesting that Python could not follow.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError

#: The largest document of farpath's own, the figures of a campaign, is below 1 MB.
LARGEST_BYTES = 64 << 20
#: A record is 8 deep; Python follows some hundreds.
DEEPEST = 60
JSON, TOML = "JSON", "TOML"
#: Whole numbers as NumPy and Parquet hold them.
INTEGER_RANGE = (-(1 << 63), (1 << 63) - 1)


def read_json(file: FilePath, remedy: str = "") -> Any:
    """What a JSON file holds.

    Raises BadInputError, with a ``remedy`` at its end, for a file that is unreadable, is no
    JSON, or holds what :func:`parse_json` refuses.
    """
    return parse_json(_read(file, remedy), file, remedy)


def read_toml(file: FilePath, remedy: str = "") -> dict[str, Any]:
    """What a TOML file holds; raises as :func:`read_json`."""

    def parse(content: bytes) -> dict[str, Any]:
        return tomllib.loads(content.decode())

    found: dict[str, Any] = _parsed(_read(file, remedy), file, TOML, parse, remedy)
    return found


def parse_json(content: bytes, name: object, remedy: str = "") -> Any:
    """The value of a JSON text; BadInputError naming what it is of.

    Refused is also what JSON allows and nothing here can use: numbers beyond 64 bits or
    not finite, halves of surrogate pairs, and nesting deeper than :data:`DEEPEST`.
    """
    return _parsed(content, name, JSON, json.loads, remedy)


def _read(file: FilePath, remedy: str) -> bytes:
    try:
        with file.open("rb") as stream:
            content = stream.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _refusal(file, f"cannot be read: {reason}", remedy) from error
    if len(content) > LARGEST_BYTES:
        raise _refusal(file, f"holds more than {LARGEST_BYTES >> 20} MiB", remedy)
    return content


def _parsed(
    content: bytes, name: object, language: str, parse: Callable[[bytes], Any], remedy: str
) -> Any:
    try:
        value = parse(content)
    except RecursionError as error:
        raise _refusal(name, f"is nested more than {DEEPEST} deep", remedy) from error
    except ValueError as error:
        raise _refusal(name, f"is not {language}: {error}", remedy) from error
    # TOML has words for what is no finite number, JSON has not
    if problem := _problem(value, may_be_infinite=language == TOML):
        raise _refusal(name, problem, remedy)
    return value


def _refusal(name: object, problem: str, remedy: str) -> BadInputError:
    return BadInputError(f"{name}: {problem}{f': {remedy}' if remedy else ''}")


def _problem(document: object, may_be_infinite: bool) -> str:
    """What of a document's values cannot be used; empty if all can."""
    todo: list[tuple[object, int]] = [(document, 0)]
    while todo:
        value, depth = todo.pop()
        if depth > DEEPEST:
            return f"is nested more than {DEEPEST} deep"
        if isinstance(value, dict):
            todo += [(each, depth + 1) for pair in value.items() for each in pair]
        elif isinstance(value, list):
            todo += [(each, depth + 1) for each in value]
        elif isinstance(value, float) and may_be_infinite:
            continue
        elif problem := _problem_of_one(value):
            return problem
    return ""


def _problem_of_one(value: object) -> str:
    if isinstance(value, str):
        return "" if _is_unicode(value) else f"holds half a character: {value!r}"
    if isinstance(value, int):
        low, high = INTEGER_RANGE
        return "" if low <= value <= high else "holds a number of more than 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"holds {value}, which is no finite number"
    return ""


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
