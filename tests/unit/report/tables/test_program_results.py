"""The results of a preset's programs as a table and as JUnit XML."""

from __future__ import annotations

from farpath.metrics.finding import Bound, Finding
from farpath.record.program_record import Ending
from farpath.report.tables.program_results import ended_case
from farpath.runs.program_runs import ProgramResult

KEPT = Finding("load_s", "page load (s)", 1.5, 2, "HTTP/2", Bound(1.0, True, "RTT"))
BROKEN = Finding("load_s", "page load (s)", 0.5, 2, "HTTP/3", Bound(1.0, True, "RTT"))


def test_a_violated_bound_fails_the_case_of_a_client_that_succeeded() -> None:
    case = ended_case("web", "rtt=1s", ProgramResult(Ending(0, 2.0), "raw", "", (KEPT, BROKEN)))
    assert (case.problem, case.time_s) == ("failure", 2.0)
    assert case.message == "fail: 1 of 2 bounds violated: page load (s) of HTTP/3"
    assert case.text.splitlines() == [
        "page load (s) of HTTP/2: 1.50, bound ≥ 1.00, holds",
        "page load (s) of HTTP/3: 0.50, bound ≥ 1.00, violated",
    ]


def test_bounds_that_are_kept_pass_the_case_and_a_failed_client_says_its_own_words() -> None:
    kept = ended_case("web", "", ProgramResult(Ending(0, 2.0), "raw", "", (KEPT,)))
    assert (kept.problem, kept.message) == (None, "pass")
    failed = ended_case("web", "", ProgramResult(Ending(3, 2.0), "raw", "words"))
    assert (failed.message, failed.text) == ("fail: status 3", "rawwords")
