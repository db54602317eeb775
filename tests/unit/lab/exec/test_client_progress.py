"""What is said of programs while they run, from the lab's events."""

from __future__ import annotations

from typing import Any

import pytest

from farpath.lab.exec import client_progress as program_progress
from farpath.lab.exec.client_progress import ProgramProgress

CURL = {"host": "sender", "process": 9, "command": "curl", "looks": 1200, "took_s": 2.0}


def progress(t_s: float, *lookers: dict[str, Any]) -> dict[str, Any]:
    return {"event": "progress", "t_s": t_s, "lookers": list(lookers)}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(program_progress, "FIRST_S", 0.0)
    monkeypatch.setattr(program_progress, "AGAIN_S", 0.0)
    return []


def test_a_line_has_the_virtual_time_and_who_looks_in_a_loop_since_the_last_line(
    said: list[str],
) -> None:
    lines = ProgramProgress(600, said.append)
    later = {**CURL, "looks": 1300, "took_s": 2.4}
    of_server = {"host": "receiver", "process": 3, "command": "srv", "looks": 7, "took_s": 4.0}
    for event in (
        {"event": "hosts-ready"},
        progress(1.0),
        progress(3.0, CURL),
        progress(5.0, later),
        progress(9.0, later, of_server),
    ):
        lines.watch(event)
    assert [line.partition(" s: ")[2] for line in said] == [
        "the client has not started yet",
        "1 of at most 600 virtual s",
        "3 of at most 600 virtual s; the client's program 'curl' polls or reads the clock in a "
        "loop, 1,200 times so far",
        "5 of at most 600 virtual s",
        "9 of at most 600 virtual s; a server's program 'srv' polls or reads the clock in a loop, "
        "7 times so far",
    ]
    # Of the whole time no program took half
    assert lines.loop() == ""


def test_a_clock_that_stands_is_told_from_one_that_goes_on(said: list[str]) -> None:
    lines = ProgramProgress(60, said.append)
    lines.watch(progress(2.0))
    for silence_s in (0.25, 0.25, 0.75):
        lines.watch({"event": "waiting", "silence_s": silence_s})
    assert [line.partition(" s: ")[2].partition(" of")[0] for line in said] == [
        "2",
        "2.25",
        "2.25",
        "2.75",
    ]
    assert ["compute" in line for line in said] == [False, False, True, False]


def test_lines_are_seldom() -> None:
    said: list[str] = []
    lines = ProgramProgress(60, said.append)
    for t_s in range(60):
        lines.watch(progress(t_s))
    assert said == []
