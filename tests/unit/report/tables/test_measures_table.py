"""Tables of studies: theory and published beside the measured."""

from __future__ import annotations

import dataclasses

from experiments.response_function import analysis as response
from farpath.metrics.measures import Measure
from farpath.report.tables.measures_table import measure_tables
from tests.support.study_measures import measure


def test_a_table_has_theory_and_published_beside_the_measured() -> None:
    (sheet,) = measure_tables(
        [measure("recovery", "time", 1500.0, theory=1387.0, published="rec-1")]
    )
    row = sheet.lines[0]
    assert row[2:7] == ("1,500 s", "1,387", "+8 %", "1,380", "+9 %")
    assert sheet.data[0][5:9] == (1500.0, 1387.0, 1380.0, "rec-1")


def test_runs_that_differ_in_their_seed_share_a_row_with_their_mean_and_interval() -> None:
    of_seeds = [
        dataclasses.replace(measure("rtt-bias", "ratio", value), seed=seed)
        for seed, value in enumerate((1.0, 2.0, 3.0), start=1)
    ]
    (sheet,) = measure_tables([*of_seeds, measure("rtt-bias", "utilisation", 0.9)])
    assert [row[1:3] for row in sheet.lines] == [
        ("ratio", "2 ± 2.5 s"),
        ("utilisation", "0.9 s"),
    ]
    assert "interval over seeds" in sheet.note
    assert [row[4:6] for row in sheet.data] == [(1, 1.0), (2, 2.0), (3, 3.0), (1, 0.9)]


def test_a_table_of_response_functions_has_a_deviation_where_losses_hold_the_window() -> None:
    def of(drop: str, limit: str) -> list[Measure]:
        about = {"path": "mb-ng", "stack": "ltcp", "drop": drop, "limit": limit}
        return [
            measure(response.EXPERIMENT, response.WINDOW, 110.0, theory=100.0, about=about),
            measure(response.EXPERIMENT, response.THROUGHPUT, 250.0, about=about),
        ]

    known = [*of("random:1e-3", response.BY_LOSS), *of("random:1e-5", "path")]
    (sheet,) = measure_tables(known, {})
    assert sheet.header == ("path", "stack", "random:1e-3", "random:1e-5")
    assert sheet.lines == (("mb-ng", "ltcp", "250 (+10 %)", "250"),)
    assert len(sheet.data) == 4
