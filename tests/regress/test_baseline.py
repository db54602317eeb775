"""Runs against a baseline: made, held, changed by hand."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.uses.regress.baseline import BASELINES, read_baseline
from tests.regress.conftest import Regress
from tests.support.command_line import Farpath

RUNS = "--only=reno/initial-window,reno/fast-retransmit"


@pytest.fixture(scope="module")
def baseline(shared: Regress, tmp_path_factory: pytest.TempPathFactory) -> FilePath:
    """A baseline of two runs, by two seeds."""
    file = tmp_path_factory.mktemp("baseline") / "mine.toml"
    made = shared(RUNS, "--update", "--seeds=2", f"--baseline={file}")
    assert made.status == 0, made.err
    assert "+ reno/fast-retransmit: new" in made.out
    return file


def test_the_kernels_tcp_is_what_its_rfcs_say(baseline: FilePath) -> None:
    # RFC 6928: ten packets; RFC 5681: twice as many a round trip later, and one packet sent
    # again after one was lost, without a timeout
    bounds = read_baseline(baseline).runs["reno/initial-window"].bounds
    assert [bounds[f"flight_{number}_packets"].value for number in (1, 2, 3)] == [10, 20, 40]
    bounds = read_baseline(baseline).runs["reno/fast-retransmit"].bounds
    assert bounds["retransmits"].value == 1
    assert bounds["loss_fraction"].value == 0
    part = bounds["recovery_fraction"].value
    assert part is not None
    assert part > 0


def test_another_baseline_is_a_change_and_a_run_it_lacks_is_not_passed_over(
    shared: Regress, baseline: FilePath, tmp_path: FilePath
) -> None:
    text = baseline.read_text().replace("retransmits = [1, 1, 1]", "retransmits = [2, 2, 2]")
    fingerprint = read_baseline(baseline).runs["reno/fast-retransmit"].fingerprint
    other = tmp_path / "other.toml"
    other.write_text(text.replace(fingerprint, "0" * 64))
    ended = shared("--only=reno/fast-retransmit,reno/sack", f"--baseline={other}")
    assert ended.status == 1
    assert ended.runs["reno/fast-retransmit"]["state"] == "changed"
    (changed,) = ended.runs["reno/fast-retransmit"]["changed"]
    assert (changed["metric"], changed["before"], changed["after"]) == ("retransmits", 2, 1)
    assert ended.runs["reno/sack"]["state"] == "not in the baseline"


def test_a_part_of_the_suite_makes_no_baseline_that_would_hide_the_projects(
    farpath: Farpath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farpath.uses.regress.command._processor_level", lambda: 1)
    ended = farpath("regress", "--update", "--only=udt/slow-start")
    assert ended.status == 2
    assert "x86-64-v1.toml would be a new baseline, with 1 runs" in ended.err
    assert not list(BASELINES.glob("*-v1.toml"))
