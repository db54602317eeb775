"""Cases: runs that a TOML file describes by options with ``{stack}`` in them."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, TypeVar

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.planning.request import RunRequest

T = TypeVar("T")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RunCase:
    """A run for any stack: its name, its title, and its options, with ``{stack}`` in them."""

    name: str
    title: str
    options: Mapping[str, str]

    def request(self, stack: str) -> RunRequest:
        """Return the request of its run for a stack, which may have parameters."""
        return RunRequest(**{name: text.format(stack=stack) for name, text in self.options.items()})


def read_cases(file: FilePath, key: str) -> dict[str, Any]:
    """Return the tables of a file, the cases of which are in the list ``key``.

    Each case also has the file's ``options``, unless it has its own.
    """
    data = read_toml(file)
    options = data.pop("options", {})
    cases = [{**case, "options": {**options, **case["options"]}} for case in data[key]]
    return {**data, key: cases}


def matching(
    names: Mapping[T, Sequence[str]], patterns: Sequence[str], otherwise: str
) -> tuple[T, ...]:
    """Return the keys of which a name matches one of the patterns, or all without a pattern.

    ``names``: the names of each. Raises BadInputError, which ends with ``otherwise``, for a
    pattern that matches nothing.
    """
    for pattern in patterns:
        if not any(fnmatch.filter(called, pattern) for called in names.values()):
            raise BadInputError(option="only", given=pattern, problem=otherwise)
    return tuple(
        key
        for key, called in names.items()
        if not patterns or any(fnmatch.filter(called, pattern) for pattern in patterns)
    )
