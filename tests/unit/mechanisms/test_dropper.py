"""Texts of droppers: what they mean, and what makes none."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.mechanisms.dropper import parse_droppers


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("every:1e6", ["every:1000000"]),
        ("packets:1000,2000,flow=flow2", ["packets:1000,2000,flow=flow2"]),
        ("at:1min,30.5s", None),
        ("at:30.5s,1min", ["at:30.5s,60s"]),
        ("random:0.01%", ["random:0.0001"]),
        (" burst:1e-4,30%,0.5 ", ["burst:0.0001,0.3,0.5"]),
        ("every:9 every:9,direction=back", ["every:9", "every:9,direction=back"]),
        ("every:9,flow=flow1 at:3s,flow=flow2", ["every:9,flow=flow1", "at:3s,flow=flow2"]),
    ],
)
def test_a_text_means_droppers_that_read_the_same_again(text: str, means: list[str] | None) -> None:
    if means is None:
        with pytest.raises(BadInputError, match="in their order"):
            parse_droppers(text)
        return
    droppers = parse_droppers(text)
    assert [str(dropper) for dropper in droppers] == means
    assert parse_droppers(" ".join(means)) == droppers


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "DROP is empty"),
        ("every", "as in every:1000"),
        ("every:1.5", "'1.5': it must be a whole number"),
        ("every:1,2", "give one whole number"),
        ("every:1e12", "must be a whole number"),
        ("packets:", "give whole numbers"),
        ("packets:2,2", "each packet once"),
        ("at:3", "a number without a unit"),
        ("at:", "give times"),
        ("random:0", "from 5e-08 to 1"),
        ("random:1e-12", "from 5e-08 to 1"),
        ("random:nan", "no finite number"),
        ("random:2", "out of range"),
        ("burst:1e-4", "two or three"),
        ("every:0", "give one whole number from 1"),
        ("every:-5", "'-5': it must be a whole number"),
        ("packets:0", "give whole numbers from 1"),
        ("packets:6,5", "in their order"),
        ("burst:1e-4,0", "from 1e-12 to 1"),
        ("burst:1e-320,0.5", "from 1e-12 to 1"),
        ("burst:nan,0.1", "no finite number"),
        ("every:,,10", "a word is missing at a comma"),
        ("every:9,", "a word is missing at a comma"),
        ("every:9,flow=", "flow needs a value"),
        ("every:9,direction=there,direction=back", "direction is given twice"),
        ("every:9,side=left", "'side' is none of flow, direction"),
        ("every:9 at:3s", "count the same packets"),
        ("every:9,flow=flow1 at:3s,flow=flow1", "count the same packets"),
        ("every:9 at:3s,flow=flow1", "count the same packets"),
    ],
)
def test_what_makes_no_dropper_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        parse_droppers(text)
