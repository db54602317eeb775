"""The report of a search over seeds, and of the smallest schedule of a failing run."""

from __future__ import annotations

import csv
import io
from pathlib import Path as FilePath
from typing import Any

from farpath.report.search_report import MOST_SHOWN, search_report, shrink_report
from farpath.runs.search.result import Ended, SeedResult, SeedSearch
from farpath.runs.search.shrink import Shrunk, Try
from farpath.spec.services import Fault

COMMAND = ("farpath", "up", "compose.yml")
CUT = Fault("partition", ("eu", "us"), 12.5, 5.0)
KILL = Fault("kill", ("db",), 3.0)


def ended(seed: int, status: int) -> Ended:
    return Ended(status, 20.25, FilePath(f"results/up-demo-seed{seed}-0"), f"{seed:064x}")


def rows_of(text: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_search_says_the_faults_of_each_seed_the_counts_and_the_command_of_the_first() -> None:
    results = (
        SeedResult(1, (KILL,), ended(1, 0), cached=True),
        SeedResult(2, (KILL, CUT), Ended(None, problem="client waits for db to be healthy")),
    )
    report = search_report(SeedSearch((1, 2, 3), results), COMMAND)
    counts = (
        "1 of 2 runs failed, 1 recorded before; stopped at the first that failed, seeds left: 1"
    )
    assert counts in report.text
    assert "repeat      farpath up compose.yml --seed=2" in report.text
    passed, failed = rows_of(report.files["seeds.csv"])
    assert passed["record"] == "up-demo-seed1-0"
    assert (passed["result"], passed["took_s"], passed["status"]) == ("pass", "20.25", "0")
    assert failed["faults"] == "kill:db,at=3s; partition:eu-us,at=12.5s,for=5s"
    assert failed["result"] == "error: client waits for db to be healthy"
    assert (failed["record"], failed["fingerprint"], failed["status"]) == ("", "", "")
    assert failed["command"] == "farpath up compose.yml --seed=2"
    assert report.data["first_failing_seed"] == 2


def test_of_many_runs_people_read_those_that_failed() -> None:
    count = MOST_SHOWN + 1
    results = tuple(
        SeedResult(seed, (), ended(seed, 124 if seed == 7 else 0)) for seed in range(1, count + 1)
    )
    report = search_report(SeedSearch(tuple(range(1, count + 1)), results), COMMAND)
    assert "fail: status 124 (time limit)" in report.text
    assert "pass" not in report.text
    assert f"1 of {count} runs failed" in report.text
    assert len(rows_of(report.files["seeds.csv"])) == count


def test_a_smallest_schedule_has_a_line_for_each_fault_and_its_command() -> None:
    failing = SeedResult(17, (KILL, CUT), ended(17, 1))
    tries = (
        Try(1, (), ended(17, 0), cached=False, fails=False),
        Try(2, (CUT,), ended(18, 1), cached=True, fails=True),
    )
    report = shrink_report(Shrunk(failing, (CUT,), tries[1].ended, tries), COMMAND)
    assert report.text.splitlines() == [
        "Seed 17 fails with 1 of 2 faults (2 tries):",
        "  partition:eu-us,at=12.5s,for=5s",
        "repeat      farpath up compose.yml --seed=17 --no-faults "
        "--fault=partition:eu-us,at=12.5s,for=5s",
        f"fingerprint {18:064x}",
    ]
    assert [row["fails"] for row in rows_of(report.files["shrink.csv"])] == ["0", "1"]


def test_a_run_that_fails_without_faults_is_not_blamed_on_its_schedule() -> None:
    failing = SeedResult(17, (KILL, CUT), ended(17, 1))
    tries = (Try(1, (), ended(17, 1), cached=False, fails=True),)
    report = shrink_report(Shrunk(failing, (), tries[0].ended, tries), COMMAND)
    assert report.text.startswith("Seed 17 fails without any fault (1 try): the schedule is not")
    assert report.data["command"] == "farpath up compose.yml --seed=17 --no-faults"
