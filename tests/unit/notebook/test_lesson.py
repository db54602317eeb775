"""A lesson without a browser: what its widgets hold after what was done to them."""

from __future__ import annotations

import re
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.errors import BadInputError, LabFailedError
from farpath.lab import background_run
from farpath.lab.run import Outcome
from farpath.notebook import answers
from farpath.notebook import lesson as lessons
from farpath.notebook.explorer import PLOTLY
from farpath.notebook.lesson import (
    MOST_DRAWN,
    PREDICT,
    Attempt,
    Lesson,
    number_text,
    parse_prediction,
)
from farpath.spec.plan import Plan
from tests.support.lesson_runs import write_lesson_run

RTTS = ("50ms", "100ms")


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """A lab that records 9 Mbit/s at once; the plans it was given."""
    plans: list[Plan] = []

    def run(plan: Plan, out: FilePath, _force: bool, watch: Any, **_further: Any) -> Outcome:
        plans.append(plan)
        watch({"event": "progress", "t_s": 1.0})
        record_dir = out / f"run-{len(plans)}"
        write_lesson_run(record_dir, plan, throughput_mbps=lambda _t_s, _flow: 9.0)
        return Outcome(record_dir, cached=False, wall_s=2.0)

    monkeypatch.setattr(background_run, "run", run)
    monkeypatch.setattr(lessons, "lab_problem", lambda: "")
    return plans


@pytest.fixture
def lesson(lab: list[Plan], tmp_path: FilePath) -> Lesson:
    return Lesson(
        "How fast?", answers.PAYLOAD_RATE, results=tmp_path,
        rtt=RTTS, stack=["cubic", "bbr"], rate="10Mbit", time="5s", sample="100ms",
    )  # fmt: skip


def figure_of(lesson: Lesson) -> dict[str, Any]:
    (output,) = lesson._widgets.figure.outputs
    return dict(output["data"][PLOTLY])


def test_a_run_waits_for_a_prediction_and_begins_as_chosen(lesson: Lesson, lab: list[Plan]) -> None:
    widgets = lesson._widgets
    assert (lesson.line, widgets.run.disabled) == (PREDICT, True)
    widgets.choices["rtt"].value = "100ms"
    widgets.prediction.value = "9 Mbit/s"
    assert not widgets.run.disabled
    widgets.run.click()
    assert lesson._run is not None
    lesson._run.wait()
    (plan,) = lab
    assert (plan.path.rtt_ms, plan.path.rate_bps, plan.stacks[0].label) == (100, 10e6, "cubic")
    assert lesson.line == "Run 1: measured 9.00 Mbit/s, predicted 9.00 Mbit/s: right."


def test_another_choice_asks_for_another_prediction(lesson: Lesson) -> None:
    lesson.run(9)
    lesson._widgets.choices["stack"].value = "bbr"
    assert lesson._widgets.prediction.value == ""
    assert (lesson.line, lesson._widgets.run.disabled) == (PREDICT, True)


def test_a_text_that_is_no_prediction_runs_nothing_and_says_what_one_is(
    lesson: Lesson, lab: list[Plan]
) -> None:
    line = lesson.run("<b>")
    assert line == "the prediction is '<b>': it must be a number in Mbit/s, such as 25"
    assert "<b>" not in lesson._widgets.line.value
    assert lesson._widgets.run.disabled
    assert lab == []


@pytest.mark.parametrize(
    ("predicted", "verdict"),
    [
        (9.1, "right"),
        (10, "too high by 11%"),
        (8, "too low by 11%"),
        (27, "too high by a factor of 3.0"),
        (3, "too low by a factor of 3.0"),
    ],
)
def test_a_prediction_is_checked_against_what_was_measured(
    lesson: Lesson, predicted: float, verdict: str
) -> None:
    lesson.run(predicted)
    assert lesson.attempts[0].verdict == verdict
    assert lesson.attempts[0].theory == pytest.approx(9.56, abs=0.01)


def test_a_wrong_percentage_is_off_by_points() -> None:
    attempt = Attempt({}, predicted=60, measured=87, theory=None, right=False, unit="%")
    assert attempt.verdict == "too low by 27 percentage points"


def test_a_quantity_has_a_slider_and_a_name_a_list(lesson: Lesson) -> None:
    names = {name: type(choice).__name__ for name, choice in lesson._widgets.choices.items()}
    assert names == {"rtt": "SelectionSlider", "stack": "Dropdown"}


def test_runs_stand_in_a_table_with_the_explanation_and_the_last_are_drawn(
    lesson: Lesson,
) -> None:
    for number in range(MOST_DRAWN + 1):
        lesson.run(9, rtt=RTTS[number % 2])
    table = lesson._widgets.table.value
    assert len(re.findall("<tr>", table)) == MOST_DRAWN + 2
    cells = re.findall(r"<td [^>]*>([^<]*)</td>", table)
    assert cells[:4] == ["1", "50ms", "cubic", "9.00 Mbit/s"]
    assert "headers of TCP, IP and Ethernet" in table
    names = [line["name"] for line in figure_of(lesson)["data"]]
    assert "5: rtt 50ms, stack cubic" in names
    assert "1: rtt 50ms, stack cubic" not in names
    lesson._widgets.clear.click()
    assert (lesson.attempts, lesson._widgets.table.value) == ([], "")
    assert lesson._widgets.figure.outputs == ()


def test_what_a_run_does_not_show_is_said_and_never_right(
    lab: list[Plan], tmp_path: FilePath
) -> None:
    lesson = Lesson("How often?", answers.TOOTH_S, results=tmp_path, rtt="50ms", time="5s",
                    rate="10Mbit", stack="reno", sample="100ms")  # fmt: skip
    assert lesson.run(1) == (
        "Run 1: measured -, predicted 1.00 s: not seen in this run: try other values."
    )


def test_a_lab_that_fails_is_one_line_and_another_run_can_be_made(
    monkeypatch: pytest.MonkeyPatch, lesson: Lesson
) -> None:
    def fail(*_arguments: object, **_named: object) -> Outcome:
        raise LabFailedError("the lab hangs", "its console\nand more")

    monkeypatch.setattr(background_run, "run", fail)
    assert lesson.run(9) == "the lab hangs"
    assert lesson.attempts == []
    assert not lesson._widgets.run.disabled


def test_a_run_under_way_is_stopped_and_no_other_begins_meanwhile(
    monkeypatch: pytest.MonkeyPatch, lesson: Lesson
) -> None:
    def forever(_plan: Plan, _out: FilePath, _force: bool, watch: Any, **_further: Any) -> Outcome:
        while True:
            watch({"event": "network-ready"})

    monkeypatch.setattr(background_run, "run", forever)
    lesson._widgets.prediction.value = "9"
    lesson.begin()
    first = lesson._run
    lesson._widgets.prediction.value = "8"
    assert lesson._widgets.run.disabled
    lesson.begin()
    assert lesson._run is first
    assert first is not None
    lesson._widgets.stop.click()
    first.wait()
    assert lesson.line == "stopped; no partial record is left"


def test_without_a_lab_the_line_says_why_and_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, lab: list[Plan], tmp_path: FilePath
) -> None:
    monkeypatch.setattr(lessons, "lab_problem", lambda: "this machine lacks ptrace")
    lesson = Lesson("How fast?", answers.PAYLOAD_RATE, results=tmp_path, rtt=RTTS)
    assert lesson.run(9) == "No runs here: this machine lacks ptrace"
    assert lesson._widgets.run.disabled
    assert lab == []


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"speed": "fast"}, "'speed' is no option of a run"),
        ({"rtt": ("5", "6ms")}, "rtt is '5'"),
        ({"rtt": ()}, "rtt has no values"),
        ({"rtt": ("5ms", "lots")}, "rtt is 'lots'"),
    ],
)
def test_a_lesson_of_no_run_is_refused(
    tmp_path: FilePath, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=re.escape(message)):
        Lesson("How fast?", answers.PAYLOAD_RATE, results=tmp_path, **options)


def test_a_value_that_is_not_offered_is_refused(lesson: Lesson) -> None:
    with pytest.raises(BadInputError, match="no choice rtt has '7ms': there are rtt: 50ms, 100ms"):
        lesson.run(9, rtt="7ms")
    with pytest.raises(BadInputError, match="no choice loss has"):
        lesson.run(9, loss="1e-3")


@pytest.mark.parametrize("text", ["", "soon", "nan", "5 Mbit/s", "1e999"])
def test_a_prediction_is_a_finite_number_in_the_unit(text: str) -> None:
    with pytest.raises(BadInputError, match="it must be a number in ms, such as 25"):
        parse_prediction(text, "ms")


def test_values_have_three_digits_and_their_unit() -> None:
    values = [0.01234, 2.345, 95.6, 1234.5, 0.0]
    assert [number_text(value, "s") for value in values] == [
        "0.012 s", "2.35 s", "95.6 s", "1,234 s", "0 s",
    ]  # fmt: skip
    assert number_text(None, "s") == "-"
