"""Tables: columns and rows of values, and the forms in which people and programs read them."""

from __future__ import annotations

import csv
import io
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from farpath.base.column import Column, Shown, Subject, Value, given, number
from farpath.base.errors import on_one_line
from farpath.base.files import safe_name

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table as RichTable
    from rich.text import Text

    from farpath.metrics.estimate import Estimate

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
#: The most letters of a command that a table of runs or services shows.
_COMMAND_LETTERS = 60

Cell = Value | Shown


@dataclass(frozen=True)
class Table:
    """Columns, and rows with a cell for each of them.

    ``name``: the stem of its file. ``printed``: header and rows for people, where these are others
    than those of the values, as published rows below measured ones are.
    """

    name: str
    title: str
    columns: tuple[Column[Any], ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    printed: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        columns: Sequence[Column[Subject]],
        subjects: Iterable[Subject],
        note: str = "",
    ) -> Table:
        """Return a row for each subject, with what each column takes from it."""
        rows = tuple(tuple(column.cell(subject) for column in columns) for subject in subjects)
        return cls(name, title, tuple(columns), rows, note)

    @classmethod
    def of_texts(
        cls, title: str, header: Sequence[str], rows: Iterable[tuple[str, ...]], note: str = ""
    ) -> Table:
        """Return a table of texts, which no program reads."""
        columns = tuple(Column[Value]("", name, lambda value: value) for name in header)
        return cls("", title, columns, tuple(rows), note)

    @classmethod
    def of_values(
        cls, name: str, keys: Sequence[str], rows: Iterable[tuple[Value, ...]], people: Table
    ) -> Table:
        """Return a table of values of which people read another one, with rows of its own."""
        columns = tuple(map(given, keys))
        lines = (people.header, *people.lines)
        return cls(name, people.title, columns, tuple(rows), people.note, lines)

    @property
    def header(self) -> tuple[str, ...]:
        """The headings for people."""
        if self.printed:
            return self.printed[0]
        return tuple(column.heading for column in self.columns if column.for_people)

    @property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """The rows for people."""
        if self.printed:
            return self.printed[1:]
        return tuple(
            tuple(
                cell.text if isinstance(cell, Shown) else column.text(cell)
                for column, cell in zip(self.columns, row, strict=True)
                if column.for_people
            )
            for row in self.rows
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys for programs."""
        return tuple(column.key for column in self.columns if column.key)

    @property
    def data(self) -> tuple[tuple[Value, ...], ...]:
        """The values for programs, in full precision."""
        return tuple(
            tuple(
                cell.value if isinstance(cell, Shown) else cell
                for column, cell in zip(self.columns, row, strict=True)
                if column.key
            )
            for row in self.rows
        )

    @property
    def objects(self) -> list[dict[str, Value]]:
        """The rows for JSON and data frames: values by key."""
        return [dict(zip(self.keys, row, strict=True)) for row in self.data]

    @property
    def frame(self) -> pd.DataFrame:
        """The values as a data frame; those that there are not are missing."""
        import pandas as pd

        columns = [column for column in self.columns if column.key]
        by_key = {
            column.key: _series(column, [row[index] for row in self.data])
            for index, column in enumerate(columns)
        }
        return pd.DataFrame(by_key, columns=list(self.keys))

    def _repr_markdown_(self) -> str:
        """Return the Markdown that a notebook shows."""
        return as_markdown(self)


def _series(column: Column[Any], values: Sequence[Value]) -> pd.Series:
    """Return the values of a column of a data frame, with the type that they have."""
    import pandas as pd

    if column.counts:
        return pd.Series(values, dtype="Int64")
    # pandas takes values of which none is there for objects
    return pd.Series(values, dtype="float" if set(values) == {None} else None)


def with_interval(estimated: Estimate, decimals: int) -> str:
    """Format a mean with half of its interval, ``248.1 ± 12.3``; for one seed the mean alone."""
    mean = number(estimated.mean, decimals)
    if math.isnan(estimated.half_width):
        return mean
    return f"{mean} ± {number(estimated.half_width, decimals)}"


def as_text(table: Table) -> str:
    """Format a table for a terminal or a file, without colour."""
    return render(rich_table(table), width_columns=TEXT_COLUMNS)


def as_wide_text(table: Table) -> str:
    """Format a table for a terminal; title and note have lines of their own and may be wider."""
    lines = as_text(replace(table, title="", note="")).strip("\n")
    return "\n\n".join([table.title, lines, *([table.note] if table.note else [])]) + "\n"


def command_text(command: Sequence[str]) -> str:
    r"""Return a command as a shell takes it, on one line; a long one ends with three dots.

    >>> command_text(["sh", "-c", "echo a\necho b"])
    "sh -c 'echo a\\necho b'"
    """
    text = on_one_line(shlex.join(command))
    return text if len(text) <= _COMMAND_LETTERS else f"{text[: _COMMAND_LETTERS - 3]}..."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _markdown(text: str) -> str:
    return "".join(f"\\{char}" if char in _MARKDOWN_SPECIAL else char for char in _one_line(text))


def as_markdown(table: Table) -> str:
    """Format a table as a pipe table below its title, with its note after it."""

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(_markdown(cell) for cell in cells)} |"

    lines = [f"**{_markdown(table.title)}**", "", line(table.header)]
    lines.append(f"|---|{'---:|' * (len(table.header) - 1)}")
    lines += [line(row) for row in table.lines]
    if table.note:
        lines += ["", _markdown(table.note)]
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    r"""Escape the characters that are special in LaTeX.

    >>> latex_text("50 % of a_b ± 1")
    '50 \\% of a\\_b $\\pm$ 1'
    """
    return "".join(_LATEX_SPECIAL.get(char, char) for char in _one_line(text))


def as_latex(table: Table) -> str:
    r"""Format a table as an environment for LaTeX's input command; it needs the package booktabs.

    Rows that begin with an empty cell belong to the row above.
    """

    def line(cells: Iterable[str]) -> str:
        return " & ".join(latex_text(cell) for cell in cells) + r" \\"

    lines = [
        r"\begin{table*}[htbp]",
        r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{latex_text(table.title)}}}",
        rf"\label{{tab:{safe_name(table.name)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        r"\toprule",
        line(table.header),
        r"\midrule",
    ]
    for index, row in enumerate(table.lines):
        if index and row[0] and any(not each_row[0] for each_row in table.lines):
            lines.append(r"\addlinespace")
        lines.append(line(row))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if table.note:
        lines.append(rf"\par\smallskip\parbox{{0.95\linewidth}}{{{latex_text(table.note)}}}")
    lines.append(r"\end{table*}")
    return "\n".join(lines) + "\n"


def as_csv(table: Table) -> str:
    """Format the data in full precision; an empty field where there is no value."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(csv_text(key) for key in table.keys)
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


def _field(value: Value) -> str:
    if isinstance(value, str):
        return csv_text(value)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


#: The formats by name, and the suffix of each format's file.
FORMS: Mapping[str, Callable[[Table], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
SUFFIXES: Mapping[str, str] = {"text": ".txt", "markdown": ".md", "latex": ".tex", "csv": ".csv"}


def file_name(table: Table, suffix: str) -> str:
    """Return a table's file name; a path's name in it comes from a record and is made safe."""
    return f"{safe_name(table.name)}{suffix}"


def rich_table(table: Table, widths: Sequence[int] | None = None) -> RichTable:
    """Return a table for the terminal; its texts are not interpreted as rich's markup.

    ``widths``: those of its columns, by default as their texts need.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table as RichTable
    from rich.text import Text

    rich = RichTable(
        title=escape(table.title) or None, caption=escape(table.note) or None,
        box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), title_justify="left", caption_justify="left",
        title_style="bold", caption_style="dim",
    )  # fmt: skip
    for index, name in enumerate(table.header):
        rich.add_column(
            Text(name), justify="right" if index else "left", no_wrap=index == 0,
            width=None if widths is None else widths[index], overflow="fold",
        )  # fmt: skip
    for row in table.lines:
        rich.add_row(*map(Text, row))
    return rich


def fitting(table: Table, width_columns: int) -> tuple[RichTable | Text, ...]:
    """Return a table for a terminal of that width: one table, or several below each other.

    Each has the first column and as many of the others as fit, so that no number is cut. A header
    may break between its words. The note of several is as wide as the terminal.
    """
    from rich.text import Text

    texts = list(zip(table.header, *table.lines, strict=True))
    if _width(max(map(len, column)) for column in texts) <= width_columns:
        return (rich_table(table),)
    widths = [max(_longest_word(name), *map(len, cells)) for name, *cells in texts]
    parts: list[list[int]] = [[0]]
    for index in range(1, len(widths)):
        if len(parts[-1]) > 1 and _width(widths[p] for p in [*parts[-1], index]) > width_columns:
            parts.append([0])
        parts[-1].append(index)
    tables = [
        rich_table(
            _part(table, part, part is parts[0], table.note if len(parts) == 1 else ""),
            [widths[p] for p in part],
        )
        for part in parts
    ]
    return (*tables, *([Text(table.note)] if table.note and len(parts) > 1 else []))


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _width(columns: Iterable[int]) -> int:
    """Return how wide a table is: each column has two blanks, and one is at the end."""
    return sum(width + 2 for width in columns) + 1


def _part(table: Table, indices: Sequence[int], first: bool, note: str) -> Table:
    """Return some columns of a table, the first part with its title, and a note."""
    header, *rows = (tuple(row[index] for index in indices) for row in (table.header, *table.lines))
    return Table.of_texts(table.title if first else "", header, tuple(rows), note)


def render(*tables: RichTable | Text, width_columns: int = 120) -> str:
    """Format tables and texts as plain text without colour, one below the other."""
    from rich.console import Console

    # In a notebook rich would also display them
    console = Console(
        file=io.StringIO(), width=width_columns, color_system=None, force_jupyter=False
    )
    for table in tables:
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = (line.rstrip() for line in console.file.getvalue().splitlines())
    return "\n".join(lines).strip("\n") + "\n"
