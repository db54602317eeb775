"""Campaign tables: measured beside published, with intervals, deviations and goals."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import pytest

from experiments.seven_regions import agreement
from experiments.seven_regions import tables as campaign_tables
from experiments.seven_regions.paper_stacks import paper_names
from farpath.metrics.results import ResultSet, result_set_of
from farpath.report.table import Table
from tests.support.campaigns import changed, published_campaign, run_of, set_figures
from tests.support.sheets import numbers_of


def _rows(of: Table, kind: str) -> list[tuple[str, ...]]:
    return [row for row in of.lines if row[1] == kind]


@pytest.mark.parametrize("table", [campaign_tables.table_1, campaign_tables.table_2])
def test_published_numbers_taken_as_measured_deviate_by_nothing(
    table: Callable[[ResultSet, str], Table],
) -> None:
    made = table(published_campaign(), "cern")
    for row in _rows(made, "deviation"):
        assert set(re.findall(r"[\d.]+", "".join(row[2:]))) <= {"0", "0.0", "0.00"}
    deviations = [
        float(value)
        for row in numbers_of(made)
        for key, value in row.items()
        if "deviation" in key or "half_width" in key
    ]
    assert deviations
    assert deviations == pytest.approx([0.0] * len(deviations), abs=1e-9)


def test_table_1_has_the_nine_stacks_in_the_papers_order_each_with_its_numbers() -> None:
    made = campaign_tables.table_1(published_campaign(), "cern")
    assert [row[0] for row in _rows(made, "measured")] == list(paper_names())
    assert [row[1] for row in made.lines[:4]] == ["measured", "±", "published", "deviation"]
    assert made.lines[2][2:] == (
        "248",
        "248",
        "163",
        "0.66",
        "0.66",
        "0.60",
        "0.99",
        "0.02",
        "0.63",
        "22",
    )
    assert "3 seeds" in made.title
    reno = numbers_of(made)[0]
    assert (reno["stack"], reno["seeds"], reno["mean_mbps"]) == ("Reno", "3", "248.0")
    assert reno["cpu_util_as_printed"] == "0.02"


def _three_means() -> ResultSet:
    campaign = published_campaign()
    for seed, mean_bps in ((1, 200e6), (2, 210e6), (3, 220e6)):
        campaign = changed(campaign, set_figures("Reno", seed=seed, mean_bps=mean_bps))
    return campaign


def test_measured_is_the_mean_over_seeds_with_students_interval() -> None:
    made = campaign_tables.table_1(_three_means(), "cern")
    assert [row[2] for row in made.lines[:4]] == ["210.0", "24.8", "248", "-15 %"]
    numbers = numbers_of(made)[0]
    assert float(numbers["mean_mbps_half_width_95"]) == pytest.approx(24.84, abs=0.005)
    assert float(numbers["mean_mbps_deviation_percent"]) == pytest.approx(-15.32, abs=0.005)


def test_one_seed_has_no_interval_and_a_stack_that_was_not_run_is_named() -> None:
    campaign = result_set_of(
        run for run in published_campaign(seeds=[1]).runs if run.stack != "udt"
    )
    for made in (
        campaign_tables.table_1(campaign, "cern"),
        campaign_tables.table_2(campaign, "cern"),
    ):
        assert _rows(made, "±") == []
        assert "Not run: UDTv2." in made.note
        assert set(_rows(made, "measured")[-1][2:]) == {"-"}
        assert [row[1] for row in made.lines[-2:]] == ["measured", "published"]
        assert "1 seed" in made.title
    assert numbers_of(made)[-1]["stability"] == ""


def test_a_path_whose_tables_are_not_printed_says_so_and_has_measured_rows_only() -> None:
    for table in (campaign_tables.table_1, campaign_tables.table_2):
        made = table(published_campaign(), "ufl")
        assert {row[1] for row in made.lines} == {"measured", "±"}
        assert "prints it for cern only" in made.note


def test_columns_on_cpu_come_from_runs_that_counted_it_and_say_which() -> None:
    runs = [dataclasses.replace(run, summary=dataclasses.replace(
        run.summary, cpu_percent=None, mhz_per_mbps=None)) for run in published_campaign().runs
    ]  # fmt: skip
    without = campaign_tables.table_1(result_set_of(runs), "cern")
    assert without.lines[0][9:11] == ("-", "-")
    assert "no run in which it was counted" in without.note
    counted = run_of(
        "Reno", "cern-slow", clock="wall", region_s=30.0, rate_bps=1e8, cpu_percent=50.0,
        mhz_per_mbps=0.7,
    )  # fmt: skip
    with_cpu = campaign_tables.table_1(result_set_of(runs, [counted]), "cern")
    assert with_cpu.lines[0][9:11] == ("50.0", "0.70")
    note = with_cpu.note
    assert "1 run of the host lab, path cern-slow of 100 Mbit/s with regions of 30 s;" in note
    assert "one cycle by /proc/cpuinfo's MHz a second" in note
    counting = dataclasses.replace(counted, processor="QEMU", cycles="instructions")
    note = campaign_tables.table_1(result_set_of(runs, [counting]), "cern").note
    assert "of the host lab on QEMU" in note
    assert "A hertz there is one instruction a second" in note


def test_what_was_measured_otherwise_than_published_stands_below_the_table() -> None:
    campaign = changed(
        published_campaign(),
        lambda run: dataclasses.replace(
            run, summary=dataclasses.replace(run.summary, region_s=30.0, era="modern")
        ),
    )
    note = campaign_tables.table_1(campaign, "cern").note
    assert "regions of 120 s, measured with 30 s" in note
    assert "measured with today's" in note


def test_the_published_means_over_stacks_are_those_of_table_1() -> None:
    made = campaign_tables.path_means(published_campaign())
    assert made.lines[6:] == (
        ("cern", "measured", "0.42 ± 0.00", "0.77 ± 0.00", "9"),
        ("", "published", "0.42", "0.77", "9"),
        ("", "deviation", "+0.00", "+0.00", "-"),
    )


def test_means_over_stacks_are_over_those_that_were_run_and_say_how_many() -> None:
    campaign = result_set_of([run_of("Reno"), run_of("BICTCP"), run_of("BICTCP", seed=2)])
    made = campaign_tables.path_means(campaign)
    # One seed only has both, so there is no interval.
    assert made.lines[6] == ("cern", "measured", "0.47", "0.79", "2")
    assert made.lines[0] == ("caltech", "measured", "-", "-", "0")
    assert agreement.agreement(campaign).lines[-2][1] == "-"
