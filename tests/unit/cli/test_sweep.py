"""The command that sweeps: what is refused before anything is run."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.runs import make
from farpath.runs.make import FailedRun, MadeSet
from farpath.runs.run_set import RunSet
from tests.support.command_line import Farpath


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtt=20ms,x"], "--rtt is 'x'"),
        (["--rtt=20ms,,160ms"], "--rtt is ''"),
        (
            ["--rtt=10ms..200ms"],
            "--rtt is '10ms..200ms': that is a range, and each value is a run of its own; "
            "list the values, as in --rtt=10ms,40ms,200ms",
        ),
        (["--loss="], "--loss is ''"),
        (["--stack=cubic,mine:a=8,b=2"], "--stack is 'mine'"),
        (["--seed=1,2"], "--seed has several values: a sweep takes --seeds=3, from --seed on"),
        (["--seeds=0"], "--seeds is '0': it must be a whole number from 1 to 5,000"),
        (["--loss=0,0%"], "'loss=0, seed 1' and 'loss=0%, seed 1' are the same run"),
        (["--metric=speed"], "--metric is 'speed': it must be one of throughput_mbps, "),
        (["--seeds=5000", "--rtt=1ms,2ms"], "the sweep has 10,000 runs: at most 5,000 are made"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    farpath: Farpath, options: list[str], message: str
) -> None:
    ended = farpath("sweep", *options)
    assert ended.status == 2
    assert ended.err.startswith(f"farpath: {message}")
    assert ended.err.count("\n") == 1


def test_messages_of_runs_that_failed_name_options_as_they_are_typed(
    farpath: Farpath, monkeypatch: pytest.MonkeyPatch, tmp_path: FilePath
) -> None:
    def fail(planned: RunSet, out: FilePath, *_rest: object, **_more: object) -> MadeSet[None]:
        error = LabFailedError("no space left: free some, or give another directory with `out`")
        return MadeSet(planned, out, tuple(FailedRun(run, error) for run in planned.runs))

    monkeypatch.setattr(make, "make_runs", fail)
    ended = farpath("sweep", "--rtt=20ms,30ms", "--json", f"--out={tmp_path}")
    assert ended.status == 4
    assert ended.err.count("or give another directory with --out") == 2
