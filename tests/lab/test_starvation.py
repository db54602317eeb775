"""farpath starvation, in the real lab."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path as FilePath

import pytest

from tests.support.command_line import Farpath

pytestmark = pytest.mark.lab


def test_a_search_continues_and_its_command_repeats_the_worst_run(
    farpath: Farpath, tmp_path: FilePath
) -> None:
    out = f"--out={tmp_path / 'results'}"
    asked = ["--stack=bbr", "--rtt=20ms", "--rate=5Mbit", "--time=5s", "--start=0..1s"]
    asked += [
        "--jitter=0ms",
        "--buffer=0.5..8xBDP",
        "--draws=2",
        out,
        f"--report={tmp_path / 'report'}",
    ]
    first = farpath("starvation", *asked, "--trials=1")
    assert first.status == 0
    assert "trial 1 of 1: least share" in first.err
    more = farpath("starvation", *asked, "--trials=2", "--json")
    assert "trial 1 of" not in more.err
    (search,) = json.loads(more.out)["searches"]
    assert search["stacks"] == ["bbr", "bbr"]
    assert [trial["trial"] for trial in search["trials"]] == [1, 2]
    for trial in search["trials"]:
        # A fair part is the mean of both
        assert trial["share"] + trial["other_share"] == pytest.approx(2)
    worst = min(search["trials"], key=lambda trial: trial["least_share"])
    assert search["worst"] == worst
    again = farpath("starvation", *asked, "--trials=2")
    assert again.err == ""
    program, *words = shlex.split(worst["command"])
    assert program == "farpath"
    elsewhere = f"--out={tmp_path / 'elsewhere'}"
    repeated = json.loads(farpath(*words, "--json", elsewhere).out)
    assert (repeated["fingerprint"], repeated["cached"]) == (worst["fingerprint"], False)
    with (tmp_path / "report" / "starvation.csv").open() as file:
        assert [row["command"] for row in csv.DictReader(file)] == [
            trial["command"] for trial in search["trials"]
        ]
    assert (tmp_path / "report" / "starvation.png").read_bytes().startswith(b"\x89PNG")
    assert "bbr beside bbr" in (tmp_path / "report" / "starvation.html").read_text()
