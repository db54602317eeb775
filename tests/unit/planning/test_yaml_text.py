"""YAML of other people's files: values of YAML 1.2, bounds of size, and what is refused."""

from __future__ import annotations

import time

import pytest

from farpath.base.errors import BadInputError
from farpath.planning.yaml_text import MOST_BYTES, parse_yaml, read_text, text_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("yes", "yes"),
        ("22:22", "22:22"),
        ("2026-01-01", "2026-01-01"),
        ("0x1f", 31),
        ("010", 10),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1e999", "1e999"),
        (".nan", ".nan"),
        ("'1'", "1"),
        ("! 1", "1"),
        ("!!str 1", "1"),
        ("{a: , b: ~}", {"a": None, "b": None}),
        ("{a: &x [1], b: *x}", {"a": [1], "b": [1]}),
        ("{<<: [{a: 1}, {a: 2, b: 2}], b: 3}", {"a": 1, "b": 3}),
        ("{'<<': 1}", {"<<": 1}),
        ("&a {b: &a 1, c: *a}", {"b": 1, "c": 1}),
    ],
)
def test_plain_scalars_are_those_of_the_core_schema(text: str, value: object) -> None:
    assert parse_yaml(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "a: b: c",
        "a: 1\na: 2",
        "[a]: 1",
        "1: a",
        "a: *b",
        "&a [*a]",
        "<<: 1",
        "--- a\n--- b",
        "!!python/object/apply:os.system [true]",
        "!!int a",
        "!!timestamp a",
        "!!set {a}",
        "a: !reset b",
        "\x00",
        "[" * 100_000,
        "- " * 100_000,
        "%YAML 3.0\n--- a",
    ],
)
def test_what_is_no_yaml_of_texts_and_numbers_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_yaml(text)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "step", ["&x{0} [*x{1}, *x{1}, *x{1}, *x{1}]", "&x{0} {{<<: *x{1}, a{0}: *x{1}, b{0}: *x{1}}}"]
)
def test_a_bomb_of_aliases_is_refused_at_once(step: str) -> None:
    lines = ["- &x0 {a: 1}", *(f"- {step.format(n, n - 1)}" for n in range(1, 60))]
    begin = time.monotonic()
    with pytest.raises(BadInputError):
        parse_yaml("\n".join(lines))
    assert time.monotonic() - begin < 2


def test_a_large_file_is_refused(tmp_path) -> None:
    file = tmp_path / "large.yml"
    file.write_text("#" * (MOST_BYTES + 1))
    with pytest.raises(BadInputError):
        read_text(file)


@pytest.mark.parametrize("content", [b"\xff", None])
def test_a_file_that_is_no_text_is_refused(tmp_path, content: bytes | None) -> None:
    file = tmp_path / "file.yml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadInputError) as caught:
        read_text(file)
    assert caught.value.file == str(file)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"), (0.5, "0.5"), (1e16, "10000000000000000"), (1e21, "1e+21"), (1e-5, "1e-05"),
        (0.0001, "0.0001"), (-0.0, "-0"), (123456789.125, "123456789.125"), (True, "true"),
    ],
)  # fmt: skip
def test_numbers_of_an_environment_are_written_as_by_go(value: object, text: str) -> None:
    assert text_of(value) == text
