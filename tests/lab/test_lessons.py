"""The lessons' cells, in the real lab: what they claim is so.

The cells run in this process. A kernel of its own for each notebook would take longer than its run;
``tests/notebooks`` executes one as a student's does.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path as FilePath
from typing import Any

import pytest

import farpath
from farpath.base.project import PROJECT
from farpath.notebook.lesson import RESULTS, Lesson
from farpath.record.record import records_in

pytestmark = pytest.mark.lab
LESSONS = sorted((PROJECT / "notebooks" / "lessons").glob("*.ipynb"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    """A folder as that of the lessons' notebooks, with a place for records of its own."""
    made = tmp_path_factory.mktemp("project") / "notebooks" / "lessons"
    made.mkdir(parents=True)
    return made


def cells_of(notebook: FilePath) -> dict[str, Any]:
    """What a notebook's code cells leave, run one after another."""
    names: dict[str, Any] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile(ast.parse("".join(cell["source"])), notebook.name, "exec"), names)
    return names


@pytest.mark.parametrize("notebook", LESSONS, ids=lambda file: file.stem)
def test_the_first_choice_of_a_lesson_is_as_theory_has_it_and_its_own_cell_makes_that_run(
    notebook: FilePath, folder: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    names = cells_of(notebook)
    lesson, result = names["lesson"], names["result"]
    assert isinstance(lesson, Lesson)
    assert isinstance(result, farpath.RunResult)
    assert result.path.parent == FilePath(RESULTS)
    theory = lesson.answer.theory(result.plan)
    predicted = lesson.answer.measured(result.record) if theory is None else theory
    made = records_in(FilePath(RESULTS))
    line = lesson.run(predicted)
    assert line.endswith(": right."), line
    assert records_in(FilePath(RESULTS)) == made


def test_the_deeper_the_buffer_the_less_bbr_gets_beside_cubic(
    folder: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    lesson = cells_of(LESSONS[4])["lesson"]
    for buffer in ("1BDP", "8BDP"):
        lesson.run(50, buffer=buffer)
    shallow, deep = (attempt.measured for attempt in lesson.attempts)
    assert shallow > 75
    assert deep < 40
    # The lesson's own answer has the figures of these two runs
    text = LESSONS[4].read_text(encoding="utf-8")
    assert f"with one {shallow:.0f} %" in text
    assert f"with eight {deep:.0f} %" in text
