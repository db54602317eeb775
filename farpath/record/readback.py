"""Read-back: the settings that the sites of a lab read back, merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def merged(parts: Sequence[Any]) -> Any:
    """Merge the same read-back of several sites.

    Tables are merged by name and lists of one site follow those of another. Counts are added.
    Where every site has the same value, such as a module's parameter, that is the value.
    Droppers are counted at one site each and merged one by one.
    """
    first = parts[0]
    if isinstance(first, dict):
        names = dict.fromkeys(name for part in parts for name in part)
        return {
            name: _merged_droppers(values) if name == "droppers" else merged(values)
            for name in names
            for values in [[part[name] for part in parts if name in part]]
        }
    if isinstance(first, list):
        return [element for part in parts for element in part]
    if isinstance(first, int) and not isinstance(first, bool):
        return sum(parts)
    return first


def _merged_droppers(sites: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [merged(counts) for counts in zip(*sites, strict=True)]
