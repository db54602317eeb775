"""Variables: ``${NAME}`` in a file's texts, and files of variables.

Source: compose-spec, 12-interpolation.md, and ``env_file`` in 05-services.md.

``${NAME:-text}``, ``${NAME-text}``, ``${NAME:+text}``, ``${NAME+text}``, ``${NAME:?text}`` and
``${NAME?text}`` may stand within each other. ``$$`` is a dollar; one before anything else stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from farpath.base.errors import BadInputError, on_one_line

#: Most variables within each other, and most characters of all texts together.
MOST_DEPTH = 20
MOST_CHARACTERS = 1 << 23
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_FOUND = re.compile(rf"\$(?:(?P<dollar>\$)|(?P<name>{_NAME})|(?P<open>\{{))")
_BRACE = re.compile(r"\$\$|(?P<open>\$\{)|(?P<close>\})")
#: Of ``:=`` and ``=``, which a shell sets, the value alone has a meaning here (containerlab).
_INSIDE = re.compile(rf"({_NAME})(?:(:?)([-?+=])(.*))?", re.DOTALL)
_LINE = re.compile(
    r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)[ \t]*"
    r"(?P<equals>=[ \t]*(?:'(?P<single>(?:\\'|[^'])*)'|\"(?P<double>(?:\\.|[^\"\\])*)\""
    r"|(?P<plain>[^\n'\"][^\n]*)?))?[ \t]*(?:(?<=[ \t'\"])#[^\n]*)?\r?(?:\n|\Z)",
    re.DOTALL,
)
_BLANK = re.compile(r"[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "'": "'", "$": "$$"}


@dataclass
class Interpolation:
    """Texts with the values of variables in their places.

    ``values``: of variables by name. ``missing``: names without a value for which an empty text
    stood, in their order.
    """

    values: Mapping[str, str]
    missing: dict[str, None] = field(default_factory=dict)
    _characters: int = 0

    def of(self, value: Any) -> Any:
        """Return a file's value with all its texts, and not its keys, interpolated."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.of(each) for key, each in value.items()}
        return [self.of(each) for each in value] if isinstance(value, list) else value

    def text(self, text: str) -> str:
        """Return a text with values in the places of its variables.

        Raises BadInputError for a brace that nothing closes, for what is no variable, and for one
        that has to be set.

        >>> Interpolation({"A": "1"}).text("${A}$A $$A ${B:-b${A}} ${A:+set} $5")
        '11 $A b1 set $5'
        """
        return self._expanded(text, 0) if "$" in text else text

    def _expanded(self, text: str, depth: int) -> str:
        if depth > MOST_DEPTH:
            raise BadInputError(problem=f"more than {MOST_DEPTH} variables within each other")
        parts, at = [], 0
        while found := _FOUND.search(text, at):
            parts.append(text[at : found.start()])
            at = found.end()
            if found["dollar"]:
                parts.append("$")
            elif found["name"]:
                parts.append(self._value(found["name"], "", "", "", depth))
            else:
                end = _closing(text, at)
                inside = _INSIDE.fullmatch(text, at, end)
                if not inside:
                    raise BadInputError(
                        problem=f"'${{{on_one_line(text[at:end])}}}' is no variable",
                        remedy="write it as ${NAME} or ${NAME:-default}, and a dollar as $$",
                    )
                name, colon, sign, rest = (part or "" for part in inside.groups())
                parts.append(self._value(name, colon, sign, rest, depth))
                at = end + 1
            self._count(parts[-1])
        return "".join([*parts, text[at:]])

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > MOST_CHARACTERS:
            raise BadInputError(
                problem=f"with its variables it has more than {MOST_CHARACTERS:,} characters"
            )

    def _value(self, name: str, colon: str, sign: str, rest: str, depth: int) -> str:
        value = self.values.get(name)
        is_there = value is not None and not (colon and not value)
        if sign == "+":
            return self._expanded(rest, depth + 1) if is_there else ""
        if is_there:
            return str(value)
        if sign == "?":
            said = on_one_line(self._expanded(rest, depth + 1))
            raise BadInputError(
                problem=f"variable {name} is not set{said and f': {said}'}",
                remedy=f"give it in the environment, or in .env beside the file: {name}=...",
            )
        if sign:
            return self._expanded(rest, depth + 1)
        if value is None:
            self.missing[name] = None
        return ""


def _closing(text: str, start: int) -> int:
    """Return where the brace closes that opens before ``start``."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += bool(brace["open"]) - bool(brace["close"])
        if not depth:
            return brace.start()
    raise BadInputError(
        problem=f"nothing closes '${{{on_one_line(text[start : start + 40])}'",
        remedy="write a variable as ${NAME}, and a dollar as $$",
    )


def parse_variables(
    text: str, environment: Mapping[str, str], raw: bool = False
) -> dict[str, str | None]:
    r"""Return the variables of an ``.env`` or ``env_file``; None for a name without a value.

    ``environment``: has precedence over the file's own in its interpolation. ``raw``: without
    quotes and interpolation. Raises BadInputError with the line (compose-spec, ``env_file``).

    >>> parse_variables("A=1 # one\nB='$A'\nC=\"<$A>\"\nD", {})
    {'A': '1', 'B': '$A', 'C': '<1>', 'D': None}
    """
    if raw:
        lines = (line for line in text.splitlines() if line and not line.startswith("#"))
        split = [line.partition("=") for line in lines]
        return {name.strip(): value if equals else None for name, equals, value in split}
    found: dict[str, str | None] = {}
    known = dict(environment)
    interpolation = Interpolation(known)
    at = 0
    while at < len(text):
        if blank := _BLANK.match(text, at):
            at = max(blank.end(), at + 1)
            continue
        line = _LINE.match(text, at)
        if not line:
            number = text.count("\n", 0, at) + 1
            raise BadInputError(problem=f"line {number} is no NAME=value")
        at = line.end()
        name = line["name"]
        found[name] = value = _line_value(line, interpolation) if line["equals"] else None
        if value is not None and name not in environment:
            known[name] = value
    return found


def _line_value(line: re.Match[str], interpolation: Interpolation) -> str:
    if line["single"] is not None:
        return line["single"].replace("\\'", "'")
    if line["double"] is not None:
        text = re.sub(
            r"\\(.)",
            lambda escape: _ESCAPES.get(escape[1], escape[0]),
            line["double"],
            flags=re.DOTALL,
        )
        return interpolation.text(text)
    plain = re.split(r"(?:^|[ \t])#", line["plain"] or "", maxsplit=1)[0]
    return interpolation.text(plain.strip())
