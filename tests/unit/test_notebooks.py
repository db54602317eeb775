"""Notebooks as files: no output, no definition, no dead link."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path as FilePath
from typing import Any

import pytest

NOTEBOOKS = sorted((FilePath(__file__).parents[2] / "notebooks").glob("*.ipynb"))
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def cells(file: FilePath, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    """A cell's text without IPython's own lines."""
    return "".join(line for line in cell["source"] if not line.startswith("%"))


def test_all_five_are_there() -> None:
    assert [file.stem for file in NOTEBOOKS] == [
        "01-seven-regions",
        "02-table-1",
        "03-table-2",
        "04-claims",
        "05-explore",
    ]


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
        found = list(ast.walk(ast.parse(source(cell))))
        assert not [node for node in found if isinstance(node, DEFINITIONS)], source(cell)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_its_links_lead_somewhere(file: FilePath) -> None:
    texts = "".join("".join(cell["source"]) for cell in cells(file, "markdown"))
    for target in re.findall(r"\]\(([^)#]+)", texts):
        assert (file.parent / target).is_file(), target
