"""Notebooks as files: no output, no definition, no dead link."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from pathlib import Path as FilePath
from typing import Any

import pytest

from farpath.base.project import PROJECT
from farpath.planning.request import RunRequest
from farpath.runs.experiment import load_experiment
from tests.support.study_runs import HOST_ANALYSES

COMPANION = load_experiment("companion").parts
#: Those of the host lab.
OTHERS = tuple(HOST_ANALYSES)
STUDY = sorted((PROJECT / "notebooks").glob("*.ipynb"))
LESSONS = sorted((PROJECT / "notebooks" / "lessons").glob("*.ipynb"))
NOTEBOOKS = [*LESSONS, *STUDY]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def cells(file: FilePath, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    """A cell's text without IPython's own lines."""
    return "".join(line for line in cell["source"] if not line.startswith("%"))


def test_each_import_of_a_notebook_is_there() -> None:
    for file in NOTEBOOKS:
        for cell in cells(file, "code"):
            for node in ast.walk(ast.parse(source(cell))):
                if isinstance(node, ast.ImportFrom):
                    scope: dict[str, object] = {}
                    exec(ast.unparse(node), scope)  # ImportError names what is not there
                    assert all((each.asname or each.name) in scope for each in node.names), file


def test_all_are_there_those_of_the_companion_in_its_experiments_order() -> None:
    assert [file.stem for file in STUDY] == [
        "01-seven-regions",
        "02-table-1",
        "03-table-2",
        "04-claims",
        "05-explore",
        *(f"{number:02}-{name}" for number, name in enumerate(COMPANION[:8], 6)),
        "14-ablation",
        *(f"{number:02}-{name}" for number, name in enumerate((*COMPANION[8:], *OTHERS), 15)),
    ]


def test_the_lessons_are_numbered_and_the_first_leads_to_all_others_and_to_the_study() -> None:
    assert [file.stem[:2] for file in LESSONS] == [f"{number:02}" for number in range(8)]
    texts = "".join("".join(cell["source"]) for cell in cells(LESSONS[0], "markdown"))
    targets = set(re.findall(r"\]\(([^)#]+\.ipynb)\)", texts))
    expected = {file.name for file in LESSONS[1:]} | {f"../{file.name}" for file in STUDY}
    assert targets == expected


@pytest.mark.parametrize("file", ["images/notebook/here", "images/notebook/notebook"])
def test_jupyterlab_opens_with_the_first_lesson(file: str) -> None:
    text = (PROJECT / file).read_text(encoding="utf-8")
    (place,) = re.findall(r"--LabApp\.default_url=/lab/tree/([\w/.-]+)", text)
    assert PROJECT / place == LESSONS[0]


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_a_lesson_is_one_call_that_the_cell_below_repeats_in_python(file: FilePath) -> None:
    lesson_cell, hand_cell = (source(cell) for cell in cells(file, "code"))
    (lesson_call,) = calls(lesson_cell, "Lesson")
    (run_call,) = calls(hand_cell, "run")
    first = {keyword.arg: ast.literal_eval(keyword.value) for keyword in lesson_call.keywords}
    first = {name: value if isinstance(value, str) else value[0] for name, value in first.items()}
    by_hand = {keyword.arg: ast.literal_eval(keyword.value) for keyword in run_call.keywords}
    assert by_hand.pop("out") == "../../results/lessons"
    assert by_hand == first


def calls(text: str, name: str) -> list[ast.Call]:
    """The calls of a function, or of a method, of that name."""
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) == name
    ]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_its_cells_have_ids_that_stay(file: FilePath) -> None:
    cell_ids = [cell["id"] for cell in json.loads(file.read_text())["cells"]]
    stem = cell_ids[0].removesuffix("-1")
    assert cell_ids == [f"{stem}-{number}" for number in range(1, len(cell_ids) + 1)]
    assert stem in file.stem


@pytest.mark.parametrize("name", [*COMPANION, *OTHERS])
def test_a_companion_notebook_ends_with_commands_of_its_own_experiment(name: str) -> None:
    (file,) = (file for file in STUDY if file.stem.endswith(f"-{name}"))
    last = "".join(cells(file, "markdown")[-1]["source"]).replace("\\\n", "")
    (command,) = re.findall(r"^    make experiment (.+)$", last, re.MULTILINE)
    options = [word.partition("=") for word in shlex.split(command)]
    words = {"path" if key == "PATH_NAME" else key.lower(): value for key, _, value in options}
    plan = RunRequest(**words).plan(path_by_rtt=True)
    # What the experiment runs, but for names, maxima and lengths
    like = [
        run.plan.path
        for run in load_experiment(name).runs()
        if run.plan.stacks == plan.stacks
        and run.plan.senders == plan.senders
        and run.plan.droppers == plan.droppers
        and run.plan.era == plan.era
    ]
    same = ("rtt_ms", "rate_bps", "buffer_bytes", "mtu_bytes", "loss", "reorder")
    values = [getattr(plan.path, field) for field in same]
    assert values in [[getattr(path, field) for field in same] for path in like]
    assert f"--experiment={name}`" in last


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_it_holds_no_output_and_nothing_of_a_machine(file: FilePath) -> None:
    for cell in cells(file, "code"):
        assert (cell["outputs"], cell["execution_count"], cell["metadata"]) == ([], None, {})
    assert json.loads(file.read_text())["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_it_defines_nothing(file: FilePath) -> None:
    for cell in cells(file, "code"):
        nodes = list(ast.walk(ast.parse(source(cell))))
        assert not [node for node in nodes if isinstance(node, DEFINITIONS)], source(cell)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_its_links_lead_somewhere(file: FilePath) -> None:
    texts = "".join("".join(cell["source"]) for cell in cells(file, "markdown"))
    for target in re.findall(r"\]\(([^)#]+)", texts):
        assert (file.parent / target).is_file(), target


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_its_figures_are_shown_without_a_button_that_sends_them(file: FilePath) -> None:
    for cell in cells(file, "code"):
        assert "plotly" not in source(cell)


@pytest.mark.parametrize(("uid", "as_root"), [("0", True), ("1000", False)])
def test_jupyterlab_as_a_process_starts_for_root_too_with_port_and_token(
    tmp_path: FilePath, uid: str, as_root: bool
) -> None:
    for part in ("notebook", "lib"):
        shutil.copytree(PROJECT / "images" / part, tmp_path / "images" / part)
    jupyter, id_command = tmp_path / ".venv" / "bin" / "jupyter", tmp_path / "bin" / "id"
    for file, text in ((jupyter, 'echo "$JUPYTER_TOKEN" "$@"'), (id_command, f"echo {uid}")):
        file.parent.mkdir(parents=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    port = str(free_port())
    asked = {"NOTEBOOK_PORT": port, "JUPYTER_TOKEN": "mine"}
    environment = {**os.environ, **asked, "PATH": f"{id_command.parent}:{os.environ['PATH']}"}
    said = subprocess.run(
        [str(tmp_path / "images" / "notebook" / "here")],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert said[:2] == ["mine", "lab"]
    assert {f"--port={port}", "--ip=127.0.0.1", "--ServerApp.port_retries=0"} <= set(said)
    assert ("--allow-root" in said) == as_root


@pytest.mark.parametrize("text", ["0", "70000", "port", "88 99"])
def test_make_notebook_takes_a_port_and_refuses_what_is_none_before_anything_is_installed(
    text: str,
) -> None:
    command = ["make", "notebook", "LAB_RUNTIME=process", f"NOTEBOOK_PORT={text}"]
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert f"notebook: NOTEBOOK_PORT is '{text}': it must be a port" in ended.stderr
    assert ended.returncode != 0


def test_a_port_that_is_taken_is_refused_before_anything_is_installed() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = subprocess.run(
            [str(PROJECT / "images" / "notebook" / "here"), "check"],
            env={**os.environ, "NOTEBOOK_PORT": str(port)},
            check=False,
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 3
    assert f"port {port} of 127.0.0.1 is taken" in ended.stderr


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
