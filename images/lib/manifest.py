"""Writes and reads manifest.json, which says what a result of images/ was made from.

    manifest.py write FILE          from lines of stdin
    manifest.py read FILE NAME...   prints the value to which the names lead

A line is the names that lead to a value and the value, separated by tabs; a name alone
is an object, which other lines fill.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def manifest_of(lines: Iterable[str]) -> dict[str, Any]:
    r"""The manifest that lines describe, in their order.

    >>> manifest_of(["kind\tlab", "packages", "packages\tbash\t5.2"])
    {'kind': 'lab', 'packages': {'bash': '5.2'}}
    """
    manifest: dict[str, Any] = {}
    for line in lines:
        first, *rest = line.split("\t")
        place, names, value = manifest, [first, *rest[:-1]], rest[-1] if rest else {}
        for name in names[:-1]:
            place = place.setdefault(name, {})
        place[names[-1]] = value
    return manifest


def value_in(manifest: dict[str, Any], names: Iterable[str]) -> Any:
    """The value to which names lead; raises KeyError for one that is not there."""
    value: Any = manifest
    for name in names:
        value = value[name]
    return value


def main(command: str, file: str, *names: str) -> None:
    """Write a manifest, or print a value of one."""
    if command == "write":
        manifest = manifest_of(line.rstrip("\n") for line in sys.stdin)
        Path(file).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        return
    try:
        value = value_in(json.loads(Path(file).read_text(encoding="utf-8")), names)
    except KeyError as missing:
        raise SystemExit(f"{file} has no {missing}") from None
    except ValueError as error:
        raise SystemExit(f"{file} is no JSON: {error}") from None
    sys.stdout.write(f"{value}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
