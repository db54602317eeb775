"""Result tables, as texts and as data, and the formats that they are written in."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from farpath.base.errors import on_one_line
from farpath.base.files import safe_name
from farpath.report.tables.regions import TextTable, render, rich_table

#: The width of text in columns; tables of nine stacks with intervals need it.
TEXT_COLUMNS = 120
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"$<$", ">": r"$>$", "|": r"$|$", "±": r"$\pm$",
}  # fmt: skip
#: What begins a formula in a spreadsheet.
_FORMULA = ("=", "+", "-", "@")
_MARKDOWN_SPECIAL = "\\`*_{}[]<>|"

CellValue = str | float | int | None


@dataclass(frozen=True)
class ResultTable:
    """A table as texts (``text``) and as data (``columns``, ``data``).

    ``name``: the stem of its file. ``columns``: names with units. A datum is None where nothing was
    measured or published.
    """

    name: str
    text: TextTable
    columns: tuple[str, ...]
    data: tuple[tuple[CellValue, ...], ...]

    def _repr_markdown_(self) -> str:
        """Return the Markdown that a notebook shows."""
        return as_markdown(self)


def as_text(table: ResultTable) -> str:
    """Format a table for a terminal or a file, without colour."""
    return render(rich_table(table.text), width_columns=TEXT_COLUMNS)


def as_wide_text(table: ResultTable) -> str:
    """Format a table for a terminal; title and note have lines of their own and may be wider."""
    text = table.text
    bare = replace(table, text=replace(text, title="", note=""))
    lines = as_text(bare).strip("\n")
    return "\n\n".join([text.title, lines, *([text.note] if text.note else [])]) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _markdown(text: str) -> str:
    return "".join(f"\\{char}" if char in _MARKDOWN_SPECIAL else char for char in _one_line(text))


def as_markdown(table: ResultTable) -> str:
    """Format a table as a pipe table below its title, with its note after it."""
    text = table.text

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(_markdown(cell) for cell in cells)} |"

    lines = [f"**{_markdown(text.title)}**", "", line(text.header)]
    lines.append(f"|---|{'---:|' * (len(text.header) - 1)}")
    lines += [line(row) for row in text.rows]
    if text.note:
        lines += ["", _markdown(text.note)]
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    r"""Escape the characters that are special in LaTeX.

    >>> latex_text("50 % of a_b ± 1")
    '50 \\% of a\\_b $\\pm$ 1'
    """
    return "".join(_LATEX_SPECIAL.get(char, char) for char in _one_line(text))


def as_latex(table: ResultTable) -> str:
    r"""Format a table as an environment for LaTeX's input command; it needs the package booktabs.

    Rows that begin with an empty cell belong to the row above.
    """
    text = table.text

    def line(cells: Iterable[str]) -> str:
        return " & ".join(latex_text(cell) for cell in cells) + r" \\"

    lines = [
        r"\begin{table*}[htbp]",
        r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{latex_text(text.title)}}}",
        rf"\label{{tab:{safe_name(table.name)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(text.header) - 1)}}}",
        r"\toprule",
        line(text.header),
        r"\midrule",
    ]
    for index, row in enumerate(text.rows):
        if index and row[0] and any(not each_row[0] for each_row in text.rows):
            lines.append(r"\addlinespace")
        lines.append(line(row))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if text.note:
        lines.append(rf"\par\smallskip\parbox{{0.95\linewidth}}{{{latex_text(text.note)}}}")
    lines.append(r"\end{table*}")
    return "\n".join(lines) + "\n"


def as_csv(table: ResultTable) -> str:
    """Format the data in full precision; an empty field where there is no value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(csv_text(column) for column in table.columns)
    writer.writerows([_field(value) for value in row] for row in table.data)
    return stream.getvalue()


def csv_text(text: str) -> str:
    """Return a text as a field of CSV, of which no spreadsheet makes a formula.

    It has a quote before the characters with which formulas begin (CSV Injection, OWASP); control
    characters are escaped.

    >>> csv_text("=1+1"), csv_text("flow1")
    ("'=1+1", 'flow1')
    """
    line = on_one_line(text)
    return f"'{line}" if line.startswith(_FORMULA) else line


def _field(value: CellValue) -> str:
    if isinstance(value, str):
        return csv_text(value)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


#: The formats by name, and the suffix of each format's file.
FORMS: Mapping[str, Callable[[ResultTable], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
SUFFIXES: Mapping[str, str] = {"text": ".txt", "markdown": ".md", "latex": ".tex", "csv": ".csv"}


def file_name(table: ResultTable, suffix: str) -> str:
    """Return a table's file name; a path's name in it comes from a record and is made safe."""
    return f"{safe_name(table.name)}{suffix}"
