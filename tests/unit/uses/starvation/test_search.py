"""The search for starvation: its question, its batches, and how it goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import BadInputError, LabFailedError
from farpath.lab.pool import PoolProgress
from farpath.planning.request import RunRequest
from farpath.record.record import RECORD_FILE
from farpath.runs.make import FailedRun, MadeRun, MadeSet, RunEvent
from farpath.runs.run_set import RunSet
from farpath.uses.starvation.question import Starvation, Trial, command_of, plan_starvation, worst
from farpath.uses.starvation.search import (
    MakeBatch,
    Shares,
    WatchRuns,
    check,
    chosen,
    continue_starvation,
    trials_file,
)
from farpath.uses.starvation.table import trials_table, worst_table

OPTIONS = {"rtt": "40ms", "rate": "10Mbit", "jitter": "0..10ms", "buffer": "0.1..8xBDP"}


def plan(
    start: str = "0..3s", batch: int = 4, stacks: Sequence[str] = ("bbr", "cubic"), **options: str
) -> Starvation:
    return plan_starvation({**OPTIONS, **options}, stacks, start, "5s", batch)[0]


def pretend(run_set: RunSet, watch: WatchRuns) -> MadeSet[Shares]:
    """A world in which the first flow starves where jitter is 7 ms; no lab."""
    results = []
    for run in run_set.runs:
        share = min(1.0, abs(float(run.values["jitter"].removesuffix("ms")) - 7) / 10)
        shares = (share, 2 - share)
        value = Shares(shares, (1e6 * share, 1e6 * (2 - share)))
        results.append(MadeRun(run, FilePath("made"), run.name, value))
        watch(RunEvent(run, results[-1], PoolProgress(1, 0, 0, 0, None)))
    return MadeSet(run_set, FilePath(), tuple(results))


def fail(run_set: RunSet, watch: WatchRuns) -> MadeSet[Shares]:
    """A lab that does not come to its end."""
    error = LabFailedError("the guest hangs")
    return MadeSet(run_set, FilePath(), tuple(FailedRun(run, error) for run in run_set.runs))


def search(
    directory: FilePath, count: int, make: MakeBatch = pretend
) -> tuple[tuple[Trial, ...], list[int]]:
    """Continue the search in a directory; return all trials, and the numbers of the new ones."""
    (directory / "made").mkdir(parents=True, exist_ok=True)
    (directory / "made" / RECORD_FILE).touch()
    new: list[int] = []
    asked = plan()
    file = trials_file(asked, "build", directory)
    made = continue_starvation(
        asked, count, file, directory, make, lambda trial, _all: new.append(trial.number)
    )
    return made, sorted(new)


def test_chosen_values_become_the_options_of_a_run() -> None:
    request = plan().request({"jitter": 2.5, "buffer": 0.25, "start": 2})
    assert command_of(request) == (
        "farpath run --rtt=40ms --rate=10Mbit --buffer=0.25xBDP --jitter=2.5ms "
        "--stack=bbr+cubic --schedule=joining:2s --region=5s"
    )
    at_once = plan().request({"jitter": 2.5, "buffer": 0.25, "start": 0})
    assert (at_once.time, at_once.schedule) == ("5s", RunRequest().schedule)


def test_one_stack_meets_itself_and_several_each_other() -> None:
    pairs = [
        [each.pair for each in plan_starvation(OPTIONS, stacks, "0s", "5s", 4)]
        for stacks in (("bbr",), ("reno", "cubic", "bbr"))
    ]
    assert pairs[0] == [("bbr", "bbr")]
    assert pairs[1] == [("reno", "cubic"), ("reno", "bbr"), ("cubic", "bbr")]


@pytest.mark.parametrize(
    ("options", "start", "complaint"),
    [
        ({"jitter": "1ms", "buffer": "1xBDP"}, "2s", "no option has a range"),
        ({"jitter": "9..1ms"}, "0s", "jitter is '9..1ms'"),
        ({"lab": "host"}, "0s", "lab is 'host'"),
        ({"seed": "one"}, "0s", "seed is 'one'"),
        ({}, "0.5..2s", "start is '0.5..2s'"),
    ],
)
def test_what_is_no_search_is_refused(options: dict[str, str], start: str, complaint: str) -> None:
    with pytest.raises(BadInputError, match=complaint):
        plan(start, **options)  # type: ignore[arg-type]


def test_a_stack_that_is_several_flows_is_refused() -> None:
    with pytest.raises(BadInputError, match="stack is '2xreno'"):
        plan(stacks=("2xreno", "bbr"))


def test_the_ends_of_each_range_are_planned_before_anything_runs() -> None:
    corners = list(plan(senders="rtt=40..90ms").corners())
    for name, ends in {"jitter": {0, 10}, "senders": {40, 90}, "start": {0, 3}}.items():
        assert {corner[name] for corner in corners} == ends
    too_wide = plan(jitter="0..5000ms")
    with pytest.raises(BadInputError, match="jitter"):
        check(too_wide)


def test_trials_are_the_same_after_an_interruption(tmp_path: FilePath) -> None:
    whole, new = search(tmp_path / "whole", 14)
    assert new == list(range(1, 15))
    for count, expected in ((3, [1, 2, 3]), (9, [4, 5, 6, 7, 8, 9])):
        _, new = search(tmp_path / "parts", count)
        assert new == expected
    with pytest.raises(LabFailedError) as caught:
        search(tmp_path / "parts", 14, fail)
    assert "of farpath run --rtt=40ms" in caught.value.detail
    made, new = search(tmp_path / "parts", 14)
    assert new == [10, 11, 12, 13, 14]
    assert made == whole
    assert search(tmp_path / "parts", 14) == (made, [])


def test_the_sampler_learns_where_a_flow_starves(tmp_path: FilePath) -> None:
    made, _ = search(tmp_path, 40)
    assert worst(made).least_share < 0.05
    late = [trial.least_share for trial in made[20:]]
    early = [trial.least_share for trial in made[:10]]
    assert sum(late) / len(late) < sum(early) / len(early)
    assert all(0.1 <= trial.values["buffer"] <= 8 for trial in made)


def test_a_batch_follows_from_the_trials_before_it_and_its_values_differ() -> None:
    asked = plan()
    first = chosen(asked, 0, [])
    assert first == chosen(asked, 0, [])
    assert len({json.dumps(values) for values in first}) == 4
    assert first != chosen(plan(seed="2"), 0, [])


def test_a_trial_without_its_record_is_made_again(tmp_path: FilePath) -> None:
    made, _ = search(tmp_path / "results", 2)
    file = trials_file(plan(), "build", tmp_path / "results")
    again: list[Trial] = []
    args = (file, tmp_path / "elsewhere", pretend, lambda trial, _all: again.append(trial))
    assert continue_starvation(plan(), 2, *args) == made
    assert sorted(trial.number for trial in again) == [1, 2]


def test_another_question_has_another_file_and_more_trials_have_not(tmp_path: FilePath) -> None:
    files = {
        trials_file(each, build, tmp_path)
        for each, build in (
            (plan(), "one"),
            (plan(), "two"),
            (plan(jitter="0..9ms"), "one"),
            (plan(loss="0.1%"), "one"),
            (plan(seed="2"), "one"),
            (plan(stacks=("cubic", "bbr")), "one"),
        )
    }
    assert len(files) == 6


def test_a_damaged_file_of_trials_is_refused(tmp_path: FilePath) -> None:
    file = trials_file(plan(), "build", tmp_path)
    file.write_text('{"format_version": 1, "trials": [{"number": 1}]}')
    with pytest.raises(BadInputError, match=r"trials-.*json: 0\.values: field required"):
        search(tmp_path, 1)


def test_a_run_in_which_nothing_arrives_is_told_as_failed_and_comes_last() -> None:
    values = {"jitter": 1.0, "buffer": 1.0, "start": 0}
    empty = Trial(1, values, {}, None, (0.0, 0.0), "", "", "")
    fair = Trial(2, values, {}, (1.0, 1.0), (1.0, 1.0), "", "", "")
    assert worst([empty, fair]) == fair
    assert len(chosen(plan(), 1, [empty, fair])) == 4


def test_a_trial_of_draws_is_the_one_in_the_middle_with_the_range(tmp_path: FilePath) -> None:
    def starve(run_set: RunSet, watch: WatchRuns) -> MadeSet[Shares]:
        """A world in which shares of draws are the tenths of their numbers."""
        results = []
        for run in run_set.runs:
            share = run.plan.seed / 10
            value = Shares((share, 2 - share), (1e6, 9e6))
            results.append(MadeRun(run, FilePath("made"), run.name, value))
            watch(RunEvent(run, results[-1], PoolProgress(1, 0, 0, 0, None)))
        return MadeSet(run_set, FilePath(), tuple(results))

    (asked,) = plan_starvation(OPTIONS, ("bbr", "cubic"), "0..3s", "5s", 4, draws=5)
    file = trials_file(asked, "build", tmp_path)
    (trial,) = continue_starvation(asked, 1, file, tmp_path, starve, lambda _new, _all: None)
    assert (trial.least_share, trial.range.least, trial.range.most) == (0.3, 0.1, 0.5)
    assert trial.command.endswith("--draw=3")
    assert worst_table(asked, [trial]).lines[0][1] == "30.0 (10.0-50.0)"
    assert asked.identity("build") != plan().identity("build")


def trial_of(number: int, least_shares: tuple[float, ...]) -> Trial:
    """A trial whose draws had these least shares."""
    middle = sorted(least_shares)[(len(least_shares) - 1) // 2]
    return Trial(
        number, {}, {}, (middle, 2 - middle), (1e6, 2e6), "record", "print", "command", least_shares
    )


def test_the_worst_trial_has_an_interval_and_is_told_from_those_that_differ_by_chance() -> None:
    (asked,) = plan_starvation(OPTIONS, ("bbr", "cubic"), "0..3s", "5s", 4, draws=5)
    trials = (
        trial_of(1, (0.30, 0.34, 0.26, 0.31, 0.38)),
        trial_of(2, (0.33, 0.30, 0.36, 0.29, 0.35)),
        trial_of(3, (0.80, 0.84, 0.79, 0.88, 0.83)),
    )
    note = worst_table(asked, trials).note
    assert "Trial 1 has a median of 26.0 to 38.0 (95 %, bootstrap)" in note
    assert "of a fair half from it takes 14 draws (power 80 %)" in note
    assert "1 of 2 other trials differ from it by more than chance" in note
    (first, *_) = trials_table([(asked, trials)]).objects
    assert (first["least_share_low"], first["least_share_high"]) == (0.26, 0.38)
    assert first["draws_for_5_percent"] == 14


def test_a_trial_of_one_draw_has_no_interval() -> None:
    (asked,) = plan_starvation(OPTIONS, ("bbr", "cubic"), "0..3s", "5s", 4, draws=5)
    trials = (trial_of(1, (0.3,)),)
    assert "bootstrap" not in worst_table(asked, trials).note
    assert trials_table([(asked, trials)]).objects[0]["least_share_low"] is None
