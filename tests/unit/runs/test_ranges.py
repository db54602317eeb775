"""Ranges in the texts of options."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.runs.ranges import Range, parse_template


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0..10ms", Range("jitter", 0, 10, "ms")),
        ("1ms..10ms", Range("jitter", 1, 10, "ms")),
        ("0.1..8xBDP", Range("jitter", 0.1, 8, "xBDP")),
        ("1e-6..1e-3", Range("jitter", 1e-6, 1e-3)),
        ("8..200", Range("jitter", 8, 200, whole=True)),
    ],
)
def test_a_range_has_two_ends_and_a_unit(text: str, expected: Range) -> None:
    assert parse_template(text, "jitter").parts == ("", expected, "")


@pytest.mark.parametrize("text", ["10ms", "../results", "./tcp_mine.c", "codel:target=5ms", "1..x"])
def test_a_text_without_a_range_stays_as_it_is(text: str) -> None:
    template = parse_template(text, "stack")
    assert (template.ranges, template.text({})) == ((), text)


def test_values_take_the_places_of_ranges_within_a_text() -> None:
    template = parse_template("rtt=20..80ms,mtu=576..1500", "senders")
    assert [each.name for each in template.ranges] == ["senders", "senders2"]
    assert template.text({"senders": 31.5, "senders2": 600}) == "rtt=31.5ms,mtu=600"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("10..5ms", "to a greater one"),
        ("5..5ms", "to a greater one"),
        ("1ms..1s", "in one unit"),
    ],
)
def test_a_range_that_is_none_is_refused_by_its_name(text: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint) as caught:
        parse_template(text, "jitter")
    assert caught.value.message.startswith(f"jitter is '{text}'")


def test_a_range_of_whole_numbers_takes_no_others() -> None:
    with pytest.raises(BadInputError, match="whole numbers"):
        parse_template("0.5..2s", "start", whole=True)


def test_a_wide_range_above_zero_is_searched_in_logarithms() -> None:
    wide, low, narrow = (Range("buffer", *ends) for ends in ((0.1, 8), (0, 8), (1, 8)))
    assert [each.log for each in (wide, low, narrow)] == [True, False, False]


def test_a_rounded_value_stays_within_its_range() -> None:
    assert Range("rtt", 10.0004, 20, "ms").rounded(10.0004) == 10.0004
    assert Range("start", 0, 5, "s", whole=True).rounded(4.0) == 4
