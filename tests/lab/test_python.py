"""The Python interface, in the real lab."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import Any

import pytest

import farpath
from tests.support.processes import completed

pytestmark = pytest.mark.lab
#: A script without a guard around its calls, as people write it in five lines.
SCRIPT = """
import farpath
swept = farpath.sweep(rtt=["10ms", "40ms"], stack=["reno", "cubic"], rate="20Mbit", time="5s")
print(len(swept.table), swept.table["throughput_mbps"].min() > 10)
swept.plot("utilisation").savefig("heat.png")
"""


def test_a_run_has_results_and_a_repeated_one_is_returned_at_once(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    options: Any = {"rtt": "20ms", "rate": 20e6, "stack": "cubic+reno", "time": "5s"}
    first = farpath.run(**options, out=tmp_path)
    assert "virtual s" in capsys.readouterr().err
    assert list(first.flows["stack"]) == ["cubic", "reno"]
    assert 15 < first.flows["throughput_mbps"].sum() < 20
    assert first.page.is_file()
    again = farpath.run(**options, out=tmp_path, progress=False)
    assert (first.cached, again.cached) == (False, True)
    assert again.fingerprint == first.fingerprint
    assert capsys.readouterr().err == ""


def test_a_script_sweeps_without_a_guard_and_its_records_get_pages_when_they_are_run(
    tmp_path: FilePath,
) -> None:
    (tmp_path / "sweep.py").write_text(SCRIPT)
    ended = completed([sys.executable, "sweep.py"], cwd=tmp_path)
    assert ended.stdout == "4 True\n", ended.stderr
    assert "sweep: 4 of 4 runs" in ended.stderr
    assert (tmp_path / "heat.png").stat().st_size > 1000
    result = farpath.run(
        rtt="10ms", stack="reno", rate="20Mbit", time="5s", out=tmp_path / "results", progress=False
    )
    assert result.cached
    assert result.page.is_file()
