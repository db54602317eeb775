"""Jitter: delays of packets that vary, and packets that overtake others or arrive twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from farpath.base.options import PATH, Option, range_text
from farpath.mechanisms.mechanism import Fact, Mechanism, PathSoFar, Texts
from farpath.mechanisms.quantities import FRACTION, JITTER_MS
from farpath.spec.path import DUPLICATE_RANGE, JITTER_MS_RANGE, REORDER_RANGE, Path
from farpath.spec.plan import Plan

#: Field of the path and kind of each option.
FIELDS = {
    "jitter": ("jitter_ms", JITTER_MS),
    "reorder": ("reorder", FRACTION),
    "duplicate": ("duplicate", FRACTION),
}


def _apply(_path: PathSoFar, given: Texts) -> Mapping[str, Any]:
    return {
        field: quantity.parse(given[name], name)
        for name, (field, quantity) in FIELDS.items()
        if name in given
    }


def _texts(plan: Plan) -> Texts:
    path = plan.path
    return {
        "jitter": f"{path.jitter_ms:.12g}ms",
        "reorder": repr(path.reorder),
        "duplicate": repr(path.duplicate),
    }


def _values(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and field of each that a path has."""
    for name, (field, _quantity) in FIELDS.items():
        if value := getattr(path, field):
            yield name, f"{value:g} ms" if name == "jitter" else f"{value:g}", field


def _facts(plan: Plan) -> Iterator[Fact]:
    return (Fact(*value) for value in _values(plan.path))


MECHANISM = Mechanism(
    order=30,
    of_programs=True,
    options={
        "jitter": Option(
            "Largest deviation of a packet's delay towards the receiver; packets overtake each "
            "other.",
            "1ms",
            "the path's, else none",
            "a unit is needed",
            range_text(JITTER_MS_RANGE, "ms"),
            group=PATH,
            after="background",
            placeholder="TIME",
        ),
        "reorder": Option(
            "Fraction of the packets towards the receiver that overtake all others on their way.",
            "0.1%",
            "the path's, else none",
            "a fraction, or %",
            range_text(REORDER_RANGE, ""),
            group=PATH,
            after="jitter",
            placeholder="FRACTION",
        ),
        "duplicate": Option(
            "Fraction of the packets towards the receiver that arrive twice.",
            "0.1%",
            "the path's, else none",
            "a fraction, or %",
            range_text(DUPLICATE_RANGE, ""),
            group=PATH,
            after="reorder",
            placeholder="FRACTION",
        ),
    },
    apply_path=_apply,
    texts=_texts,
    path_words=lambda path: (f"{name} {text}" for name, text, _field in _values(path)),
    facts=_facts,
)
