"""JUnit XML: results of several runs as services of continuous integration read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from farpath.base.errors import on_one_line

#: Problems of a case: a failure of the tested program, or an error of the test itself.
Problem = Literal["failure", "error"]


@dataclass(frozen=True)
class JunitCase:
    """A test case of a suite, with its time in seconds.

    ``problem``: None of a case that passed, and ``message`` its line. ``text``: the output, or
    the problem in several lines.
    """

    suite: str
    name: str
    time_s: float
    problem: Problem | None = None
    message: str = ""
    text: str = ""


def junit_xml(name: str, cases: Sequence[JunitCase]) -> str:
    """Return JUnit XML, in the format of the Ant task: suites in the order of their first cases."""
    root = ElementTree.Element("testsuites", name=name)
    for suite in dict.fromkeys(case.suite for case in cases):
        _add_suite(root, suite, [case for case in cases if case.suite == suite])
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _add_suite(root: ElementTree.Element, name: str, cases: Sequence[JunitCase]) -> None:
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=_valid(name),
        tests=str(len(cases)),
        failures=str(sum(case.problem == "failure" for case in cases)),
        errors=str(sum(case.problem == "error" for case in cases)),
        time=f"{sum(case.time_s for case in cases):.3f}",
    )
    for case in cases:
        element = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_valid(f"farpath.{case.suite}"),
            name=_valid(case.name),
            time=f"{case.time_s:.3f}",
        )
        if case.problem:
            said = {"message": _valid(case.message)}
            ElementTree.SubElement(element, case.problem, said).text = _valid(case.text)
        else:
            ElementTree.SubElement(element, "system-out").text = _valid(case.text)


def _valid(text: str) -> str:
    r"""Return a text without the characters that XML 1.0 cannot hold; they are escaped.

    >>> _valid("50 %\n\x1b[0m")
    '50 %\n\\x1b[0m'
    """
    return "\n".join(on_one_line(line) for line in text.replace("\t", " ").split("\n"))
