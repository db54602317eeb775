"""The answer of a search over seeds, without a lab."""

from __future__ import annotations

import pickle
import shlex
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.base.errors import LabFailedError
from farpath.planning.faults import Targets, read_faults
from farpath.runs.search.result import (
    Ended,
    NeverStartsError,
    SeedResult,
    SeedSearch,
    decided,
    faults_command,
    never_starts,
)
from farpath.spec.services import Fault

FAULTS = (
    Fault("partition", ("eu", "us"), 12.345, 5.0),
    Fault("loss", ("us", "ap"), 13.0, None, one_way=True, value=0.3),
    Fault("delay", ("eu", "ap"), 13.001, 0.5, value=200.0),
    Fault("rate", ("eu", "ap"), 14.0, 0.125, value=1e6),
    Fault("kill", ("db", "web"), 15.0),
)
TARGETS = Targets((("eu", "us"), ("us", "ap"), ("eu", "ap")), ("db", "web"), 60.0)


def result(seed: int, status: int | None) -> SeedResult:
    return SeedResult(seed, (), Ended(status))


@given(
    st.dictionaries(st.integers(1, 40), st.sampled_from([0, 0, 0, 1, 124, None]), min_size=1),
    st.integers(0, 1 << 20),
)
def test_the_answer_is_the_same_in_whatever_order_runs_end(
    statuses: dict[int, int | None], order: int
) -> None:
    ended = list(statuses)
    Random(order).shuffle(ended)
    known: dict[int, SeedResult] = {}
    answers = set()
    for seed in ended:
        known[seed] = result(seed, statuses[seed])
        answers.add(decided(statuses, known))
    failing = [seed for seed in sorted(statuses) if statuses[seed] != 0]
    last = min(failing, default=max(statuses))
    whole = tuple(result(seed, statuses[seed]) for seed in sorted(statuses) if seed <= last)
    assert answers <= {(), whole}
    assert decided(statuses, known) == whole
    first = SeedSearch(tuple(statuses), whole).first
    assert (first.seed if first else None) == (min(failing) if failing else None)


def test_a_failure_is_no_answer_while_a_lower_seed_is_not_known() -> None:
    known = {2: result(2, 1), 3: result(3, 0)}
    assert decided([1, 2, 3], known) == ()
    assert decided([1, 2, 3], {1: result(1, 0), **known}) == (result(1, 0), result(2, 1))


def test_a_service_that_can_never_start_is_a_failure_and_other_errors_of_the_lab_are_not() -> None:
    said = "the lab failed: client waits for db to end with status 0, and that ended with status 1"
    found = never_starts(LabFailedError(f"{said}: no disk; its console is in x.log"))
    assert found is not None
    assert found.what == "client waits for db to end with status 0"
    assert never_starts(LabFailedError("the lab failed: the guest ran out of memory")) is None
    brought = pickle.loads(pickle.dumps(found))
    assert isinstance(brought, NeverStartsError)
    assert (brought.message, brought.what) == (found.message, found.what)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (Ended(1, 3.0), Ended(1, 4.0), True),
        (Ended(1), Ended(124), False),
        (Ended(None, problem="a waits for b"), Ended(None, problem="a waits for b"), True),
        (Ended(None, problem="a waits for b"), Ended(None, problem="a waits for c"), False),
    ],
)
def test_runs_fail_alike_with_one_status_or_one_service(
    one: Ended, other: Ended, alike: bool
) -> None:
    assert one.failed
    assert one.is_like(other) is alike


def test_the_command_of_drawn_faults_gives_these_faults_again_with_any_seed() -> None:
    words = shlex.split(faults_command(["farpath", "up", "a file.yml"], 17, FAULTS))
    assert words[:5] == ["farpath", "up", "a file.yml", "--seed=17", "--no-faults"]
    texts = [word.removeprefix("--fault=") for word in words[5:]]
    for seed in (1, 17):
        assert read_faults(texts, None, TARGETS, seed) == FAULTS
