"""pgbench's output, and the bounds of its transactions at a distance."""

from __future__ import annotations

import math
from pathlib import Path as FilePath

import pytest

from farpath.base.errors import LabFailedError
from farpath.planning.request import RunRequest
from farpath.presets.db.pgbench import parse
from farpath.presets.db.preset import PRESET, tps_bound
from farpath.presets.preset import PresetOutput
from tests.support.data import captured

OUTPUT = captured("presets/db.out")


def output(tmp_path: FilePath, rtt_ms: float, **values: str) -> PresetOutput:
    """The captured output, as that of two clients on a path of an RTT."""
    (tmp_path / "client.out").write_text(OUTPUT)
    defaults = {one.name: one.default for one in PRESET.parameters}
    plan = RunRequest(rtt=f"{rtt_ms}ms").plan()
    return PresetOutput(tmp_path, plan, {**defaults, "clients": "2", **values})


def test_a_report_has_its_numbers_and_each_transaction() -> None:
    report = parse(OUTPUT)
    assert (report.tps, report.latency_mean_ms, report.connect_ms) == (4.999346, 400.052, 200.048)
    assert [one.client for one in report.transactions] == [0, 1, 0, 1, 0, 1]
    # The second transaction waits for the lock of the branch that the first one has
    assert [round(one.latency_ms) for one in report.transactions[:2]] == [350, 500]
    assert report.latency_p99_ms == pytest.approx(492.56, abs=0.01)


@pytest.mark.parametrize("text", ["", OUTPUT.split("transactions\n0")[0], OUTPUT + "1 2\n"])
def test_an_output_without_its_parts_is_refused(text: str) -> None:
    with pytest.raises(LabFailedError):
        parse(text)


@pytest.mark.parametrize(
    ("values", "rtt_ms", "tps"),
    [
        # Seven statements of each client, at 50 ms each
        ({}, 50.0, 2 / 0.35),
        # One statement; locks have no part in it
        ({"script": "select-only", "scale": "1"}, 50.0, 40.0),
        # A branch is locked for two round trips, whatever the clients
        ({"scale": "1", "clients": "9"}, 50.0, 10.0),
        ({}, 0.0, math.inf),
    ],
)
def test_round_trips_bound_the_transactions(
    tmp_path: FilePath, values: dict[str, str], rtt_ms: float, tps: float
) -> None:
    assert tps_bound(output(tmp_path, rtt_ms, **values))[0] == pytest.approx(tps)


def test_the_captured_run_keeps_its_bounds_and_would_violate_those_of_a_longer_path(
    tmp_path: FilePath,
) -> None:
    assert all(one.holds for one in PRESET.findings(output(tmp_path, 50.0)))
    violated = [one.key for one in PRESET.findings(output(tmp_path, 100.0)) if not one.holds]
    assert violated == ["tps", "latency_mean_ms", "connect_ms"]


def test_on_a_path_without_delay_nothing_is_bound(tmp_path: FilePath) -> None:
    assert {one.bound for one in PRESET.findings(output(tmp_path, 0.0))} == {None}
