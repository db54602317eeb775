"""Adaptation of a source of a kernel module: other names, and functions of today's types.

``images/kernel/compat/linux_compat.h`` has the older interfaces. In the text of a source changes
what no header can change:

- the name in its ``struct tcp_congestion_ops``;
- a member of the ops whose type has changed, or which is gone: a function of today's type stands
  before the ops, and the compiler takes it only if the module's own is of the older type;
- spellings that no macro can have, as of a variable that is a function now.

``#line`` keeps the numbers of the user's lines in the compiler's messages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from farpath.base.c_source import masked

_OPS = re.compile(r"\bstruct\s+tcp_congestion_ops\s+\w+\b[^;={]*=\s*\{")
_MEMBER = re.compile(r"\.(?P<member>\w+)\s*=\s*&?\s*(?P<value>\w+)(?=\s*[,}\n])")
_NAME = re.compile(r"\.name\s*=\s*(?P<value>\"[^\"\n]*\"|\w+)")
_MIN_CWND = re.compile(r"\.min_cwnd\s*=\s*[^,}]+,?")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(?:\"([^\"\n]+)\"|<([^>\n]+)>)", re.MULTILINE)
_PR_FMT = re.compile(r"^[ \t]*#[ \t]*define[ \t]+pr_fmt\b", re.MULTILINE)
_EXPORT = re.compile(r"\bEXPORT_SYMBOL(?:_GPL)?\s*\(\s*\w+\s*\)\s*;")
_STATIC = re.compile(r"^static\b[\w \t\n*]*?\b(tcp_\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|else|elif|endif)\b.*", re.MULTILINE)
_IN_FLIGHT = re.compile(r"\bin_?flight\b")
_TX_START = re.compile(r"\bCA_EVENT_TX_START\b")
#: What the compat header offers, and on which condition.
_OFFER = re.compile(r"\b(LACKS|USES)_(\w+)|\bCALLS_(\w+)_(\d)\b")
#: Older spellings, and functions of the compat header for them.
_TIME_STAMP = (re.compile(r"(?<![.>\w])tcp_time_stamp\b(?!\s*\()"), "old_tcp_time_stamp()")
_KTIME = (re.compile(r"\.tv64\b"), "")
_EXPRESSION = r"((?:\w+(?:->|\.))*\w+)"
_SKB_MSTAMP = (
    (re.compile(r"\bstruct\s+skb_mstamp\b(?!\s*\{)"), "u64"),
    (re.compile(rf"{_EXPRESSION}\.stamp_jiffies\b"), r"old_stamp_jiffies(\1)"),
    (re.compile(rf"{_EXPRESSION}\.stamp_us\b"), r"((u32)\1)"),
    (re.compile(r"\.v64\b"), ""),
)
#: Numbers of parameters that functions of members had before.
_OLD_PARAMETERS = {"cong_control": 2, "pkts_acked": 3, "cong_avoid": 4, "get_info": 3}


#: Members of the ops that have another name and type now.
_RENAMED = {"tso_segs_goal": "min_tso_segs", "tso_segs": "min_tso_segs"}


@dataclass(frozen=True)
class Ops:
    """A ``struct tcp_congestion_ops``: where its line and its initialiser begin and end.

    ``name``: the name that it registers, empty if it is no text.
    """

    line: int
    begin: int
    end: int
    name: str


class Source:
    """The text of a C source. ``code`` is as long and has blanks in place of comments."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = masked(text)

    @cached_property
    def ops(self) -> list[Ops]:
        """The ops that it defines, in their order."""
        return [self._ops(match) for match in _OPS.finditer(self.code)]

    def _ops(self, match: re.Match[str]) -> Ops:
        begin, depth = match.end(), 1
        end = begin
        while depth and end < len(self.code):
            depth += {"{": 1, "}": -1}.get(self.code[end], 0)
            end += 1
        name = _NAME.search(self.code, begin, end)
        line = self.code.rfind("\n", 0, match.start()) + 1
        return Ops(line, begin, end - 1, self._string(name["value"]) if name else "")

    def _string(self, value: str) -> str:
        if value.startswith('"'):
            return value.strip('"')
        macro = rf"^[ \t]*#[ \t]*define[ \t]+{value}[ \t]+\"([^\"\n]*)\""
        defined = re.search(macro, self.code, re.MULTILINE)
        return defined[1] if defined else ""

    @property
    def includes(self) -> list[tuple[str, bool]]:
        """The files that it includes, each with whether it stands in quotes."""
        return [(quoted or plain, bool(quoted)) for quoted, plain in _INCLUDE.findall(self.code)]

    def parameters(self, function: str) -> list[str]:
        """The parameters of a function that it defines; empty if none is found."""
        found = re.search(rf"\b{function}\s*\(([^;{{}}()]*)\)\s*\{{", self.code)
        return [part.strip() for part in found[1].split(",")] if found else []

    def names(self, word: str) -> bool:
        """Whether a word stands in it that it does not define."""
        return bool(re.search(rf"\b{word}\b", self.code)) and not re.search(
            rf"^[ \t]*#[ \t]*define[ \t]+{word}\b|^\w[\w \t*]*\b{word}[ \t]*\([^;{{]*\)\s*\{{",
            self.code,
            re.MULTILINE,
        )

    def calls(self, function: str, count: int) -> bool:
        """Whether it calls a function with so many arguments."""
        return any(
            _arguments(self.code, match.end()) == count
            for match in re.finditer(rf"\b{function}\s*\(", self.code)
        )


def _arguments(code: str, begin: int) -> int:
    """Count the arguments of a call that begins there, behind its parenthesis."""
    depth, commas = 1, 0
    for letter in code[begin:]:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        commas += letter == "," and depth == 1
        if not depth:
            break
    return commas + 1


def compat_options(source: Source, compat: str, headers: str) -> set[str]:
    """Return the macros by which the compat header offers what a source uses.

    ``compat``: the text of that header. ``headers``: those of the kernel. The member
    ``cwnd_event_tx_start`` counts as used.
    """
    options = set[str]()
    for when, name, function, count in _OFFER.findall(compat):
        if function:
            used = source.calls(function, int(count))
        else:
            used = source.names(name) or name == "cwnd_event_tx_start"
        if used and (when != "LACKS" or not re.search(rf"\b{name}\b", headers)):
            options.add(f"{when}_{name}" if when else f"CALLS_{function}_{count}")
    return options


@dataclass(frozen=True)
class _Edit:
    begin: int
    end: int
    text: str
    #: Whether the text stands on lines of its own.
    lines: bool = False


def adapted(source: Source, file: str, name: str, missing: Collection[str], headers: str) -> str:
    """Return the text of a source as it is built.

    ``file``: its name. ``name``: the name of the first ops, empty if it stays. ``missing``: headers
    that it includes in quotes and that are nowhere; they are left out. ``headers``: the kernel's.
    """
    taken = _taken(source, headers)
    source = _renamed(source, taken)
    edits = [
        *_spellings(source),
        *_exports(source),
        *_missing(source, missing),
        *_taken_lines(source, taken),
    ]
    for number, ops in enumerate(source.ops):
        edits += _ops_edits(source, ops, name if number == 0 else "")
    return _applied(source.text, edits, file)


def with_pr_fmt(text: str, file: str) -> str:
    """Return a source whose pr_fmt stands behind headers that the compat header includes."""
    edits = [
        _Edit(found.start(), found.start(), "#undef pr_fmt", lines=True)
        for found in _PR_FMT.finditer(masked(text))
    ]
    return _applied(text, edits, file)


def _applied(text: str, edits: Sequence[_Edit], file: str) -> str:
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.begin, edit.end)):
        pieces.append(text[at : edit.begin])
        if edit.lines:
            line = text.count("\n", 0, edit.begin) + 1
            pieces.append(f'{edit.text}\n#line {line} "{file}"\n')
        else:
            pieces.append(edit.text)
        at = edit.end
    return "".join([*pieces, text[at:]])


def _spellings(source: Source) -> Iterator[_Edit]:
    rules = [_TIME_STAMP, _KTIME]
    if "skb_mstamp" in source.code:
        rules += _SKB_MSTAMP
    for pattern, by in rules:
        for found in pattern.finditer(source.code):
            yield _Edit(found.start(), found.end(), found.expand(by))


def _exports(source: Source) -> Iterator[_Edit]:
    """Other modules use nothing of this one, and Linux may export the same name."""
    for found in _EXPORT.finditer(source.code):
        yield _Edit(found.start(), found.end(), re.sub(r"[^\n]", " ", found[0]))


def _missing(source: Source, missing: Collection[str]) -> Iterator[_Edit]:
    for found in _INCLUDE.finditer(source.code):
        if found[1] in missing:
            line = f'CHANGED_FILE("{found[1]} is not beside the module: it is taken for empty");'
            yield _Edit(found.start(), found.end(), line)


def _taken(source: Source, headers: str) -> list[str]:
    """Return the module's own functions whose names functions of Linux have too."""
    names = dict.fromkeys(_STATIC.findall(source.code))
    return [name for name in names if re.search(rf"\b{name}\(", headers)]


def _renamed(source: Source, names: Sequence[str]) -> Source:
    """Return a source whose functions of these names begin with ``own_``."""
    if not names:
        return source
    code = source.code
    edits = [
        _Edit(found.start(), found.start(), "own_")
        for found in re.finditer(rf"\b(?:{'|'.join(names)})\b", code)
        if not code[code.rfind("\n", 0, found.start()) + 1 :].lstrip(" \t").startswith("#")
    ]
    return Source(_applied(source.text, edits, ""))


def _taken_lines(source: Source, names: Sequence[str]) -> Iterator[_Edit]:
    last = max((found.end() for found in _INCLUDE.finditer(source.code)), default=0)
    for name in names:
        line = f'CHANGED_FILE("Linux has a {name} now: that of the module is own_{name}");'
        yield _Edit(last, last, f"\n{line}", lines=True)


def _ops_edits(source: Source, ops: Ops, name: str) -> Iterator[_Edit]:
    if name and ops.name and ops.name != name:
        found = _NAME.search(source.code, ops.begin, ops.end)
        assert found
        yield _Edit(found.start("value"), found.end("value"), f'"{name}"')
        line = f'CHANGED_FILE("its name {ops.name} is {name} here");'
        yield _Edit(ops.line, ops.line, line, lines=True)
    fits: list[tuple[int, str]] = []
    first = ""
    members = {
        found["member"]: found for found in _MEMBER.finditer(source.code, ops.begin, ops.end)
    }
    for found in _MEMBER.finditer(source.code, ops.begin, ops.end):
        member, function = found["member"], found["value"]
        if fit := _fit(source, member, function):
            fits.append((found.start(), f"{fit}({function})"))
            old = fit.removeprefix("FIT_")
            chosen = (
                f"__builtin_choose_expr(IS_OLD_{old}({function}), {old}_{function}, {function})"
            )
            target = _RENAMED.get(member, member)
            yield _Edit(found.start(), found.end(), f".{target} = {chosen}")
        if (
            member == "cwnd_event"
            and "cwnd_event_tx_start" not in members
            and _TX_START.search(source.code)
        ):
            fits.append((found.start(), f"FIT_cwnd_event_tx_start({function})"))
            yield _Edit(found.start(), found.start(), f"AND_cwnd_event_tx_start({function}) ")
    for found in _MIN_CWND.finditer(source.code, ops.begin, ops.end):
        yield _Edit(found.start(), found.end(), "")
        fits.append((found.start(), 'CHANGED_FILE("min_cwnd is gone since Linux 3.16");'))
    if "ssthresh" in members and "undo_cwnd" not in members:
        first = " .undo_cwnd = tcp_reno_undo_cwnd,"
        line = "undo_cwnd is required since Linux 4.15: it is that of Reno"
        fits.append((ops.begin, f'CHANGED_FILE("{line}");'))
    if first:
        yield _Edit(ops.begin, ops.begin, first)
    if fits:
        yield _Edit(ops.line, ops.line, _before_ops(source, ops, fits), lines=True)


def _fit(source: Source, member: str, function: str) -> str:
    """Return the macro of the compat header that makes a function fit a member; empty for none.

    A function whose parameters are not seen, or between conditions, may be of either type.
    """
    if function == "NULL":
        return ""
    if member in _RENAMED:
        return f"FIT_{member}"
    old = _OLD_PARAMETERS.get(member)
    parameters = source.parameters(function)
    if old is None or (not parameters and function.startswith("tcp_reno_")):
        return ""
    if member == "cong_avoid" and len(parameters) == 3:
        return "FIT_cong_avoid_in_flight" if _IN_FLIGHT.search(parameters[2]) else ""
    if parameters and len(parameters) != old and not any("#" in part for part in parameters):
        return ""
    return f"FIT_{member}"


def _before_ops(source: Source, ops: Ops, fits: Sequence[tuple[int, str]]) -> str:
    """Return the lines before the ops, between the same conditions as the ops' members."""
    conditions = [
        (found.start(), found[0].strip())
        for found in _DIRECTIVE.finditer(source.code, ops.begin, ops.end)
    ]
    lines = []
    for _at, line in sorted([*conditions, *fits]):
        if line.startswith("FIT_"):
            guard = re.sub(r"\W+", "_", line).strip("_")
            line = f"#ifndef {guard}\n#define {guard}\n{line}\n#endif"
        lines.append(line)
    return "\n".join(lines)
