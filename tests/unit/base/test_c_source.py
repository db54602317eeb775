"""What hashes stand for of C sources: their code, and neither comments nor blank lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path as FilePath

import pytest

from farpath.base.c_source import code_of, file_code
from farpath.base.project import PROJECT

SOURCE = """// SPDX-License-Identifier: GPL-2.0
/* A queue
 * of packets. */

#include "port.h"
#define MOST 64 /* packets */
static const char *url = "http://a/*b*/"; // where
\tchar quote = '"', slash = '\\\\'; /* "no text" */
int half(int all) { return all / 2; }
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A queue", "The queue"),
        (" // where", ""),
        (" // where", ' // don\'t say "where"'),
        ("/* packets */", "/* how many\n packets */"),
        ('/* "no text" */', "// '"),
        ("\n\n#include", "\n\n\n   \n#include"),
        ("\tchar", "    char"),
        ("GPL-2.0\n", "GPL-2.0 \\\n and more\n"),
    ],
)
def test_another_comment_or_blank_is_the_same_code(old: str, new: str) -> None:
    changed = SOURCE.replace(old, new, 1)
    assert changed != SOURCE
    assert code_of(changed) == code_of(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/*b*/", "/*c*/"),
        ("//a", "//b"),
        ("'\"'", "'\\''"),
        ("all / 2", "all / 3"),
        ("MOST 64", "MOST 65"),
        ("static", "// static"),
        ("{ return", "{ /* return"),
        ("int half(int all)", "inthalf(int all)"),
    ],
)
def test_another_text_or_code_is_another_code(old: str, new: str) -> None:
    changed = SOURCE.replace(old, new, 1)
    assert changed != SOURCE
    assert code_of(changed) != code_of(SOURCE)


def test_a_comment_separates_words_and_its_line_ends_end_no_directive() -> None:
    assert code_of("int/**/a;") == "int a;"
    assert code_of("#define A 1 /*\n*/ + 2") == "#define A 1 + 2"
    assert code_of("#define A 1\n + 2") == "#define A 1\n+ 2"


def test_texts_and_numbers_of_cpp_are_kept() -> None:
    for code in ('R"(a // b\n\n c)"', 'R"x(")" /* a */)x"', "int a = 1'000'000; b = '/';"):
        assert code_of(code) == code
    assert code_of("a = 1'000; // don't") == "a = 1'000;"


def test_scripts_of_images_see_the_same_code() -> None:
    files = sorted((PROJECT / "images" / "kernel").glob("*/*.[ch]"))
    script = [sys.executable, "-I", str(PROJECT / "farpath" / "base" / "c_source.py")]
    assert subprocess.check_output([*script, *map(str, files)]) == b"".join(map(file_code, files))


def test_a_source_in_any_encoding_has_code(tmp_path: FilePath) -> None:
    file = tmp_path / "latin.c"
    file.write_bytes(b'char *name = "Caf\xe9"; // \xe9\n')
    assert file_code(file) == b'char *name = "Caf\xe9";\n'
