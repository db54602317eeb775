"""Events: what the guest tells the host arrives as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.spec.protocol import EVENT_MARK, event_line, parse_event

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(
    kind=st.text(),
    fields=st.dictionaries(st.text().filter(lambda name: name not in ("kind", "event")), values),
)
def test_an_event_comes_back_equal_from_its_line(kind: str, fields: dict[str, Any]) -> None:
    line = event_line(kind, **fields)
    assert len(line.split("\n")) == 1
    assert parse_event(line) == {"event": kind, **fields}


def test_an_event_is_found_behind_what_the_kernel_printed_on_its_line() -> None:
    line = "[    1.5] openvswitch: " + event_line("done")
    assert parse_event(line) == {"event": "done"}


def test_every_cut_of_an_event_is_no_event() -> None:
    line = event_line("progress", t_s=12.0, note="äöü")
    assert [parse_event(line[:end]) for end in range(len(line))] == [None] * len(line)


@pytest.mark.parametrize(
    "line",
    ["", "reboot: Power down", "farpath {}", EVENT_MARK + "[1, 2]", EVENT_MARK + '"text"',
     EVENT_MARK + '{"t_s": 1.0}', EVENT_MARK + '{"event": "done"} trailing'],
)  # fmt: skip
def test_other_lines_are_no_events(line: str) -> None:
    assert parse_event(line) is None
