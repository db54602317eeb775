"""Campaign tables: measured beside published, with intervals, deviations and goals."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farpath.analysis.paper_stacks import labels_by_paper_name, paper_names
from farpath.analysis.results import ResultSet, result_set_of
from farpath.base.errors import BadInputError
from farpath.report.tables import agreement, formats
from farpath.report.tables import campaign as campaign_tables
from farpath.report.tables.formats import ResultTable
from tests.unit.campaigns import changed, published_campaign, run_of, set_figures

STACKS = st.sampled_from(paper_names())


def _numbers(of: ResultTable) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(formats.as_csv(of))))


def _rows(of: ResultTable, kind: str) -> list[tuple[str, ...]]:
    return [row for row in of.text.rows if row[1] == kind]


@pytest.mark.parametrize("table", [campaign_tables.table_1, campaign_tables.table_2])
def test_published_numbers_taken_as_measured_deviate_by_nothing(table: object) -> None:
    made: ResultTable = table(published_campaign(), "cern")  # type: ignore[operator]
    for row in _rows(made, "deviation"):
        assert set(re.findall(r"[\d.]+", "".join(row[2:]))) <= {"0", "0.0", "0.00"}
    found = [
        float(value)
        for row in _numbers(made)
        for key, value in row.items()
        if "deviation" in key or "half_width" in key
    ]
    assert found
    assert found == pytest.approx([0.0] * len(found), abs=1e-9)


def test_table_1_has_the_nine_stacks_in_the_papers_order_each_with_its_numbers() -> None:
    made = campaign_tables.table_1(published_campaign(), "cern")
    assert [row[0] for row in _rows(made, "measured")] == list(paper_names())
    assert [row[1] for row in made.text.rows[:4]] == ["measured", "±", "published", "deviation"]
    assert made.text.rows[2][2:] == ("248", "163", "0.66", "0.60", "0.99", "0.02", "0.63", "22")
    assert "3 seeds" in made.text.title
    reno = _numbers(made)[0]
    assert (reno["stack"], reno["seeds"], reno["mean_mbps"]) == ("Reno", "3", "248.0")
    assert reno["cpu_util_as_printed"] == "0.02"


def _three_means() -> ResultSet:
    campaign = published_campaign()
    for seed, mean_bps in ((1, 200e6), (2, 210e6), (3, 220e6)):
        campaign = changed(campaign, set_figures("Reno", seed=seed, mean_bps=mean_bps))
    return campaign


def test_measured_is_the_mean_over_seeds_with_students_interval() -> None:
    made = campaign_tables.table_1(_three_means(), "cern")
    assert [row[2] for row in made.text.rows[:4]] == ["210.0", "24.8", "248", "-15 %"]
    numbers = _numbers(made)[0]
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
        assert "Not run: UDTv2." in made.text.note
        assert set(_rows(made, "measured")[-1][2:]) == {"-"}
        assert [row[1] for row in made.text.rows[-2:]] == ["measured", "published"]
        assert "1 seed" in made.text.title
    assert _numbers(made)[-1]["stability"] == ""


def test_a_path_whose_tables_are_not_printed_says_so_and_has_measured_rows_only() -> None:
    for table in (campaign_tables.table_1, campaign_tables.table_2):
        made = table(published_campaign(), "ufl")
        assert {row[1] for row in made.text.rows} == {"measured", "±"}
        assert "prints it for cern only" in made.text.note


def test_columns_on_cpu_come_from_runs_that_counted_it_and_say_which() -> None:
    runs = [dataclasses.replace(run, summary=dataclasses.replace(
        run.summary, cpu_percent=None, mhz_per_mbps=None)) for run in published_campaign().runs
    ]  # fmt: skip
    without = campaign_tables.table_1(result_set_of(runs), "cern")
    assert without.text.rows[0][7:9] == ("-", "-")
    assert "no run in which it was counted" in without.text.note
    counted = run_of(
        "Reno", "cern-slow", clock="wall", region_s=30.0, rate_bps=1e8, cpu_percent=50.0,
        mhz_per_mbps=0.7,
    )  # fmt: skip
    with_cpu = campaign_tables.table_1(result_set_of(runs, [counted]), "cern")
    assert with_cpu.text.rows[0][7:9] == ("50.0", "0.70")
    note = with_cpu.text.note
    assert "1 run of the host lab, path cern-slow of 100 Mbit/s with regions of 30 s;" in note
    assert "one cycle by /proc/cpuinfo's MHz a second" in note
    counting = dataclasses.replace(counted, processor="QEMU", cycles="instructions")
    note = campaign_tables.table_1(result_set_of(runs, [counting]), "cern").text.note
    assert "of the host lab on QEMU" in note
    assert "A hertz there is one instruction a second" in note


def test_what_was_measured_otherwise_than_published_stands_below_the_table() -> None:
    campaign = changed(
        published_campaign(),
        lambda run: dataclasses.replace(
            run, summary=dataclasses.replace(run.summary, region_s=30.0, era="modern")
        ),
    )
    note = campaign_tables.table_1(campaign, "cern").text.note
    assert "regions of 120 s, measured with 30 s" in note
    assert "measured with today's" in note


def test_mixed_records_mark_every_table() -> None:
    campaign = changed(
        published_campaign(), lambda run: dataclasses.replace(run, kernel=f"6.{run.seed}")
    )
    sheets = agreement.all_tables(campaign)
    assert len(sheets) == 9
    assert [made.name for made in sheets if "MIXED: records of different kernel" not in
            made.text.note] == []  # fmt: skip


def test_the_published_means_over_stacks_are_those_of_table_1() -> None:
    made = campaign_tables.path_means(published_campaign())
    assert made.text.rows[6:] == (
        ("cern", "measured", "0.42 ± 0.00", "0.77 ± 0.00", "9"),
        ("", "published", "0.42", "0.77", "9"),
        ("", "deviation", "+0.00", "+0.00", "-"),
    )


def test_means_over_stacks_are_over_those_that_were_run_and_say_how_many() -> None:
    campaign = result_set_of([run_of("Reno"), run_of("BICTCP"), run_of("BICTCP", seed=2)])
    made = campaign_tables.path_means(campaign)
    # One seed only has both, so there is no interval.
    assert made.text.rows[6] == ("cern", "measured", "0.47", "0.79", "2")
    assert made.text.rows[0] == ("caltech", "measured", "-", "-", "0")
    assert agreement.agreement(campaign).text.rows[-2][1] == "-"


def test_a_deviation_beyond_its_goal_is_marked_and_counted() -> None:
    campaign = changed(published_campaign(), set_figures("Reno", mean_bps=280e6, rtt_std_ms=40.0))
    made = agreement.deviations(campaign, held_out=("Reno", "LTCP"))
    assert made.text.rows[0] == ("Reno (held out)", "+13 % *", "+0.00", "+0.00", "+18.0 ms *")
    assert made.text.rows[-2] == ("within the goal", "8 of 9", "9 of 9", "9 of 9", "8 of 9")
    assert made.text.rows[-1] == ("held out, within", "1 of 2", "2 of 2", "2 of 2", "1 of 2")
    numbers = _numbers(made)
    assert [row["held_out"] for row in numbers].count("yes") == 2
    assert (numbers[0]["mean_mbps_within_goal"], numbers[0]["stability_within_goal"]) == (
        "no", "yes",
    )  # fmt: skip


@given(STACKS, st.floats(0.905, 1.095))
def test_a_mean_within_ten_per_cent_is_within_the_goal(name: str, factor: float) -> None:
    printed = run_of(name).summary.mean_bps
    made = agreement.deviations(result_set_of([run_of(name, mean_bps=factor * printed)]))
    assert made.text.rows[-1][1] == "1 of 1"
    missed = agreement.deviations(result_set_of([run_of(name, mean_bps=1.3 * printed)]))
    assert missed.text.rows[-1][1] == "0 of 1"


def test_ranks_of_the_published_means_agree_and_of_an_incomplete_campaign_are_unknown() -> None:
    campaign = published_campaign()
    assert agreement.rank_correlation(campaign) == pytest.approx(1.0)
    swapped = changed(campaign, set_figures("Scalable", mean_bps=100e6))
    # Scalable falls from rank 1 to 9, eight others rise by one: 1 - 6 x 72 / 720.
    assert agreement.rank_correlation(swapped) == pytest.approx(1 - 6 * (64 + 8) / 720)
    assert math.isnan(agreement.rank_correlation(result_set_of(campaign.of("cern", "udt"))))


def test_the_agreement_says_which_goals_are_met() -> None:
    made = agreement.agreement(published_campaign(), ("HSTCP",))
    rows = {row[0]: row[1:] for row in made.text.rows}
    assert rows["Spearman's rank correlation of the means at CERN"] == (
        "1.00", "at least 0.9", "yes",
    )  # fmt: skip
    assert rows["held-out stacks: S, within 0.15"] == ("1 of 1", "most", "yes")
    assert rows["cern: mean S off 0.42"] == ("0.00", "at most 0.1", "yes")
    assert rows["caltech: mean S off 0.21"] == ("0.21", "at most 0.1", "no")
    assert rows["claims decided, of 30"] == ("20", "at least 24", "no")


def test_the_form_of_2004_stands_for_the_papers_stack_where_both_were_run() -> None:
    modern = run_of("Reno", stack="reno", era="modern")
    assert labels_by_paper_name(result_set_of([modern])) == {"Reno": "reno"}
    assert labels_by_paper_name(result_set_of([modern, run_of("Reno")])) == {"Reno": "reno_2004"}
    tuned = run_of("Fast-TCP", stack="fast:alpha=200")
    other_test = run_of("HTCP", schedule="two-flows")
    too_short = run_of("UDTv2", regions=run_of("UDTv2").summary.regions[:3])
    assert labels_by_paper_name(result_set_of([tuned, other_test, too_short])) == {}


def test_a_path_or_a_stack_that_is_not_there_is_refused_with_what_there_is() -> None:
    with pytest.raises(BadInputError, match="'mars': it must be one of caltech, cern, ufl"):
        agreement.all_tables(published_campaign(), "mars")
    with pytest.raises(BadInputError, match=r"none of the paper's stacks.* there are cubic"):
        agreement.all_tables(result_set_of([run_of("Reno", stack="cubic")]))
    with pytest.raises(BadInputError, match="'quic' is none of the paper's stacks"):
        agreement.parse_paper_stacks(["quic"])


def test_held_out_stacks_are_known_by_the_papers_name_and_by_label() -> None:
    assert agreement.parse_paper_stacks(["ltcp", "HSTCP", "bic_2004"]) == (
        "HSTCP",
        "LTCP",
        "BICTCP",
    )
