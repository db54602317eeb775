"""Agreement with the published tables: deviations, ranks and goals."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.seven_regions import agreement
from experiments.seven_regions.distances import rank_correlation
from experiments.seven_regions.paper_stacks import paper_names
from farpath.base.errors import BadInputError
from farpath.metrics.results import result_set_of
from tests.support.campaigns import (
    changed,
    published_campaign,
    run_of,
    set_figures,
    set_regions,
)
from tests.support.sheets import numbers_of

STACKS = st.sampled_from(paper_names())


def test_mixed_records_mark_every_table() -> None:
    campaign = changed(
        published_campaign(), lambda run: dataclasses.replace(run, kernel=f"6.{run.seed}")
    )
    sheets = agreement.all_tables(campaign)
    assert len(sheets) == 9
    assert [
        made.name for made in sheets if "MIXED: records of different kernel" not in made.note
    ] == []


def test_a_deviation_beyond_its_goal_is_marked_and_counted() -> None:
    campaign = changed(published_campaign(), set_figures("Reno", mean_bps=280e6, rtt_std_ms=40.0))
    made = agreement.deviations(campaign, held_out=("Reno", "LTCP"))
    assert made.lines[0] == ("Reno (held out)", "+13 % *", "+0.00", "+0.00", "+18.0 ms *")
    assert made.lines[-2] == ("within the goal", "8 of 9", "9 of 9", "9 of 9", "8 of 9")
    assert made.lines[-1] == ("held out, within", "1 of 2", "2 of 2", "2 of 2", "1 of 2")
    numbers = numbers_of(made)
    assert [row["held_out"] for row in numbers].count("yes") == 2
    assert (numbers[0]["mean_mbps_within_goal"], numbers[0]["stability_within_goal"]) == (
        "no",
        "yes",
    )


@given(STACKS, st.floats(0.905, 1.095))
def test_a_mean_within_ten_per_cent_is_within_the_goal(name: str, factor: float) -> None:
    printed = run_of(name).summary.mean_bps
    made = agreement.deviations(result_set_of([run_of(name, mean_bps=factor * printed)]))
    assert made.lines[-1][1] == "1 of 1"
    missed = agreement.deviations(result_set_of([run_of(name, mean_bps=1.3 * printed)]))
    assert missed.lines[-1][1] == "0 of 1"


def test_ranks_of_the_published_means_agree_and_of_an_incomplete_campaign_are_unknown() -> None:
    campaign = published_campaign()
    assert rank_correlation(campaign) == pytest.approx(1.0)
    swapped = changed(campaign, set_figures("Scalable", mean_bps=100e6))
    # Scalable falls from rank 1 to 9, eight others rise by one: 1 - 6 x 72 / 720.
    assert rank_correlation(swapped) == pytest.approx(1 - 6 * (64 + 8) / 720)
    assert math.isnan(rank_correlation(result_set_of(campaign.of("cern", "udt"))))


def test_ranks_of_the_published_regions_agree_and_of_an_incomplete_campaign_are_unknown() -> None:
    campaign = published_campaign()
    assert agreement.region_rank_correlation(campaign) == pytest.approx(1.0)
    flat = changed(campaign, set_regions("Reno", range(1, 8), stability=0.01))
    assert 0 < agreement.region_rank_correlation(flat) < 1
    assert math.isnan(agreement.region_rank_correlation(result_set_of(campaign.of("cern", "udt"))))


def test_the_agreement_says_which_goals_are_met() -> None:
    made = agreement.agreement(published_campaign(), ("HSTCP",))
    rows = {row[0]: row[1:] for row in made.lines}
    assert rows["Spearman's rank correlation of the means at CERN"] == (
        "1.000",
        "at least 0.9",
        "yes",
    )
    assert rows["held-out stacks: S, within 0.15"] == ("1 of 1", "all", "yes")
    assert rows["cern: mean S off 0.42"] == ("0.002", "at most 0.1", "yes")
    assert rows["caltech: mean S off 0.21, fitted"] == ("0.208", "at most 0.1", "no")
    assert rows["Spearman's rank correlation of S of the regions at CERN"][1:] == ("no goal", "-")
    assert "no more than by chance (p = 0.22)" in made.note
    assert rows["claims C1 to C30 that hold (7 fail, 11 are undecided)"] == (
        "12",
        "no goal",
        "-",
    )


def test_the_one_mean_that_the_study_printed_twice_is_named() -> None:
    note = agreement.deviations(published_campaign()).note
    assert note.endswith("The study's abstract prints another mean for LTCP (-7 %).")


def test_one_held_out_stack_beyond_its_goal_is_one_too_many() -> None:
    campaign = changed(published_campaign(), set_figures("LTCP", stability=0.9))
    made = agreement.agreement(campaign, ("HSTCP", "LTCP", "UDTv2"))
    rows = {row[0]: row[1:] for row in made.lines}
    assert rows["held-out stacks: S, within 0.15"] == ("2 of 3", "all", "no")


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
