"""Presets in the lab: real programs, their verdicts and figures, and that they repeat."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import MachineLacksError
from farpath.base.project import PROJECT
from farpath.presets.registry import asked_preset
from tests.support import added_preset
from tests.support.command_line import Ended, Farpath

PAGE = PROJECT / "docs" / "how-to" / "presets.md"


def run(farpath: Farpath, out: FilePath, text: str, *options: str) -> Ended:
    """Run a preset, or skip the test with the packages that this machine lacks."""
    asked = asked_preset(text)
    try:
        asked.preset.require_programs(asked.values)
    except MachineLacksError as lacking:
        pytest.skip(str(lacking))
    return farpath("exec", f"--preset={text}", f"--out={out}", *options)


def shown(name: str) -> tuple[list[str], list[str]]:
    """The options of a session on the page, and its lines of results."""
    options, *lines = PAGE.read_text().split(f"$ farpath exec --preset={name} ")[1].splitlines()
    session = takewhile(lambda line: not line or line.startswith(" "), lines)
    return options.split(), [line for line in session if re.search(" (holds|-) ", f"{line} ")]


def measured(lines: list[str]) -> dict[str, float]:
    """The measured value of each quantity and its part that lines of a table have."""
    matches = [re.match(r"\s+(.*?)\s{2,}([0-9.]+)\s+[≥≤-]", line) for line in lines]
    return {match[1]: float(match[2]) for match in matches if match}


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("call", 8),
        pytest.param("db", 4, marks=pytest.mark.nightly),
        pytest.param("video", 6, marks=pytest.mark.nightly),
        ("web", 9),
    ],
)
def test_the_page_shows_what_a_preset_measures(
    farpath: Farpath, tmp_path: FilePath, name: str, count: int
) -> None:
    options, lines = shown(name)
    ended = run(farpath, tmp_path, name, *options)
    assert ended.status == 0, ended.err
    assert len(lines) == count
    # The last digits depend on the versions of the programs
    assert measured(ended.out.splitlines()) == pytest.approx(measured(lines), rel=0.1)


def test_a_preset_repeats_its_packets_and_its_record_has_verdict_and_figure(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    asked = "web:http=3,objects=9", "--rtt=100ms", "--rate=20Mbit", "--loss=1%", "--json"
    first, again = (json.loads(run(farpath, tmp_path, *asked).out) for _ in range(2))
    assert again == first
    record = FilePath(first["record"])
    assert json.loads((record / "verdict" / "verdict.json").read_text()) == first["findings"]
    assert (record / "verdict" / "web.png").stat().st_size > 5_000
    table = json.loads(farpath("show", record, "--json").out)
    assert (table["preset"], table["findings"]) == (
        "web:http=3,objects=9,size=20000", first["findings"]
    )  # fmt: skip


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize(
    ("rtts", "status", "words"),
    [(2, 0, "its bound holds"), (9, 1, "1 of 1 bounds violated: answer (s)")],
)
def test_a_preset_of_one_new_folder_runs_and_its_verdict_is_the_status(
    tmp_path: FilePath, rtts: int, status: int, words: str
) -> None:
    added_preset.add_echo(tmp_path)
    code = f"{added_preset.FIND}\nfrom farpath.cli.app import main\nmain()"
    command = [sys.executable, "-c", code, str(tmp_path), "exec", f"--preset=echo:rtts={rtts}"]
    ended = subprocess.run(
        [*command, "--rtt=50ms", f"--out={tmp_path / 'out'}"],
        cwd=PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == status, ended.stderr
    assert words in ended.stdout
    (record,) = (tmp_path / "out").glob("exec-custom-echo-*")
    assert (record / "verdict" / "echo.png").is_file()


def test_several_paths_have_a_table_with_a_column_for_each_quantity(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    text = "web:http=3,objects=2"
    ended = run(farpath, tmp_path, text, "--rtt=20ms,40ms", "--rate=20Mbit", "--json")
    assert ended.status == 0, ended.err
    rows = json.loads(ended.out)["runs"]
    assert [row["HTTP/3_handshake_s"] for row in rows] == pytest.approx([0.02, 0.04], rel=0.1)
    assert [row["result"] for row in rows] == ["pass", "pass"]
