"""Variables of compose files: their texts, and files of variables."""

from __future__ import annotations

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.compose.variables import Interpolation, parse_variables

VALUES = {"A": "1", "EMPTY": "", "b_2": "2"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$A ${A} $b_2", "1 1 2"),
        ("$$A $${A} $ $1 $-", "$A ${A} $ $1 $-"),
        ("${NO:-d} ${NO-d} ${EMPTY:-d} ${EMPTY-d}", "d d d "),
        ("${A:+s} ${NO:+s} ${EMPTY:+s} ${EMPTY+s}", "s   s"),
        ("${NO:-${NO2:-${A}}}", "1"),
        ("${NO:-a}b}", "ab}"),
        ("${NO:-$$}", "$"),
        ("${A:?why}", "1"),
    ],
)
def test_texts_have_the_values_of_compose(text: str, value: str) -> None:
    assert Interpolation(VALUES).text(text) == value


def test_a_variable_without_a_value_is_noted() -> None:
    interpolation = Interpolation(VALUES)
    assert interpolation.of({"$A": ["$NO", 1, None]}) == {"$A": ["", 1, None]}
    assert list(interpolation.missing) == ["NO"]


@pytest.mark.parametrize(
    "text",
    [
        "${", "${A", "${}", "${1}", "${A/b/c}", "${NO:?}", "${NO?w}", "${EMPTY:?w}",
        "${NO:-" * 30 + "}" * 30, "$$${NO:?a}",
    ],
)  # fmt: skip
def test_what_is_no_variable_or_has_to_be_set_is_refused(text: str) -> None:
    with pytest.raises(BadInputError) as caught:
        Interpolation(VALUES).text(text)
    assert "\n" not in caught.value.message


def test_variables_of_variables_do_not_grow_without_end() -> None:
    lines = ["A0=" + "x" * 1000, *(f"A{n}=${{A{n - 1}}}${{A{n - 1}}}" for n in range(1, 60))]
    with pytest.raises(BadInputError):
        parse_variables("\n".join(lines), {})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("# a\n\n  A=1\nexport B = 2\r\nC", {"A": "1", "B": "2", "C": None}),
        ("A=x # y\nB=x# y\nC=\nD= # y", {"A": "x", "B": "x# y", "C": "", "D": ""}),
        ("A='$B # \\n' # y\nB='it\\'s'", {"A": "$B # \\n", "B": "it's"}),
        ('A="a\\n\\"$B\\""\nB="two\nlines"', {"A": 'a\n"2"', "B": "two\nlines"}),
        ("A=1\nC=${A}$B", {"A": "1", "C": "12"}),
        ("B=1\nC=$B", {"B": "1", "C": "2"}),
    ],
)
def test_a_file_of_variables_is_read_as_by_compose(text: str, values: object) -> None:
    assert parse_variables(text, {"B": "2"}) == values


def test_a_raw_file_is_taken_as_it_is() -> None:
    assert parse_variables("A='$B' # c\nC", {}, raw=True) == {"A": "'$B' # c", "C": None}


@pytest.mark.parametrize("text", ["A B", "A=1\n=2", "A='1", 'A="1" 2', "1A=2"])
def test_a_line_that_is_none_is_refused_by_its_number(text: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_variables(text, {})
    assert f"line {text.count(chr(10)) + 1}" in caught.value.message
