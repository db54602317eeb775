"""The baseline that comes with the project, of the lab's own kernel."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.lab.artifacts.images import find_images
from farpath.lab.artifacts.kernels import made_of, processor_level, release_of
from farpath.spec.kernel_draws import draws_numbers
from farpath.uses.regress.baseline import baseline_file, nearest_baseline, read_baseline
from farpath.uses.regress.suite import trials
from tests.regress.conftest import Regress

#: What is to be done where packets are others, and are meant to be.
REMEDY = "if it is meant, make these with 'farpath regress --update --only=...' and say why"


@pytest.fixture
def release() -> str:
    """What the lab's kernel calls itself."""
    return release_of(find_images())


@pytest.fixture
def level() -> int:
    """This machine's level of x86-64."""
    return processor_level(FilePath("/proc/cpuinfo").read_text())


def test_it_knows_every_run_of_the_suite(release: str, level: int) -> None:
    file = nearest_baseline(release, level)
    assert file is not None
    assert set(read_baseline(file).runs) == {trial.name for trial in trials()}


def test_every_run_of_the_suite_is_identical_to_it_while_other_tests_keep_cores_busy(
    regress: Regress, release: str, level: int
) -> None:
    ended = regress()
    print(ended.out)
    assert ended.runs.keys() == {trial.name for trial in trials()}, ended.err
    if not baseline_file(release, level).exists():
        # Another point release or processor: what differs is to be read, and may be meant
        assert ended.status in (0, 1), ended.err
        return
    baseline = read_baseline(baseline_file(release, level))
    others = {name: run["state"] for name, run in ended.runs.items() if run["state"] != "identical"}
    if baseline.made["packages_sha256"] != made_of(find_images(), level)["packages_sha256"]:
        # An update of any package gives other packets to what draws numbers of the kernel
        drawing = {trial.name for trial in trials() if draws_numbers(trial.plan())}
        others = {
            name: state
            for name, state in others.items()
            if name not in drawing or state != "within bounds"
        }
    assert not others, REMEDY
    assert ended.status == 0, ended.err


def test_all_sites_in_one_guest_stay_within_its_bounds(regress: Regress) -> None:
    ended = regress("--one-guest", "--only=htcp/one-loss")
    print(ended.out)
    assert ended.runs["htcp/one-loss"]["state"] in ("identical", "within bounds")
    assert ended.status == 0, ended.err
