"""Reports as text, Markdown, JSON and JUnit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path as FilePath
from xml.etree import ElementTree

import pytest

from farpath.uses.regress import report
from farpath.uses.regress.html import render_page
from farpath.uses.regress.suite import trials
from farpath.uses.regress.verdict import CaseState
from tests.support.baselines import compared, divided


def test_reports_say_of_every_run_what_became_of_it() -> None:
    ended = report.text(compared())
    assert "throughput_mbps" in ended
    assert "90" in ended
    assert "-44 %" in ended
    assert "reno/burst: the guest panicked <&>" in ended
    assert "1 identical, 1 within bounds, 1 not in the baseline, 1 changed, 1 failed" in ended
    markdown = report.markdown(compared())
    assert "| cubic/one-loss | throughput\\_mbps | 90 | 50 | -44 % | 85 to 95 |" in markdown
    data = json.loads(report.as_json(compared()))
    states = {run["run"]: run["state"] for run in data["runs"]}
    assert states["cubic/one-loss"] == "changed"
    assert data["counts"]["failed"] == 1


def test_junit_has_a_failure_for_what_changed_and_an_error_for_what_did_not_run() -> None:
    root = ElementTree.fromstring(report.junit(compared()))
    suites = {each.get("name"): each for each in root.findall("testsuite")}
    assert set(suites) == {"htcp", "cubic", "reno"}
    cubic, reno = suites["cubic"], suites["reno"]
    assert (cubic.get("tests"), cubic.get("failures"), cubic.get("errors")) == ("2", "2", "0")
    failure = cubic.find("testcase[@name='one-loss']/failure")
    assert failure is not None
    assert failure.text == "throughput_mbps: 90 -> 50 (-44 %), bounds 85 to 95"
    error = reno.find("testcase/error")
    assert error is not None
    assert error.text == "the guest panicked <&>"
    assert suites["htcp"].find("testcase/failure") is None


@pytest.mark.parametrize(
    ("sender", "receiver", "origin"),
    [
        (CaseState.CHANGED, CaseState.IDENTICAL, "the sender"),
        (CaseState.WITHIN, CaseState.CHANGED, "the receiver"),
        (CaseState.CHANGED, CaseState.CHANGED, "either end alone"),
        (CaseState.WITHIN, CaseState.WITHIN, "both ends together"),
        (CaseState.CHANGED, CaseState.FAILED, "unknown, a run failed"),
    ],
)
def test_of_what_changed_every_report_says_which_end_it_comes_from(
    sender: CaseState, receiver: CaseState, origin: str
) -> None:
    comparison = divided(sender, receiver)
    assert origin in report.text(comparison)
    assert f"| {origin} |" in report.markdown(comparison)
    (run,) = json.loads(report.as_json(comparison))["runs"]
    assert run["sides"] == {"sender": str(sender), "receiver": str(receiver)}
    assert run["origin"] == origin
    assert f"the change comes from: {origin}" in report.junit(comparison)
    assert f"The change comes from: {origin}." in render_page(comparison, trials(["cubic"]))


def test_where_no_end_was_asked_no_report_speaks_of_one() -> None:
    assert "comes from" not in report.text(compared()) + report.junit(compared())


def test_of_each_changed_run_every_report_has_the_command_that_finds_the_first_other_packet() -> (
    None
):
    before, after = FilePath("records/before"), FilePath("records/after it")
    both = "farpath diff records/before 'records/after it'"
    alone = "farpath diff 'records/after it' --kernel=linux-source-7.2"
    for records, kernel, command in (
        ((before, after), "", both),
        ((None, after), "linux-source-7.2", alone),
        # The baseline's kernel is the run's own, so that no other one tells them apart
        ((None, after), "", ""),
    ):
        comparison = replace(compared(), records={"cubic/one-loss": records}, kernel=kernel)
        runs = {run["run"]: run["diff"] for run in report.as_dict(comparison)["runs"]}
        assert runs.pop("cubic/one-loss") == command
        assert set(runs.values()) == {""}
        for said in (report.text(comparison), report.markdown(comparison)):
            line = f"cubic/one-loss, the first packet that differs: {command}"
            assert (line in said) == bool(command)
        assert ("the first packet that differs" in report.junit(comparison)) == bool(command)
