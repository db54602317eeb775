"""A use is one folder: a new one is found and run, and no file of the project changes."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

import pytest

from farpath import uses
from tests.support.command_line import Farpath

DESCRIPTION = '''
"""Idle: which base RTT the records of several paths have."""

COMMANDS = {"idle": ("Many runs", "Ask which base RTT the records of several paths have.")}
'''
COMMAND = '''
"""``farpath idle``: which base RTT the records of several paths have."""

from pathlib import Path

import typer

from farpath.metrics.results import run_summary
from farpath.cli.shared_options import RESULTS, AsJson, RecordsDir
from farpath.planning.request import RunRequest
from farpath.report.report import Report
from farpath.runs.make import make_runs
from farpath.runs.run_set_progress import progress_printer
from farpath.runs.run_set import product_set
from tests.unit.runs.test_make import make


def add_to(app: typer.Typer) -> None:
    app.command()(idle)


def idle(out: RecordsDir = RESULTS, as_json: AsJson = False) -> None:
    """Ask which base RTT the records of several paths have."""
    base = RunRequest(rate="20Mbit", time="5s")
    run_set = product_set(base, {"rtt": ("20ms", "30ms", "40ms")})
    watch = progress_printer("idle")
    made = make_runs(run_set, out, 1, watch, measure=run_summary, make=make)
    rows = {each.run.values["rtt"]: each.value.summary.base_rtt_ms for each in made.runs}
    lines = "".join(f"{rtt},{found}\\n" for rtt, found in rows.items())
    report = Report({"idle.csv": lines}, lines, {"rtts": rows, "failures": made.failures()})
    report.write(out / "idle")
    report.print(out / "idle", as_json)
'''


@pytest.fixture
def added(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> FilePath:
    """A folder of uses with a new one, which farpath looks into."""
    folder = tmp_path / "uses"
    (folder / "idle").mkdir(parents=True)
    (folder / "idle" / "__init__.py").write_text(DESCRIPTION)
    (folder / "idle" / "command.py").write_text(COMMAND)
    monkeypatch.setattr(uses, "__path__", [*uses.__path__, str(folder)])
    return folder


@pytest.mark.usefixtures("added")
def test_a_new_use_is_in_the_help_and_makes_measures_and_reports_its_runs(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    listed = farpath("--help")
    assert "Ask which base RTT the records of several paths have." in listed.out
    out = tmp_path / "results"
    first = farpath("idle", f"--out={out}")
    assert first.out.splitlines()[:2] == ["20ms,20.0", "40ms,40.0"]
    assert f"csv         {out / 'idle' / 'idle.csv'}" in first.out
    assert "idle: rtt=30ms, seed 1 failed: the guest hangs" in first.err
    assert "idle: 2 of 3 runs made, 0 running, 1 failed, 0 left" in first.err
    again = farpath("idle", f"--out={out}", "--json")
    assert json.loads(again.out) == {
        "rtts": {"20ms": 20.0, "40ms": 40.0},
        "failures": {"rtt=30ms, seed 1": "the guest hangs"},
    }
