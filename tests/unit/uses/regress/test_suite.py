"""The suite: its runs, and how they are chosen."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError
from farpath.uses.regress.suite import SUITE, suite, trials


def test_every_case_is_a_run_that_farpath_can_plan() -> None:
    suite = trials()
    assert len({trial.name for trial in suite}) == len(suite)
    for trial in suite:
        plan = trial.plan()
        assert {stack.name for stack in plan.stacks} <= {trial.stack, "reno", "udp"}


def test_every_kind_of_behaviour_has_a_case() -> None:
    names = {case.name for case in suite().cases}
    assert names >= {
        "slow-start", "one-loss", "loss-response", "convergence", "seven-regions", "rtt-bias",
        "mtu-bias", "burst", "reordering", "beside-reno", "initial-window", "fast-retransmit",
        "sack", "newreno", "timeout", "prr",
    }  # fmt: skip
    assert {"fast", "hstcp_lp", "udt"} <= set(suite().stacks)


@pytest.mark.parametrize(
    ("valid", "wrong", "complaint"),
    [
        ('title = "Slow', 'titel = "Slow', "cases.0.title: field required"),
        ('extra_metrics = ["overshoot"]', 'extra_metrics = ["undershoot"]', "no extra metric"),
        ('extra_metrics = ["overshoot"]', 'extra_metric = ["overshoot"]', "cases.0.extra_metric: "),
        ('region = "8s"}', "region = 8}", "cases.0.options.region: input should be a valid string"),
    ],
)
def test_a_wrong_suite_is_refused_with_its_file_and_field(
    tmp_path: FilePath, valid: str, wrong: str, complaint: str
) -> None:
    (tmp_path / "suite.toml").write_text(SUITE.read_text().replace(valid, wrong, 1))
    with pytest.raises(BadInputError, match=complaint) as caught:
        suite(tmp_path / "suite.toml")
    assert caught.value.message.startswith(f"{tmp_path / 'suite.toml'}: ")


def test_another_seed_is_of_a_round_trip_that_is_off_by_a_thousandth_at_most() -> None:
    (trial,) = trials(["htcp"], ["one-loss"])
    first, second = trial.plan(1), trial.plan(2)
    assert second.seed == 2
    paths = [
        dataclasses.replace(plan.path, rtt_ms=first.path.rtt_ms, title="", sources={})
        for plan in (first, second)
    ]
    assert paths[0] == paths[1]
    assert dataclasses.replace(second, seed=1, path=first.path) == first
    assert 0 < abs(second.path.rtt_ms / first.path.rtt_ms - 1) <= 1e-3
    assert trial.plan(2).path == second.path


def test_trials_are_chosen_by_stack_and_by_pattern() -> None:
    assert [trial.name for trial in trials(["htcp"], ["one-loss", "htcp/s*"])] == [
        "htcp/slow-start",
        "htcp/one-loss",
        "htcp/seven-regions",
    ]
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
