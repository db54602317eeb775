"""Validation: what a document may hold, and what is said of the first field that is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from farpath.base.errors import BadInputError
from farpath.base.validation import validated


@dataclass(frozen=True)
class Queue:
    """Some dataclass."""

    limit_bytes: int
    rates_bps: tuple[float, ...] = ()


def test_a_document_becomes_the_dataclass_that_it_describes() -> None:
    assert validated(Queue, {"limit_bytes": 9, "rates_bps": [1, 2.5]}) == Queue(9, (1.0, 2.5))
    assert validated(list[Queue], [{"limit_bytes": 9}]) == [Queue(9)]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({}, "queue.json: limit_bytes: field required"),
        ({"limit_bytes": "9"}, "queue.json: limit_bytes: input should be a valid integer"),
        ({"limit_bytes": 9, "rates_bps": [1, True]}, "queue.json: rates_bps.1: input should be"),
        ([], "queue.json: input should be an object"),
    ],
)
def test_the_first_wrong_field_is_named(data: object, complaint: str) -> None:
    with pytest.raises(BadInputError) as caught:
        validated(Queue, data, "queue.json")
    assert caught.value.message.startswith(complaint)
    assert "\n" not in caught.value.message


def test_every_wrong_field_can_be_named() -> None:
    with pytest.raises(BadInputError, match=r"^limit_bytes: .*; rates_bps: .*"):
        validated(Queue, {"rates_bps": 1}, every_field=True)
