"""Sheet: a table as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.seven_regions.agreement import all_tables
from farpath.base.column import Column, Value
from farpath.base.column import given as column_of
from farpath.report import table as formats
from farpath.report.table import Table
from tests.support.campaigns import published_campaign

PRINTABLE = st.text(string.printable.replace("\r", "").replace("\n", ""), max_size=12)
VALUES = (("x", 1 / 3), ("y", math.nan), ("z", None))


def _sheet(*rows: tuple[str, ...], note: str = "") -> Table:
    grid = Table.of_texts("title", tuple("abc"[: len(rows[0])]), rows, note)
    return Table.of_values("name", ("a", "b_mbps"), VALUES, grid)


def test_a_data_frame_has_numbers_also_where_none_is_there() -> None:
    columns = (
        Column[Value]("count", "count", lambda value: value, counts=True),
        column_of("rtt_ms", "RTT"),
        column_of("", "for people"),
    )
    frame = Table("name", "title", columns, ((1, None, "x"), (None, None, "y"))).frame
    assert list(frame) == ["count", "rtt_ms"]
    assert [str(kind) for kind in frame.dtypes] == ["Int64", "float64"]


@pytest.mark.parametrize(
    ("begin", "shown"),
    [*((sign, f"'{sign}") for sign in "=+-@"), ("\t=", "\\t="), ("\r=", "\\r="), ("\n=", "\\n=")],
)
def test_no_text_of_a_csv_file_is_a_formula_of_a_spreadsheet(begin: str, shown: str) -> None:
    sheet = _sheet(("1",))
    text = f"{begin}1+1"
    forged = dataclasses.replace(
        sheet, columns=(column_of(text), column_of("b")), rows=((text, -1.5),)
    )
    rows = list(csv.reader(io.StringIO(formats.as_csv(forged), newline="")))
    assert rows == [[f"{shown}1+1", "b"], [f"{shown}1+1", "-1.5"]]


def test_csv_has_full_precision_and_nothing_where_nothing_is_known() -> None:
    rows = list(csv.reader(io.StringIO(formats.as_csv(_sheet(("1",))))))
    assert rows == [["a", "b_mbps"], ["x", "0.3333333333333333"], ["y", ""], ["z", ""]]
    assert float(rows[1][1]) == 1 / 3


@given(st.lists(st.tuples(PRINTABLE, PRINTABLE), min_size=1, max_size=4))
def test_every_markdown_row_has_the_same_columns_whatever_its_cells_hold(
    rows: list[tuple[str, ...]],
) -> None:
    lines = formats.as_markdown(_sheet(*rows)).splitlines()[2:]
    bars = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines if line]
    assert len(bars) == len(rows) + 2
    assert set(bars) == {3}


@given(PRINTABLE)
def test_latex_leaves_no_character_that_it_takes_as_its_own(text: str) -> None:
    written = formats.latex_text(text)
    for command in (r"\\textbackslash{}", r"\\textascii(?:tilde|circum){}", r"\\[&%$#_{}]",
                    r"\$(?:[<>|]|\\pm)\$"):  # fmt: skip
        written = re.sub(command, "", written)
    assert not set(written) & set("\\&%$#_{}~^<>|")


def test_a_latex_table_is_one_balanced_environment_with_all_its_columns() -> None:
    for made in all_tables(published_campaign(), held_out=("HSTCP",)):
        text = formats.as_latex(made)
        assert text.count(r"\begin{") == text.count(r"\end{") == 2
        plain = text.replace(r"\{", "").replace(r"\}", "")
        assert plain.count("{") == plain.count("}")
        rows = [line for line in text.splitlines() if line.endswith(r" \\")]
        assert len(rows) == len(made.lines) + 1
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(made.header) - 1}


def test_rows_of_one_stack_stay_together_in_latex() -> None:
    text = formats.as_latex(_sheet(("A", "1"), ("", "2"), ("B", "3")))
    assert text.count(r"\addlinespace") == 1
    assert text.index(" & 2") < text.index(r"\addlinespace") < text.index("B & 3")


@pytest.mark.parametrize("form", formats.FORMS)
def test_every_form_of_every_table_has_all_its_stacks(form: str) -> None:
    for made in all_tables(published_campaign()):
        text = formats.FORMS[form](made)
        assert text.endswith("\n")
        if "table" in made.name:
            assert text.count("UDTv2") == (7 if form == "csv" and "table2" in made.name else 1)


def test_text_fits_its_width_and_breaks_no_cell() -> None:
    for made in all_tables(published_campaign(), held_out=("HSTCP",)):
        lines = formats.as_text(made).splitlines()
        assert max(map(len, lines)) <= formats.TEXT_COLUMNS
        body = [line for line in lines[3:] if line.startswith("  ")]
        assert len(body) == len(made.lines)
