"""What ``farpath up`` asks of a search over seeds, and says of it."""

from __future__ import annotations

import pytest

from farpath.cli.up_seeds import check_seeds, seed_cases
from farpath.runs.search.result import Ended, SeedResult, SeedSearch
from farpath.spec.services import Fault
from tests.support.command_line import Farpath
from tests.support.refusals import refused


@pytest.mark.parametrize("count", [0, -1, 5001])
def test_a_number_of_seeds_that_is_not_possible_is_refused(count: int) -> None:
    with refused("seeds", str(count)):
        check_seeds(count, keep_going=False, main_alone=False)


@pytest.mark.parametrize("count", [None, 1])
def test_one_seed_cannot_go_on_after_its_failure(count: int | None) -> None:
    with refused("keep_going"):
        check_seeds(count, keep_going=True, main_alone=False)


def test_a_search_has_no_output_of_the_main_service(farpath: Farpath) -> None:
    ended = farpath("up", "nowhere.yml", "--seeds=3", "--main-alone")
    assert ended.status == 2
    assert "--main-alone" in ended.err


def test_a_case_of_a_failed_seed_has_its_faults_and_its_command() -> None:
    kill = Fault("kill", ("db",), 3.0)
    search = SeedSearch(
        (1, 2),
        (
            SeedResult(1, (), Ended(0, 20.0)),
            SeedResult(2, (kill,), Ended(None, problem="client waits for db to be healthy")),
        ),
    )
    passed, failed = seed_cases("demo", search, ("farpath", "up", "compose.yml"))
    assert (passed.name, passed.problem, passed.time_s) == ("seed 1", None, 20.0)
    assert (failed.name, failed.problem, failed.time_s) == ("seed 2", "failure", 0.0)
    assert failed.message == "error: client waits for db to be healthy"
    assert failed.text == "faults: kill:db,at=3s\nfarpath up compose.yml --seed=2\n"
