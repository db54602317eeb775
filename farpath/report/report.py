"""A report: files in a directory, a text for a terminal, and the same as data for programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.files import write_text
from farpath.report.figures.save import FORMATS, save
from farpath.report.table import (
    FORMS,
    SUFFIXES,
    TEXT_COLUMNS,
    Table,
    file_name,
    fitting,
    render,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Texts and figures by their names below a directory.
Files = Mapping[str, "str | Figure"]


def terminal_text(tables: Iterable[Table]) -> str:
    """Return tables for the present terminal, each divided into as many as its width demands."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else TEXT_COLUMNS
    return render(
        *(part for table in tables for part in fitting(table, width)), width_columns=width
    )


def table_files(tables: Iterable[Table]) -> dict[str, str]:
    """Return the files of tables in every form, for ``Report.files``."""
    return {
        f"tables/{file_name(table, SUFFIXES[form])}": format_table(table)
        for table in tables
        for form, format_table in FORMS.items()
    }


def figure_files(figures: Iterable[tuple[str, Figure]]) -> dict[str, Figure]:
    """Return the files of figures in every format, by the figures' names, for ``Report.files``."""
    return {f"figures/{name}.{form}": figure for name, figure in figures for form in FORMATS}


@dataclass(frozen=True)
class Report:
    """The report of a command.

    ``files``: texts and figures by their names below a directory. ``text``: for a terminal.
    ``data``: plain values for JSON. ``places``: what people are told besides the files, by a word
    for each.
    """

    files: Files
    text: str = ""
    data: Any = None
    places: Mapping[str, FilePath | str] = field(default_factory=dict)

    def write(self, directory: FilePath) -> None:
        """Write all files, figures in the format of their names' ends."""
        for name, content in self.files.items():
            if isinstance(content, str):
                write_text(directory / name, content)
            else:
                save(content, directory / name)

    def print(self, directory: FilePath, as_json: bool) -> None:
        """Print the text or one JSON object, then the list of places and files.

        The list goes to stderr after JSON, of which stdout has one object.
        """
        print(json.dumps(self.data) if as_json else self.text.rstrip())
        listed = {**self.places, **{name: directory / name for name in self.files}}
        for name, place in listed.items():
            print(f"{name.rpartition('.')[2]:<11} {place}", file=sys.stderr if as_json else None)
