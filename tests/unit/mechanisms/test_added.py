"""A mechanism is one folder: a new one is found everywhere, and no file of the project changes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from farpath.base.project import PROJECT
from tests.support.added_mechanism import FIND, add_keepalive

#: A process of its own has the new folder before it makes the options of a run.
SCRIPT = f"""{FIND}
import contextlib, io, json
from pathlib import Path
raw_dir = Path(sys.argv[1])
from farpath.base.errors import FarpathError
from farpath.cli.app import main
from farpath.cli.listing import options_markdown
from farpath.lab.guest_code import guest_files
from farpath.mechanisms.mechanism import Output
from farpath.mechanisms.registry import examine
from farpath.planning.request import RunRequest
from farpath.record.identity import plan_identity
from farpath.record.record import load_record
from farpath.report.html.run_page import render_page
from farpath.report.repeat import command_of
from farpath.spec.plan import Plan
from tests.support.lesson_runs import write_lesson_run
from tests.support.record_sets import member, record_set
from farpath.metrics.record_set import load_record_set
from farpath.metrics.results import run_summary
from farpath.metrics.run_settings import further_settings
from farpath.report.tables.run_table import run_tables
from farpath.report.tables.sweep import sweep_table
from farpath.report.tables.sweep_results import SweepResults
from farpath.runs.make import MadeRun, MadeSet
from farpath.runs.run_set import PlannedRun, RunSet

def error_of(call):
    try:
        call()
    except FarpathError as error:
        return error.message

def help_of(command):
    sys.argv = ["farpath", command, "--help-all"]
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        main()
    return shown.getvalue()

words = {{"rtt": "50ms", "stack": "reno", "time": "5s"}}
plain, plan = RunRequest(**words).plan(), RunRequest(**words, keepalive="3s").plan()
record = write_lesson_run(raw_dir / "records" / "with", plan, found={{"hosts_kept": 7}})
plain_record = write_lesson_run(raw_dir / "records" / "without", plain)
made = tuple(
    MadeRun(PlannedRun(each.directory.name, each.plan), each.directory, "", run_summary(each))
    for each in (record, plain_record)
)
swept = SweepResults(MadeSet(RunSet(tuple(each.run for each in made)), raw_dir, made))

def examined(hosts):
    return examine(Output(plan, raw_dir, {{"after": {{"keepalive": hosts}}}}, record.samples.flows))

failed = error_of(lambda: examined({{}}))
found = examined({{"sender": "3", "receiver": "3"}})
for part in found.parts:
    part.write(raw_dir)
print(json.dumps({{
    "help": help_of("run"),
    "markdown": options_markdown(),
    "extra": [plain.as_dict().get("extra"), Plan.from_dict(json.loads(plan.to_json())).extra],
    "refused": [
        error_of(lambda text=text: RunRequest(**words, keepalive=text).plan())
        for text in ("soon", "13s")
    ],
    "identities": [plan_identity(plain), plan_identity(plan)],
    "failed": failed,
    "found": [found.readback, found.warnings, [(part.name, part.entry) for part in found.parts]],
    "file": (raw_dir / "keepalive.csv").read_text(),
    "column": list(further_settings(record_set(member("a", keepalive="3s"))).values()),
    "page": render_page(load_record(record.directory)),
    "command": command_of(plan),
    "guest": sorted(name for name in guest_files() if "/keepalive/" in name),
    "runs": run_tables(load_record_set(raw_dir / "records"))[0].objects,
    "sweep": sweep_table(swept).objects,
}}))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the parts of farpath say of the mechanism."""
    folder, raw_dir = tmp_path_factory.mktemp("mechanisms"), tmp_path_factory.mktemp("raw")
    add_keepalive(folder)
    command = [sys.executable, "-c", SCRIPT, str(folder), str(raw_dir)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def test_its_option_is_in_the_help_and_in_the_table_of_options(said: dict[str, Any]) -> None:
    assert "--keepalive TIME" in said["help"]
    rows = [line.split("|")[1].strip() for line in said["markdown"].splitlines()]
    assert rows[rows.index("`KEEPALIVE`") - 1] == "`ECN`"


def test_its_option_is_in_the_plan_and_in_its_identity(said: dict[str, Any]) -> None:
    assert said["extra"] == [None, {"keepalive": {"time_s": 3}}]
    assert len(set(said["identities"])) == 2


def test_its_parser_and_its_rules_refuse(said: dict[str, Any]) -> None:
    unreadable, unlucky = said["refused"]
    assert "keepalive is 'soon'" in unreadable
    assert unlucky == "keepalive: give another one"


def test_it_checks_the_raw_output_and_adds_to_the_record(said: dict[str, Any]) -> None:
    assert said["failed"] == "no host asks whether its peer lives"
    readback, warnings, parts = said["found"]
    assert (readback["hosts_kept"], warnings) == (2, ["peers are asked"])
    assert (parts, said["file"]) == ([["keepalive_table", {"rows": 1}]], "2\n")


def test_the_guest_gets_its_device_and_nothing_of_the_host(said: dict[str, Any]) -> None:
    folder = "farpath/mechanisms/keepalive"
    assert said["guest"] == [f"{folder}/__init__.py", f"{folder}/device.py"]


def test_it_is_in_the_column_of_settings_on_the_page_and_in_the_command_that_repeats(
    said: dict[str, Any],
) -> None:
    assert "keepalive 3s" in said["column"][0]
    assert "kept alive after" in said["page"]
    assert "--keepalive=3s" in said["command"]


def test_its_column_is_in_tables_of_runs_and_on_the_page(said: dict[str, Any]) -> None:
    for table in (said["runs"], said["sweep"]):
        assert sorted(str(row["keepalive_hosts"]) for row in table) == ["7", "None"]
    assert "hosts that ask" in said["page"]
