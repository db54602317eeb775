"""Documents: read JSON and TOML files and check that their values can be used.

Every value returned can be printed and computed with: text is valid UTF-8, numbers fit in
64 bits, and nesting is shallow enough for Python's recursion limit.
"""

from __future__ import annotations

import datetime
import json
import math
import tomllib
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError
from farpath.base.files import read_regular

#: Deepest nesting that is read. A record is 8 levels deep; Python can recurse some hundreds.
DEEPEST = 60
JSON, TOML = "JSON", "TOML"
#: Range of the signed 64-bit integers that NumPy and Parquet hold.
INTEGER_RANGE = (-(1 << 63), (1 << 63) - 1)


def read_json(file: FilePath, remedy: str = "") -> Any:
    """Return the value in a JSON file.

    Raises BadInputError, which ends with ``remedy``, if the file cannot be read, is not
    JSON, or holds a value that ``parse_json`` does not accept.
    """
    return parse_json(_read(file, remedy), file, remedy)


def read_toml(file: FilePath, remedy: str = "") -> dict[str, Any]:
    """Return the table in a TOML file; raises as ``read_json``."""

    def parse(content: bytes) -> dict[str, Any]:
        # Some editors put a byte order mark before the text; json reads it so by itself
        return tomllib.loads(content.decode("utf-8-sig"))

    table: dict[str, Any] = _parsed(_read(file, remedy), file, TOML, parse, remedy)
    return table


def check_format_version(data: Any, version: int, file: FilePath, remedy: str) -> None:
    """Raise BadInputError for a document that has no ``format_version``, or another one.

    ``remedy``: how such a file is made again.
    """
    found_version = data.get("format_version") if isinstance(data, dict) else None
    if type(found_version) is not int:
        raise BadInputError(problem=f"{file}: is damaged (no format version)", remedy=remedy)
    if found_version != version:
        raise BadInputError(
            problem=f"{file}: has format version {found_version}, this farpath reads {version}",
            remedy=remedy,
        )


def parse_json(content: bytes, name: object, remedy: str = "") -> Any:
    """Return the value of a JSON text.

    Raises BadInputError that begins with ``name``, the document's name. Some valid JSON is
    refused too: integers beyond 64 bits, numbers that are not finite, lone surrogates, and
    nesting deeper than ``DEEPEST``.
    """
    return _parsed(content, name, JSON, json.loads, remedy)


def _read(file: FilePath, remedy: str) -> bytes:
    try:
        return read_regular(file)
    except OSError as error:
        raise _refusal(file, f"cannot be read: {error.strerror}", remedy) from error


def _parsed(
    content: bytes, name: object, language: str, parse: Callable[[bytes], Any], remedy: str
) -> Any:
    try:
        value = parse(content)
    except RecursionError as error:
        raise _refusal(name, f"is nested more than {DEEPEST} deep", remedy) from error
    except ValueError as error:
        raise _refusal(name, f"is not {language}: {error}", remedy) from error
    # TOML has literals for infinity and NaN (inf, nan); JSON has none.
    if problem := _problem(value, may_be_infinite=language == TOML):
        raise _refusal(name, problem, remedy)
    return value


def _refusal(name: object, problem: str, remedy: str) -> BadInputError:
    return BadInputError(file=str(name), problem=problem, remedy=remedy)


def _problem(document: object, may_be_infinite: bool) -> str:
    """Describe the first value of a document that cannot be used; empty if all can."""
    todo: list[tuple[object, int]] = [(document, 0)]
    while todo:
        value, depth = todo.pop()
        if depth > DEEPEST:
            return f"is nested more than {DEEPEST} deep"
        if isinstance(value, str) and value.isascii():
            continue
        if isinstance(value, dict):
            todo += [(part, depth + 1) for part in (*value, *value.values())]
        elif isinstance(value, list):
            todo += [(element, depth + 1) for element in value]
        elif isinstance(value, float) and may_be_infinite:
            continue
        elif problem := _scalar_problem(value):
            return problem
    return ""


def _scalar_problem(value: object) -> str:
    if isinstance(value, str):
        return "" if _is_unicode(value) else f"holds a lone surrogate: {value!r}"
    if isinstance(value, int):
        low, high = INTEGER_RANGE
        return "" if low <= value <= high else "holds a number of more than 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"holds {value}, which is not a finite number"
    if isinstance(value, datetime.date | datetime.time):
        return f"holds the date or time {value}: write it as a text, in quotes"
    return ""


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
