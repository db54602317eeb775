"""The question: texts of events and of an interval, and what a kernel has."""

from __future__ import annotations

import math
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.lab.artifacts import elf
from farpath.uses.trace_kernel.question import Question, parse, require_known

#: Symbols as a kernel with two groups of events has them.
SYMBOLS = (
    *(b"str__tcp__trace_system_name", b"str__qdisc__trace_system_name"),
    *(b"__event_tcp_probe", b"__event_qdisc_dequeue", b"time_travel_time"),
)


@pytest.fixture
def kernel(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """A file that stands for a kernel with these symbols."""
    monkeypatch.setattr(elf, "symbol_names", lambda _data: iter(SYMBOLS))
    file = tmp_path / "linux"
    file.touch()
    return file


def test_events_are_groups_with_all_or_one_of_their_events_each_once() -> None:
    asked = parse("tcp:*, qdisc:qdisc_dequeue,tcp:*")
    assert asked.patterns == (("tcp", "*"), ("qdisc", "qdisc_dequeue"))
    assert asked.text == "tcp:*,qdisc:qdisc_dequeue"
    assert (asked.from_s, asked.to_s) == (0.0, math.inf)


def test_an_interval_has_times_of_the_schedule() -> None:
    asked = parse("tcp:*", "2.5s", "2600ms")
    assert (asked.from_s, asked.to_s) == (2.5, 2.6)


@pytest.mark.parametrize("text", ["", "tcp", "tcp:", "*:*", "tcp:*;rm", "TCP:*", "tcp:*,,sock:*"])
def test_other_texts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadInputError, match=r"tcp:\*,qdisc:qdisc_dequeue"):
        parse(text)


@pytest.mark.parametrize(("begin", "end"), [("2s", "2s"), ("3s", "2s")])
def test_an_interval_that_ends_before_it_begins_is_refused(begin: str, end: str) -> None:
    with pytest.raises(BadInputError, match="ends before it begins"):
        parse("tcp:*", begin, end)


def test_what_a_kernel_has_is_accepted(kernel: FilePath) -> None:
    require_known(parse("tcp:*,qdisc:qdisc_dequeue"), kernel)


def test_a_group_that_it_does_not_have_is_refused_with_those_that_it_has(kernel: FilePath) -> None:
    with pytest.raises(
        BadInputError, match=r"no group of events tpc.*did you mean tcp.*qdisc, tcp"
    ):
        require_known(parse("tpc:*"), kernel)


def test_an_event_that_it_does_not_have_is_refused_with_the_nearest(kernel: FilePath) -> None:
    with pytest.raises(BadInputError, match="did you mean qdisc_dequeue"):
        require_known(Question((("qdisc", "qdisc_deque"),)), kernel)
