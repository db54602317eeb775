"""C sources without what no compiler sees: their code, which hashes stand for.

    c_source.py FILE...            prints the code of files, one behind the other
    c_source.py --sha256 FILE...   prints a line for each, its name and the SHA-256 of its code

A better comment, a blank line or another indentation then gives no other module and no other run.
"""

from __future__ import annotations

import hashlib
import re
import sys
from functools import lru_cache
from pathlib import Path

_COMMENT = r"//(?:\\\n|[^\n])*|/\*.*?\*/"
#: What is kept as it is: literals, in which a comment's signs mean nothing, and numbers, whose
#: digits may be separated by quotes (C++14); and what is not: blanks, line ends and comments.
_TOKEN = re.compile(
    rf"""
    (?P<kept>
        R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![\w'])[0-9][\w.]*(?:'[\w.]+)*
      | '(?:\\.|[^'\\\n])*'
    )
  | (?P<gap>(?:\s|{_COMMENT})+)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENTS = re.compile(_COMMENT, re.DOTALL)


@lru_cache(maxsize=1024)
def code_of(source: str) -> str:
    r"""Return C or C++ code without comments and blank lines, and with single blanks.

    A line end stays one, since it ends a directive; a comment counts as a blank.

    >>> code_of('int a; // one\n\n/* two\n lines */\nchar *b = "// no";\n')
    'int a;\nchar *b = "// no";'
    """
    return _TOKEN.sub(_without_gap, source).strip()


def masked(source: str) -> str:
    r"""Return C or C++ code with blanks for comments, each character in its place.

    >>> masked('int a; // one\n/* two */ char *b = "// no";')
    'int a;       \n          char *b = "// no";'
    """
    return _TOKEN.sub(_with_blanks, source)


def _with_blanks(match: re.Match[str]) -> str:
    if match["gap"] is None:
        return match["kept"]
    return re.sub(r"[^\n]", " ", match["gap"])


def _without_gap(match: re.Match[str]) -> str:
    if match["gap"] is None:
        return match["kept"]
    return "\n" if "\n" in _COMMENTS.sub("", match["gap"]) else " "


def file_code(file: Path) -> bytes:
    """Return the code of a file and a line end; raise OSError if it cannot be read."""
    source = file.read_text(encoding="utf-8", errors="surrogateescape")
    return f"{code_of(source)}\n".encode(errors="surrogateescape")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--sha256"]:
        for file in map(Path, sys.argv[2:]):
            digest = hashlib.sha256(file_code(file)).hexdigest()
            sys.stdout.write(f"{file.name} {digest}\n")
    else:
        for file in map(Path, sys.argv[1:]):
            sys.stdout.buffer.write(file_code(file))
