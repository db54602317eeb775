"""Verdicts, and the reports of them."""

from __future__ import annotations

import json
import math

import pytest

from farpath.uses.conformance import report
from farpath.uses.conformance.runner import Conformance
from farpath.uses.conformance.scenarios import scenarios_of
from farpath.uses.conformance.trace_parts import Measured
from farpath.uses.conformance.verdict import State, Verdict, failed, judge, of_draws


def _verdicts(values: dict[str, Measured]) -> list[Verdict]:
    (timeout,) = scenarios_of("reno", ["timeout"])
    return [
        judge(timeout, statement, values[statement.name])
        for statement in timeout.statements
        if statement.name in values
    ]


@pytest.fixture
def conformance() -> Conformance:
    """A statement in each state."""
    verdicts = _verdicts(
        {
            "loss-window": Measured(1),
            "half-of-flight": Measured(1.0),
            "backoff": Measured(1.5),
            "least-timeout": Measured(math.nan, why="there was no <timeout>"),
        }
    )
    (start,) = scenarios_of("reno", ["start-each-ack"])
    return Conformance("reno", "Linux 7", (*verdicts, *failed(start, "it hung")), {})


def test_a_difference_that_is_known_is_told_from_one_that_is_not(conformance: Conformance) -> None:
    states = {verdict.statement.name: verdict.state for verdict in conformance.verdicts}
    assert states == {
        "loss-window": State.CONFORMS, "half-of-flight": State.KNOWN, "backoff": State.DIFFERS,
        "least-timeout": State.UNDECIDED, "doubling": State.FAILED,
    }  # fmt: skip


def _of_backoffs(values: list[float]) -> Verdict:
    return of_draws([_verdicts({"backoff": Measured(value)})[0] for value in values])


def test_the_verdict_is_on_the_draw_in_the_middle_and_the_range_stands_beside_it() -> None:
    verdict = _of_backoffs([1.0, 2.0, 3.0, 1.99, 2.01])
    assert (verdict.state, verdict.value) == (State.CONFORMS, 2.0)
    text = report.text(Conformance("reno", "Linux 7", (verdict,), {}, 5, ("One draw: so.",)))
    assert "2 (1-3)" in text
    assert "median (and range) of 5 draws" in text
    assert "One draw: so." in text
    assert _of_backoffs([1.0, 1.0, 1.0, 2.0, 2.0]).state == State.DIFFERS


def test_what_most_draws_could_not_decide_is_not_decided() -> None:
    assert _of_backoffs([2.0, math.nan, math.nan]).state == State.UNDECIDED
    assert _of_backoffs([2.0, 2.0, math.nan]).state == State.CONFORMS
    (start,) = scenarios_of("reno", ["start-each-ack"])
    (hung,) = failed(start, "it hung")
    assert of_draws([hung]) == hung


def test_the_text_has_measured_beside_stated_and_says_why(conformance: Conformance) -> None:
    text = report.text(conformance)
    (row,) = [line for line in text.splitlines() if "timeout/backoff" in line]
    assert row.split()[-7:-1] == ["1.5", "2", "±", "0.02", "-25.0", "%"]
    assert "timeout/half-of-flight: differs, known: Linux halves cwnd" in text
    assert text.endswith("1 conforms; 1 differs, known; 1 not decided; 1 differs; 1 failed")


def test_json_has_no_nan_and_markdown_the_same_rows(conformance: Conformance) -> None:
    statements = json.loads(report.as_json(conformance), parse_constant=pytest.fail)["statements"]
    assert [each["measured"] for each in statements] == [1, 1, 1.5, None, None]
    assert statements[2]["says"].startswith("The timeout doubles")
    markdown = report.markdown(conformance, {"timeout": "timeout.svg"})
    assert "| timeout/backoff |" in markdown
    assert "![timeout](timeout.svg)" in markdown


def test_the_page_has_the_statements_the_figure_and_the_command(conformance: Conformance) -> None:
    page = report.html(conformance, {"timeout": "<svg></svg>"})
    assert "The timeout doubles each time that it expires." in page
    assert "<svg></svg>" in page
    assert "there was no &lt;timeout&gt;" in page
    assert "farpath run --rtt=100ms" in page
