"""JUnit XML of several runs."""

from __future__ import annotations

from xml.etree import ElementTree

from farpath.report.junit import JunitCase, junit_xml


def test_suites_count_their_failures_and_errors_and_any_output_is_valid_xml() -> None:
    cases = [
        JunitCase("curl", "rtt=50ms", 1.25, text="page\n"),
        JunitCase(
            "curl", "rtt=200ms", 2.5, "failure", "fail: status 28", "<\x1b[31mlate\x00\ufffe"
        ),
        JunitCase("nc", "rtt=50ms", 0.0, "error", "no lab", "console"),
    ]
    root = ElementTree.fromstring(junit_xml("farpath exec", cases))
    suites = [
        tuple(suite.attrib[key] for key in ("name", "tests", "failures", "errors", "time"))
        for suite in root
    ]
    assert suites == [("curl", "2", "1", "0", "3.750"), ("nc", "1", "0", "1", "0.000")]
    (failure,) = root.iter("failure")
    assert failure.attrib["message"] == "fail: status 28"
    assert failure.text == r"<\x1b[31mlate\x00\ufffe"
    assert [element.text for element in root.iter("system-out")] == ["page\n"]
