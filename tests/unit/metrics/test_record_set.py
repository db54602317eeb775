"""What a set of records is, and how its runs are grouped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath

import pytest

from experiments.seven_regions import study
from farpath.metrics.record_set import RUNS, default_view, load_record_set
from farpath.spec.plan import Plan
from tests.support.campaigns import write_named
from tests.support.record_sets import plan_of
from tests.support.refusals import refused


def _study(stack: str = "htcp", path: str = "cern", seed: str = "1", **words: str) -> Plan:
    return plan_of(path=path, stack=stack, seed=seed, era="2004", **words)


def test_runs_of_the_2005_test_on_its_paths_with_its_stacks_are_the_study() -> None:
    assert default_view([_study()]) == study.VIEW
    assert default_view([_study("reno", "ufl"), _study("udt", "caltech", "2")]) == study.VIEW


@pytest.mark.parametrize(
    "other",
    [
        lambda: plan_of(path="cern", stack="htcp"),
        lambda: _study("cubic"),
        lambda: _study("htcp+reno"),
        lambda: _study("fast:alpha=100"),
        lambda: _study(schedule="together"),
        lambda: _study(loss="1%"),
        lambda: _study(drop="every:1000"),
        lambda: plan_of(rtt="50ms", era="2004"),
        lambda: _study(region="60s"),
    ],
    ids=["today's hosts", "a later stack", "two stacks", "parameters", "one region", "another path",
         "droppers", "an RTT of one's own", "the same run again"],
)  # fmt: skip
def test_another_run_makes_a_set_plain_runs(other: Callable[[], Plan]) -> None:
    assert default_view([_study(), other()]) == RUNS


def test_a_view_of_no_name_is_refused(tmp_path: FilePath) -> None:
    write_named(tmp_path, "cern", "udt", 1)
    with refused("view", "paper"):
        load_record_set(tmp_path, "paper")


def test_records_in_which_cpu_was_counted_go_with_the_study_alone(tmp_path: FilePath) -> None:
    write_named(tmp_path / "own", "cern", "cubic", 1)
    write_named(tmp_path / "cpu", "cern", "udt", 1)
    with refused("cpu_records"):
        load_record_set(tmp_path / "own", None, tmp_path / "cpu")
