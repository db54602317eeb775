"""A run beside its caller: told, stopped, and never lost without a word."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import LabFailedError, StoppedError
from farpath.lab import background_run
from farpath.lab.background_run import BackgroundRun
from farpath.lab.process import Watch
from farpath.lab.progress import Stage
from farpath.lab.run import Outcome
from farpath.spec.plan import Plan

HANG_S = 30.0


class Heard:
    """What an attempt told, and that it ended."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        self.ended: list[BackgroundRun] = []


def attempt_of(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, out: FilePath, play: Callable[[Watch], None]
) -> tuple[BackgroundRun, Heard]:
    """An attempt whose lab does what ``play`` does."""

    def run(_plan: Plan, out: FilePath, _force: bool, watch: Watch, **_more: object) -> Outcome:
        play(watch)
        return Outcome(out / "record", cached=False, wall_s=1.0)

    monkeypatch.setattr(background_run, "run", run)
    heard = Heard()
    return BackgroundRun(plan, out, heard.stages.append, heard.ended.append), heard


def test_it_tells_its_stages_in_order_and_its_outcome(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, tmp_path: FilePath
) -> None:
    def play(watch: Watch) -> None:
        watch({"event": "network-ready"})
        watch({"event": "something that nobody shows"})
        for t_s in (0.0, 10.0, 40.0):
            watch({"event": "progress", "t_s": t_s})
        watch({"event": "done"})

    made, heard = attempt_of(monkeypatch, plan, tmp_path, play)
    made.start()
    made.wait()
    assert not made.running
    assert made.outcome == Outcome(tmp_path / "record", cached=False, wall_s=1.0)
    assert made.error is None
    assert heard.ended == [made]
    assert [stage.part for stage in heard.stages] == [0.0, 0.0, 0.25, 1.0, 1.0]
    assert heard.stages[0].note == "network built"
    assert heard.stages[2].note.startswith("10 of 40 virtual s")


def test_stopped_it_ends_the_lab_at_its_next_sign_of_life(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, tmp_path: FilePath
) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def play(watch: Watch) -> None:
        watch({"event": "progress", "t_s": 1.0})
        begun.set()
        assert stopped.wait(HANG_S)
        watch({"event": "progress", "t_s": 2.0})
        raise AssertionError("the lab went on")

    made, heard = attempt_of(monkeypatch, plan, tmp_path, play)
    made.start()
    assert begun.wait(HANG_S)
    assert made.running
    made.stop()
    stopped.set()
    made.wait()
    assert isinstance(made.error, StoppedError)
    assert made.outcome is None
    assert len(heard.stages) == 1
    assert heard.ended == [made]


def test_an_interruption_of_who_waits_stops_it(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, tmp_path: FilePath
) -> None:
    waiting = threading.Event()

    def play(watch: Watch) -> None:
        assert waiting.wait(HANG_S)
        while True:
            watch({"event": "progress", "t_s": 1.0})

    made, _ = attempt_of(monkeypatch, plan, tmp_path, play)
    join = made._thread.join

    def interrupted(timeout: float | None = None) -> None:
        monkeypatch.setattr(made._thread, "join", join)
        waiting.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(made._thread, "join", interrupted)
    made.start()
    made.wait()
    assert isinstance(made.error, StoppedError)


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (LabFailedError("the lab hangs", "its console"), "the lab hangs"),
        (ZeroDivisionError("by zero"), "BUG: ZeroDivisionError: by zero"),
    ],
)
def test_what_the_lab_raises_is_kept_as_one_line(
    monkeypatch: pytest.MonkeyPatch,
    plan: Plan,
    tmp_path: FilePath,
    raised: Exception,
    message: str,
) -> None:
    def play(_watch: Any) -> None:
        raise raised

    made, heard = attempt_of(monkeypatch, plan, tmp_path, play)
    made.start()
    made.wait()
    assert made.error is not None
    assert made.error.message == message
    assert heard.ended == [made]
