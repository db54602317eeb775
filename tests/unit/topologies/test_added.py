"""A topology is one file: a new one is found everywhere, and no file of the project changes."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path as FilePath

import pytest

import topologies
from farpath.base.project import PROJECT
from farpath.cli.listing import options_markdown
from farpath.lab.guest_code import write_code
from farpath.metrics.run_settings import further_settings
from farpath.planning.request import RunRequest
from farpath.record.identity import code_identity, plan_identity
from farpath.report.figures.wiring import as_text
from farpath.report.html.run_page import render_page
from farpath.report.repeat import command_of
from farpath.spec.protocol import CODE_DIR
from tests.support.added_topology import FIND, add_fork
from tests.support.command_line import Farpath
from tests.support.lesson_runs import write_lesson_run
from tests.support.record_sets import member, record_set
from tests.support.refusals import refused
from topologies import find_topology, lay_out

WORDS = {"rtt": "50ms", "stack": "reno+htcp", "time": "5s"}
#: Prints, in a guest, the bottleneck of the plan that it reads.
LAY_OUT = """
import json, sys
from farpath.spec.plan import Plan
from topologies import lay_out
print(*lay_out(Plan.from_dict(json.load(sys.stdin))).bottlenecks)
"""
START = f"""{FIND}
from farpath.cli.app import main
main()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """A further directory of topologies, with a new one."""
    directory = tmp_path / "further"
    directory.mkdir()
    add_fork(directory)
    monkeypatch.setattr(topologies, "__path__", [*topologies.__path__, str(directory)])
    monkeypatch.setitem(sys.modules, "topologies.fork", None)  # so that it is gone afterwards
    monkeypatch.delitem(sys.modules, "topologies.fork")
    importlib.invalidate_caches()
    return directory


def test_it_is_in_the_list_of_options_in_their_table_and_in_refusals(farpath: Farpath) -> None:
    names = "dumbbell, parking-lot, parking-lot:2 to parking-lot:8, routed, fork"
    assert names in " ".join(farpath("options").out.split())
    (row,) = (line for line in options_markdown().splitlines() if line.startswith("| `TOPOLOGY`"))
    assert "fork" in row
    assert names in farpath("run", "--topology=knife").err


def test_it_is_planned_wired_and_part_of_the_identity() -> None:
    plan, plain = RunRequest(**WORDS, topology="fork").plan(), RunRequest(**WORDS).plan()
    assert {flow.sender for flow in plan.schedule.flows} == {"sender", "sender2"}
    assert lay_out(plan).bottlenecks == ("s2-eth2",)
    assert as_text(plan).startswith("fork, path ")
    assert plan_identity(plan) != plan_identity(plain)
    with refused("topology", "fork"):
        RunRequest(**WORDS, topology="fork", senders="rtt=80ms").plan()


def test_its_code_is_part_of_the_place_of_records(folder: FilePath) -> None:
    before = code_identity()
    (folder / "fork.py").write_text(f"{(folder / 'fork.py').read_text()}# edited\n")
    assert code_identity() != before


def test_a_guest_gets_its_file_and_lays_it_out(tmp_path: FilePath) -> None:
    write_code(tmp_path, None)
    ended = subprocess.run(
        [sys.executable, "-S", "-c", LAY_OUT],
        input=RunRequest(**WORDS, topology="fork").plan().to_json(),
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / CODE_DIR)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "s2-eth2\n"


def test_it_is_in_the_column_of_settings_on_the_page_and_in_the_command_that_repeats(
    tmp_path: FilePath,
) -> None:
    plan = RunRequest(**WORDS, topology="fork").plan()
    record = write_lesson_run(tmp_path / "records", plan)
    assert "fork" in render_page(record)
    assert "--topology=fork" in (command_of(plan) or "")
    (settings,) = further_settings(
        record_set(member("a", stack="reno+htcp", topology="fork"))
    ).values()
    assert settings == "path custom-fork"


@pytest.mark.parametrize("text", ["TOPOLOGY = lay_out", "", "def"])
def test_one_that_cannot_be_used_is_named(folder: FilePath, text: str) -> None:
    (folder / "fork.py").write_text(text)
    with refused("topology", "fork"):
        find_topology("fork")


def test_one_that_cannot_be_used_stops_no_run_over_another(folder: FilePath) -> None:
    (folder / "fork.py").write_text("def")
    done = subprocess.run(
        [sys.executable, "-c", START, str(folder), "run", "--rtt=1"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith("farpath: --rtt is '1'")
