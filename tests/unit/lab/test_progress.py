"""Progress where no terminal is: few lines, and no speed that the end contradicts."""

from __future__ import annotations

import pytest

from farpath.lab import progress
from farpath.lab.progress import RunProgress


class Clock:
    """Real time, as a test has it pass."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that progress reads."""
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def _lines(
    clock: Clock, capsys: pytest.CaptureFixture[str], duration_s: int, second_takes_s: float
) -> list[str]:
    with RunProgress("a run", duration_s) as progress:
        for t_s in range(duration_s + 1):
            progress.watch({"event": "progress", "t_s": t_s})
            clock.now_s += second_takes_s
    return capsys.readouterr().err.splitlines()


def test_a_short_run_has_one_line_when_its_traffic_has_begun(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _lines(clock, capsys, 10, 0.1) == ["a run: 1 of 10 virtual s, about 1 s to go"]


def test_a_long_run_has_a_line_at_most_each_tenth(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = _lines(clock, capsys, 1000, 1.0)
    assert len(lines) == 10
    assert lines[1] == "a run: 101 of 1000 virtual s, about 15 min to go"


def test_a_quick_run_has_a_line_at_most_each_ten_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(_lines(clock, capsys, 1000, 0.025)) == 3


def test_a_stage_that_several_senders_reach_is_named_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with RunProgress("a run", 10.0) as progress:
        for host in ("pinger", "sender", "sender2"):
            progress.watch({"event": "idle-pings", "host": host, "output": ""})
    assert capsys.readouterr().err.splitlines() == ["a run: idle path verified"]
