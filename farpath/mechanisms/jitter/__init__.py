"""Jitter: delays of packets that vary, and packets that overtake others or arrive twice."""

from __future__ import annotations

from collections.abc import Iterator

from farpath.mechanisms.mechanism import Fact, Mechanism
from farpath.spec.path import Path
from farpath.spec.plan import Plan


def _values(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and field of each that a path has."""
    if path.jitter_ms:
        yield "jitter", f"{path.jitter_ms:g} ms", "jitter_ms"
    for name in ("reorder", "duplicate"):
        if probability := getattr(path, name):
            yield name, f"{probability:g}", name


def _facts(plan: Plan) -> Iterator[Fact]:
    return (Fact(*value) for value in _values(plan.path))


MECHANISM = Mechanism(
    order=30,
    path_words=lambda path: (f"{name} {text}" for name, text, _field in _values(path)),
    facts=_facts,
)
