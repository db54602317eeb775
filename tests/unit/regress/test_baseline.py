"""Regress: bounds, verdicts, baselines as files, the suite's runs, and reports."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path as FilePath
from types import SimpleNamespace
from xml.etree import ElementTree

import pandas
import pytest

from farpath.analysis import flow_metrics
from farpath.base.errors import BadInputError
from farpath.lab.artifacts.kernels import kernel_environment, processor_level
from farpath.regress import metrics, report
from farpath.regress.baseline import (
    Baseline,
    BaselineRun,
    Interval,
    as_toml,
    baseline_run,
    changes,
    file_for,
    interval,
    merged,
    nearest,
    read_baseline,
    write_baseline,
)
from farpath.regress.compare import Comparison
from farpath.regress.html import render_page
from farpath.regress.suite import suite, trials
from farpath.regress.verdict import CaseState, CaseVerdict, judge, worst
from tests.support.campaigns import write_named
from tests.support.command_line import Farpath

KNOWN = BaselineRun(
    "aa", {"throughput_mbps": Interval(90.0, 85.0, 95.0), "retransmits": Interval(3, 3, 3)}
)
V3 = "flags\t\t: fpu ssse3 sse4_1 sse4_2 popcnt avx2 bmi1 bmi2 fma movbe"


def test_bounds_are_where_one_more_seed_is_expected() -> None:
    # Student's t with 3 degrees of freedom is below 12.92 in 999 of 1000 cases
    found = interval([10.0, 11.0, 12.0, 13.0])
    half = 12.924 * 1.29099 * (1 + 1 / 4) ** 0.5
    assert found.value == 10
    assert found.high == pytest.approx(11.5 + half, rel=1e-3)
    assert found.low == 0


def test_what_no_seed_changes_has_bounds_of_no_width() -> None:
    found = interval([7.0, 7.0, 7.0])
    assert (found.low, found.high) == (7, 7)
    assert found.holds(7)
    assert not found.holds(7.00001)


def test_a_metric_that_some_seeds_have_not_may_come_and_go() -> None:
    by_seed = [{"a": 1.0, "c": 1.0}, {"a": 2.0, "b": 3.0, "c": 1.0}, {"b": 3.5, "c": 1.0}]
    found = baseline_run("aa", by_seed)
    assert found.bounds["b"].value is None
    for name, value in (("a", 1.5), ("b", 3.2), ("c", 1.0)):
        assert found.bounds[name].holds(value)
        assert not found.bounds[name].holds(1e9)
    assert [found.bounds[name].holds(None) for name in "abc"] == [True, True, False]


def test_one_seed_of_several_says_nothing_of_how_far_others_are_from_it() -> None:
    found = interval([None, None, 4.0])
    assert (found.value, found.low, found.optional) == (None, 0, True)
    assert found.holds(1e6)
    assert found.holds(None)


def test_an_equal_fingerprint_is_identical_whatever_else_there_is() -> None:
    assert judge("x/y", KNOWN, "aa", {"throughput_mbps": 1.0}).state == CaseState.IDENTICAL


def test_another_fingerprint_is_judged_by_the_bounds_of_each_metric() -> None:
    within = judge("x/y", KNOWN, "bb", {"throughput_mbps": 86.0, "retransmits": 3})
    assert (within.state, within.differences) == (CaseState.WITHIN, ())
    changed = judge("x/y", KNOWN, "bb", {"throughput_mbps": 84.0, "retransmits": 3})
    assert changed.state == CaseState.CHANGED
    (difference,) = changed.differences
    assert str(difference) == "throughput_mbps: 90 -> 84 (-6.7 %), bounds 85 to 95"


def test_a_metric_that_comes_or_goes_is_a_change() -> None:
    found = judge("x/y", KNOWN, "bb", {"throughput_mbps": 90.0, "recovery_s": 2.0})
    assert [str(each) for each in found.differences] == [
        "retransmits: 3 -> none, bounds 3 to 3",
        "recovery_s: none -> 2, bounds none",
    ]


def test_a_run_that_no_baseline_has_is_new_and_not_fine() -> None:
    assert judge("x/y", None, "aa", {}).state == CaseState.NEW
    assert worst([judge("x/y", KNOWN, "aa", {}), judge("x/z", None, "aa", {})]) == CaseState.NEW


def a_baseline(**runs: BaselineRun) -> Baseline:
    """Runs of the stack htcp, by case."""
    made = {"release": "7.2.12-farpath", "processor_level": 3}
    return Baseline("b", made, {f"htcp/{case}": run for case, run in runs.items()})


def test_a_baseline_is_read_as_it_was_written(tmp_path: FilePath) -> None:
    parameters = Baseline("b", {"release": "7.2"}, {"htcp:rtt_scaling=0/one-loss": KNOWN})
    rare = {"share_s": Interval(None, 8, 14, optional=True), "halve_s": interval([None, 2.0])}
    optional = a_baseline(
        convergence=BaselineRun("cc", {**rare, "a": Interval(1, 1, 2, optional=True)})
    )
    for each in (a_baseline(burst=KNOWN, sack=KNOWN), parameters, optional):
        write_baseline(each, tmp_path / "b.toml")
        assert read_baseline(tmp_path / "b.toml") == each


def test_a_changed_metric_changes_one_line_of_a_baseline() -> None:
    bounds = {**KNOWN.bounds, "retransmits": Interval(4, 4, 4)}
    before = as_toml(a_baseline(burst=KNOWN)).splitlines()
    after = as_toml(a_baseline(burst=BaselineRun("aa", bounds))).splitlines()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


@pytest.mark.parametrize("text", ["", "x", "format_version = 1", "[runs.a.b]\nx = 1"])
def test_what_is_no_baseline_is_named(tmp_path: FilePath, text: str) -> None:
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(BadInputError, match=r"b\.toml: is (no baseline|not TOML)"):
        read_baseline(tmp_path / "b.toml")


def test_a_baseline_of_another_version_or_none_is_refused(tmp_path: FilePath) -> None:
    (tmp_path / "b.toml").write_text("format_version = 2\n[made]\n")
    with pytest.raises(BadInputError, match="version 2"):
        read_baseline(tmp_path / "b.toml")
    with pytest.raises(BadInputError, match="cannot be read"):
        read_baseline(tmp_path / "none.toml")


def test_a_kernel_is_held_against_the_nearest_release_of_its_series(tmp_path: FilePath) -> None:
    for name in ("7.2.12-x86-64-v3", "7.2.12-x86-64-v4", "7.2.9-x86-64-v4", "7.3.1-x86-64-v3"):
        (tmp_path / f"linux-{name}.toml").touch()
    (tmp_path / "linux-mine.toml").touch()

    def found(release: str, level: int) -> str | None:
        place = nearest(release, level, tmp_path)
        return place and place.stem

    assert found("7.2.12-farpath", 4) == "linux-7.2.12-x86-64-v4"
    assert found("7.2.12-farpath", 2) == "linux-7.2.12-x86-64-v3"
    assert found("7.2.8-farpath", 3) == "linux-7.2.9-x86-64-v4"
    assert found("7.3.0-rc2-farpath", 3) == "linux-7.3.1-x86-64-v3"
    assert found("7.4.0-farpath", 3) is None
    assert file_for("7.2.12-farpath", 3, tmp_path).stem == "linux-7.2.12-x86-64-v3"
    with pytest.raises(BadInputError, match="no release"):
        file_for("mine", 3)


def test_an_update_says_what_it_changes_and_keeps_the_runs_it_did_not_make() -> None:
    old = a_baseline(burst=KNOWN, sack=KNOWN)
    bounds = {**KNOWN.bounds, "retransmits": Interval(4, 4, 5)}
    new = a_baseline(burst=BaselineRun("bb", bounds), prr=KNOWN)
    assert changes(old, new, new.runs) == [
        "~ htcp/burst: another fingerprint",
        "~ htcp/burst: retransmits 3 (3 to 3) -> 4 (4 to 5)",
        "+ htcp/prr: new, 2 metrics",
    ]
    assert set(merged(old, new).runs) == {"htcp/burst", "htcp/sack", "htcp/prr"}


@pytest.mark.parametrize(
    ("flags", "level"),
    [("", 1), ("flags: fpu sse2", 1), (V3, 3), (V3.replace(" fma", ""), 2),
     (f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl", 4)],
)  # fmt: skip
def test_a_processors_level_is_the_highest_of_which_it_has_all(flags: str, level: int) -> None:
    assert processor_level(flags) == level


def test_a_kernel_is_a_series_of_debians_or_a_tree(tmp_path: FilePath) -> None:
    assert kernel_environment("linux-source-7.3") == {"KERNEL_VERSION": "7.3"}
    assert kernel_environment(str(tmp_path)) == {"KERNEL_SRC": str(tmp_path)}
    for text in ("7.3", "linux-source-7", "linux-source-7.3.1", str(tmp_path / "none"), ""):
        with pytest.raises(BadInputError, match=r"linux-source-7\.3, or the directory"):
            kernel_environment(text)


def test_every_case_is_a_run_that_farpath_can_plan() -> None:
    found = trials()
    assert len({trial.name for trial in found}) == len(found)
    for trial in found:
        plan = trial.plan()
        assert {stack.name for stack in plan.stacks} <= {trial.stack, "reno"}


def test_every_kind_of_behaviour_has_a_case() -> None:
    names = {case.name for case in suite().cases}
    assert names >= {
        "slow-start", "one-loss", "loss-response", "convergence", "seven-regions", "rtt-bias",
        "mtu-bias", "burst", "reordering", "beside-reno", "initial-window", "fast-retransmit",
        "sack", "newreno", "timeout", "prr",
    }  # fmt: skip
    assert {"fast", "hstcp_lp", "udt"} <= set(suite().stacks)


def test_another_seed_is_of_a_round_trip_that_is_off_by_a_thousandth_at_most() -> None:
    (trial,) = trials(["htcp"], ["one-loss"])
    first, second = trial.plan(1), trial.plan(2)
    assert second.seed == 2
    same = {"rtt_ms": first.path.rtt_ms, "title": "", "sources": {}}
    paths = [dataclasses.replace(plan.path, **same) for plan in (first, second)]
    assert paths[0] == paths[1]
    assert dataclasses.replace(second, seed=1, path=first.path) == first
    assert 0 < abs(second.path.rtt_ms / first.path.rtt_ms - 1) <= 1e-3
    assert trial.plan(2).path == second.path


def test_trials_are_chosen_by_stack_and_by_pattern() -> None:
    assert [trial.name for trial in trials(["htcp"], ["one-loss", "htcp/s*"])] == [
        "htcp/slow-start", "htcp/one-loss", "htcp/seven-regions",
    ]  # fmt: skip
    assert {trial.stack for trial in trials(only=["beside-reno"])} == set(suite().groups["delay"])


def test_a_stack_that_the_suite_does_not_name_has_the_cases_of_its_kind() -> None:
    cases = {trial.case.name for trial in trials(["illinois"])}
    assert cases == {trial.case.name for trial in trials(["bic"])}
    assert {t.case.name for t in trials(["udt4"])} == {t.case.name for t in trials(["udt"])}


def test_unknown_stacks_and_patterns_that_match_nothing_are_refused() -> None:
    with pytest.raises(BadInputError, match="did you mean htcp"):
        trials(["htpc"])
    with pytest.raises(BadInputError, match="one-loss"):
        trials(["htcp"], ["two-losses"])
    with pytest.raises(BadInputError, match="no run of udt"):
        trials(["udt"], ["prr"])


def compared() -> Comparison:
    """A run of each state."""
    verdicts = (
        judge("htcp/one-loss", KNOWN, "aa", {}),
        judge("htcp/burst", KNOWN, "bb", {"throughput_mbps": 91.0, "retransmits": 3}),
        judge("cubic/one-loss", KNOWN, "cc", {"throughput_mbps": 50.0, "retransmits": 3}),
        judge("cubic/burst", None, "dd", {}),
        CaseVerdict("reno/burst", CaseState.FAILED, why="the guest panicked <&>"),
    )
    return Comparison("before", "after", verdicts, {})


def test_reports_say_of_every_run_what_became_of_it() -> None:
    shown = report.text(compared())
    assert "throughput_mbps" in shown
    assert "90" in shown
    assert "-44 %" in shown
    assert "reno/burst: the guest panicked <&>" in shown
    assert "1 identical, 1 within bounds, 1 not in the baseline, 1 changed, 1 failed" in shown
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


def test_the_page_shows_what_is_not_identical_and_escapes_what_it_says() -> None:
    every = trials(["htcp", "cubic", "reno"], ["one-loss", "burst"])
    page = render_page(compared(), every, ["--head=a tree"])
    assert 'cubic/one-loss <span class="verdict changed">' in page
    assert "htcp/one-loss <span" not in page
    assert "panicked &lt;&amp;&gt;" in page
    assert "farpath regress --stacks=cubic --only=cubic/one-loss &#39;--head=a tree&#39;" in page
    assert "farpath run --rtt=" in page


def test_every_mark_of_the_page_leads_to_what_it_is_about() -> None:
    page = render_page(compared(), trials(["htcp", "cubic", "reno"], ["one-loss", "burst"]))
    assert (
        '<a class="verdict changed" href="#run-cubic-one-loss" title="changed">CHANGED</a>' in page
    )
    linked = set(re.findall(r'href="#(run-[^"]+)"', page))
    assert linked == set(re.findall(r'<h2 id="(run-[^"]+)"', page))
    assert len(linked) == 4


def test_why_a_baseline_is_not_drawn_is_said(tmp_path: FilePath) -> None:
    one = dataclasses.replace(
        compared(), verdicts=compared().verdicts[2:3],
        records={"cubic/one-loss": (None, write_named(tmp_path, "cern", "cubic", 1).directory)},
    )  # fmt: skip
    page = render_page(one, trials(["cubic"], ["one-loss"]))
    assert "a baseline holds figures and bounds, and no samples" in page
    assert "windows of the run after" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--stacks=htpc",), "did you mean htcp"),
        (("--jobs=0",), "--jobs is 0"),
        (("--seeds=0",), "--seeds is 0"),
        (("--seeds=1", "--update"), "bounds need 2"),
        (("--base=linux-source-7.2", "--update"), "leave out"),
        (("--baseline=none.toml",), "none.toml: cannot be read"),
        (("--head=none",), "linux-source-7.3, or the directory"),
    ],
)
def test_bad_requests_are_refused_in_one_line(
    farpath: Farpath, options: tuple[str, ...], said: str
) -> None:
    ended = farpath("regress", *options)
    assert ended.status == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_the_runs_are_listed_without_a_lab(farpath: Farpath) -> None:
    ended = farpath("regress", "--list", "--stacks=udt")
    assert ended.status == 0
    assert "udt/slow-start" in ended.out


def test_a_recovery_over_ipv6_is_to_the_window_that_ipv6s_packets_fill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (trial,) = trials(("reno",), ("one-loss",))
    plan = trial.plan(1)
    lost_s = plan.droppers[0].numbers[-1]
    times_s = [0.1 * tick for tick in range(1, 10 * round(lost_s) + 1000)]
    # More than the receiver offers, but for the time after the loss
    windows = [1e7 if t_s <= lost_s else 10 * (t_s - lost_s) for t_s in times_s]
    frame = pandas.DataFrame({"t_s": times_s, "window": windows})
    monkeypatch.setattr(metrics, "windows_of", lambda _record: frame)
    kept = {
        version: metrics.recovery(
            SimpleNamespace(plan=dataclasses.replace(plan, ip_version=version))
        )["kept_part"]
        for version in (4, 6)
    }
    payload = {version: flow_metrics.payload_bytes(plan.path, version) for version in (4, 6)}
    assert payload[4] != payload[6]
    assert kept[6] / kept[4] == pytest.approx(payload[6] / payload[4])
