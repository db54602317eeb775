"""Sheet: one table for people and for programs, and the forms it is written in."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from farpath.base.files import safe_name
from farpath.report.tables.regions import Grid, render, rich_table

#: The widest that text is; tables of nine stacks with intervals need it.
TEXT_COLUMNS = 120
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"$<$", ">": r"$>$", "|": r"$|$", "±": r"$\pm$",
}  # fmt: skip
_MARKDOWN_SPECIAL = "\\`*_{}[]<>|"

Datum = str | float | int | None


@dataclass(frozen=True)
class Sheet:
    """A table twice: as texts (``grid``) and as numbers (``columns``, ``data``).

    ``name``: the stem of its file. ``columns`` name their unit; None where nothing was
    measured or published.
    """

    name: str
    grid: Grid
    columns: tuple[str, ...]
    data: tuple[tuple[Datum, ...], ...]

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return as_markdown(self)


def as_text(sheet: Sheet) -> str:
    """For a terminal or a file, without colour."""
    return render(rich_table(sheet.grid), width_columns=TEXT_COLUMNS)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _markdown(text: str) -> str:
    return "".join(f"\\{char}" if char in _MARKDOWN_SPECIAL else char for char in _one_line(text))


def as_markdown(sheet: Sheet) -> str:
    """A pipe table below its title, its note after it."""
    grid = sheet.grid

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(_markdown(cell) for cell in cells)} |"

    lines = [f"**{_markdown(grid.title)}**", "", line(grid.header)]
    lines.append(f"|---|{'---:|' * (len(grid.header) - 1)}")
    lines += [line(row) for row in grid.rows]
    if grid.note:
        lines += ["", _markdown(grid.note)]
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    r"""A text with what LaTeX would take as its own written as itself.

    >>> latex_text("50 % of a_b ± 1")
    '50 \\% of a\\_b $\\pm$ 1'
    """
    return "".join(_LATEX_SPECIAL.get(char, char) for char in _one_line(text))


def as_latex(sheet: Sheet) -> str:
    r"""A table environment for ``\input``; its document needs the package booktabs.

    Rows that begin with an empty cell belong to the one above.
    """
    grid = sheet.grid

    def line(cells: Iterable[str]) -> str:
        return " & ".join(latex_text(cell) for cell in cells) + r" \\"

    lines = [
        r"\begin{table*}[htbp]",
        r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{latex_text(grid.title)}}}",
        rf"\label{{tab:{safe_name(sheet.name)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(grid.header) - 1)}}}",
        r"\toprule",
        line(grid.header),
        r"\midrule",
    ]
    for place, row in enumerate(grid.rows):
        if place and row[0] and any(not other[0] for other in grid.rows):
            lines.append(r"\addlinespace")
        lines.append(line(row))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if grid.note:
        lines.append(rf"\par\smallskip\parbox{{0.95\linewidth}}{{{latex_text(grid.note)}}}")
    lines.append(r"\end{table*}")
    return "\n".join(lines) + "\n"


def as_csv(sheet: Sheet) -> str:
    """The numbers in full precision; an empty field where there is none."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(sheet.columns)
    writer.writerows([_field(datum) for datum in row] for row in sheet.data)
    return stream.getvalue()


def _field(datum: Datum) -> str:
    if datum is None or (isinstance(datum, float) and not math.isfinite(datum)):
        return ""
    return repr(datum) if isinstance(datum, float) else str(datum)


#: The forms by name, and the suffix of each form's file.
FORMS: Mapping[str, Callable[[Sheet], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
SUFFIXES: Mapping[str, str] = {"text": ".txt", "markdown": ".md", "latex": ".tex", "csv": ".csv"}


def file_name(sheet: Sheet, suffix: str) -> str:
    """A sheet's file; the name of a path in it comes from a record and may hold anything."""
    return f"{safe_name(sheet.name)}{suffix}"
