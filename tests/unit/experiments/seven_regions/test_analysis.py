"""Claims: each verdict against figures set by hand, and who may not decide."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from experiments.seven_regions.paper_stacks import paper_names
from farpath.metrics.results import ResultSet, RunSummary, result_set_of
from farpath.runs.claims import (
    FAILS,
    HOLDS,
    UNDECIDED,
    ClaimVerdict,
    count_states,
    judge,
    judge_all,
)
from farpath.runs.claims.claim import claims
from farpath.runs.claims.claim_rules import measure_rules, run_rules
from tests.support.campaigns import (
    Change,
    changed,
    published_campaign,
    run_of,
    set_figures,
    set_regions,
)

CLAIMS = {claim.id: claim for claim in claims()}
#: What the published tables themselves decide, the single values of CERN being printed.
BY_TABLE = (
    "C1", "C7", "C9", "C10", "C11", "C12", "C13", "C15", "C16", "C18", "C29", "C32", "C35",
)  # fmt: skip


def _verdict(identity: str, *changes: Change, campaign: ResultSet | None = None) -> ClaimVerdict:
    campaign = campaign or published_campaign()
    for change in changes:
        campaign = changed(campaign, change)
    return judge(CLAIMS[identity], campaign)


def test_every_claim_has_a_rule_an_experiment_with_one_or_the_reason_why_it_has_neither() -> None:
    assert [claim.id for claim in claims()] == [f"C{number}" for number in range(1, 50)]
    undecidable = {claim.id for claim in claims() if claim.undecidable}
    ruled = [*run_rules(), *measure_rules()]
    assert len(ruled) == len(set(ruled))
    assert set(CLAIMS) == {*ruled, *undecidable}
    assert {claim.id for claim in claims() if claim.runs} == set(measure_rules())


@pytest.mark.parametrize("identity", BY_TABLE)
def test_what_the_paper_claims_holds_of_its_own_tables(identity: str) -> None:
    verdict = _verdict(identity)
    assert (verdict.state, verdict.why) == (HOLDS, "")
    assert verdict.by_seed == {1: HOLDS, 2: HOLDS, 3: HOLDS}
    assert verdict.criteria


def _along(s: float, f: float, path: str) -> Change:
    """What sets S and the smallest F of all stacks on a path."""

    def change(run: RunSummary) -> RunSummary:
        if run.path != path:
            return run
        return dataclasses.replace(
            run, summary=dataclasses.replace(run.summary, stability=s, fairness_min=f)
        )

    return change


#: For a claim, changes of the published figures with which it holds, then some with which not.
CASES: dict[str, tuple[list[Change], list[Change]]] = {
    "C1": ([], [set_figures("Reno", mean_bps=0.76 * 423e6)]),
    "C2": (
        [_along(0.2, 0.9, "caltech")],
        [_along(0.2, 0.84, "caltech")],
    ),
    "C3": ([_along(0.2, 0.9, "caltech"), _along(0.3, 0.9, "ufl")], [_along(0.2, 0.9, "caltech")]),
    "C4": ([_along(0.2, 0.9, "caltech"), _along(0.3, 0.8, "ufl")], [_along(0.2, 0.9, "caltech")]),
    "C5": (
        [set_regions("Reno", [7], mean_bps=0.79 * 248e6)],
        # Other traffic takes as much from every stack
        [set_regions(name, [7], mean_bps=150e6) for name in ("Reno", "HTCP")],
    ),
    "C6": (
        [set_figures("Reno", rtt_p99_ms=1.25 * 164)],
        [set_figures("Reno", rtt_p99_ms=1.51 * 164)],
    ),
    "C7": ([], [set_figures("HTCP", fairness_min=0.59)]),
    "C8": (
        [set_regions("HTCP", [4], rtt_max_ms=300.0, rtt_std_ms=60.0)],
        # A buffer that is never empty
        [set_regions("HTCP", [3, 4, 5], rtt_max_ms=350.0, rtt_std_ms=60.0, rtt_min_ms=200.0)],
    ),
    "C9": ([], [set_figures("UDTv2", rtt_std_ms=8.0)]),
    "C10": ([], [set_regions("Fast-TCP", [2], fairness=0.8)]),
    "C11": ([], [set_figures("UDTv2", stability=0.28 + 0.16)]),
    "C12": ([set_figures("UDTv2", mean_bps=440e6)], [set_figures("LTCP", mean_bps=403e6)]),
    "C13": ([], [set_figures("UDTv2", mean_bps=254e6)]),
    "C14": (
        [set_regions(name, [5, 6, 7], mean_bps=200e6) for name in ("Reno", "HSTCP", "HSTCP-LP")],
        # Every stack loses as much
        [set_regions(name, [5, 6, 7], mean_bps=100e6) for name in paper_names()],
    ),
    "C15": ([set_figures("UDTv2", stability=0.31)], [set_figures("LTCP", stability=0.70),
            set_figures("Fast-TCP", stability=0.69)]),
    "C16": ([], [set_figures("UDTv2", fairness_min=0.995), set_figures("LTCP", fairness_min=1.0)]),
    "C18": ([set_figures("HSTCP", mhz_per_mbps=9.0)], [set_figures("LTCP", mhz_per_mbps=1.0)]),
    "C29": ([], [set_regions("HTCP", [2], fairness=0.98)]),
    "C30": (
        [set_regions("Reno", [5, 6, 7], mean_bps=190e6)],
        [set_regions("Reno", [7], mean_bps=380e6)],
    ),
    "C31": (
        [set_regions("HTCP", [3, 4, 5], mean_bps=410e6)],
        [set_regions("HTCP", [1, 2, 6, 7], mean_bps=410e6)],
    ),
    "C32": ([], [set_regions("HTCP", [2, 6], stability=0.9)]),
    "C33": (
        [set_regions("HTCP", [2, 3, 4, 5, 6], mean_bps=410e6)],
        [set_regions("HTCP", [2, 3, 4, 5, 6, 7], mean_bps=410e6)],
    ),
    "C35": ([], [set_figures("BICTCP", rtt_std_ms=120.0)]),
    "C36": (
        [set_regions("Reno", [2, 3, 4], flow_means_bps=(100e6, 101e6))],
        [set_regions("Reno", [2, 3, 4], flow_means_bps=(101e6, 100e6))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("identity", CASES)
def test_a_claim_holds_on_one_side_of_its_threshold_and_fails_on_the_other(identity: str) -> None:
    holding, failing = CASES[identity]
    assert _verdict(identity, *holding).state == HOLDS
    assert _verdict(identity, *failing).state == FAILS


def test_every_claim_that_has_a_rule_has_such_a_case() -> None:
    decidable = {name for name in run_rules() if not CLAIMS[name].undecidable}
    assert set(CASES) == decidable


def test_regions_count_by_their_length() -> None:
    # 4 minutes of 100 and 4 of 300 Mbit/s: 200 in regions 2 to 4.
    low = set_regions("Reno", [4], mean_bps=100e6)
    high = set_regions("Reno", [2, 3], mean_bps=300e6)
    later = set_regions("Reno", [5, 6, 7], mean_bps=199e6)
    condition = _verdict("C30", low, high, later).criteria[2].condition
    assert condition.value == pytest.approx(1 - 199 / 200)


def test_the_rankings_say_who_stands_where_and_whether_others_stand_among_the_named() -> None:
    (remark,) = _verdict("C16").remarks
    assert remark.startswith("min F: HTCP 0.99, BICTCP 0.98, UDTv2 0.95")
    assert remark.endswith("; other stacks stand among the named groups")
    strict = [set_figures("LTCP", fairness_min=0.9)]
    assert "no other stack stands" in _verdict("C16", *strict).remarks[0]
    assert "; other stacks stand" in _verdict("C15").remarks[0]  # Scalable's 0.27


def test_neighbours_in_a_ranking_are_told_apart_by_the_seeds_interval_and_not_by_their_votes() -> (
    None
):
    def htcp_second_of_those_not_named(*by_seed: float) -> Change:
        def change(run: RunSummary) -> RunSummary:
            return set_figures("HTCP", stability=0.33 - by_seed[run.seed - 1])(run)

        return change

    # Fast-TCP's S is 0.33, the second best of those that the claim does not name
    assert _verdict("C15", htcp_second_of_those_not_named(0.01, 0.05, 0.12)).state == UNDECIDED
    assert _verdict("C15", htcp_second_of_those_not_named(0.05, 0.05, 0.06)).state == HOLDS


def test_a_verdict_says_if_a_path_was_fitted_to_that_and_if_few_seeds_decide_it() -> None:
    assert _verdict("C12").fitted == ""
    assert "rows of Reno, Scalable" in _verdict("C1").fitted
    assert "fitted to FAST's rows" in _verdict("C10").fitted
    three, one = _verdict("C1"), _verdict("C1", campaign=published_campaign(seeds=[1]))
    assert (three.by_few_seeds, one.by_few_seeds) == (False, True)
    assert (three.seeds(), one.seeds()) == ("3 of 3 seeds", "decided by one run")


def test_a_claim_whose_runs_are_missing_is_undecided_and_names_them() -> None:
    campaign = published_campaign()
    gone = result_set_of(
        run for run in campaign.runs if (run.path, run.stack) not in
        {("cern", "udt"), ("cern", "reno_2004")}
    )  # fmt: skip
    verdict = _verdict("C13", campaign=gone)
    assert verdict.state == UNDECIDED
    assert verdict.why == "missing runs on path cern: Reno, UDTv2"
    assert _verdict("C3", campaign=result_set_of(gone.of("cern", "fast"))).why == (
        "missing runs on path caltech: all stacks; missing runs on path ufl: all stacks; "
        "missing runs on path cern: Reno, HSTCP, HTCP, Scalable, LTCP, HSTCP-LP, BICTCP, UDTv2"
    )
    # What needs others only is decided still.
    assert _verdict("C10", campaign=gone).state == HOLDS
    nothing = judge_all(result_set_of([]))
    assert count_states(nothing) == {HOLDS: 0, FAILS: 0, UNDECIDED: 49}
    assert [verdict.id for verdict in nothing if not verdict.why] == []


def test_cpu_is_not_judged_where_it_was_not_counted() -> None:
    verdict = _verdict(
        "C18",
        lambda run: dataclasses.replace(
            run, summary=dataclasses.replace(run.summary, mhz_per_mbps=None)
        ),
    )
    assert verdict.state == UNDECIDED
    assert "with CPU counted" in verdict.why


def test_cpu_runs_of_another_length_and_seed_decide_the_claims_on_cpu() -> None:
    without = changed(
        published_campaign(),
        lambda run: dataclasses.replace(
            run, summary=dataclasses.replace(run.summary, mhz_per_mbps=None)
        ),
    )
    counted = [
        dataclasses.replace(run, summary=dataclasses.replace(run.summary, region_s=30.0))
        for run in published_campaign(seeds=[9], paths=["cern"]).runs
    ]
    campaign = result_set_of(without.runs, counted)
    verdict = _verdict("C18", campaign=campaign)
    assert (verdict.state, verdict.by_seed) == (HOLDS, {9: HOLDS})


def _share(*by_seed: float) -> list[Change]:
    """F of region 2 of FAST for each seed, of which C10 wants below 0.8."""

    def change(run: RunSummary) -> RunSummary:
        setter = set_regions("Fast-TCP", [2], fairness=by_seed[run.seed - 1])
        return setter(run)

    return [change]


def test_seeds_that_disagree_leave_a_claim_undecided_if_the_interval_holds_zero() -> None:
    verdict = _verdict("C10", *_share(0.70, 0.79, 0.82))
    assert verdict.state == UNDECIDED
    assert "2 of 3 seeds" in verdict.why
    assert verdict.by_seed == {1: HOLDS, 2: HOLDS, 3: FAILS}
    assert verdict.seeds() == "seed 1 holds, seed 2 holds, seed 3 fails"


def test_five_seeds_that_agree_decide_and_so_does_a_margin_whose_interval_leaves_zero_out() -> None:
    # The interval of 0.05, 0.4 and 0.79 below 0.8 holds zero, and three agree often by chance.
    verdict = _verdict("C10", *_share(0.05, 0.4, 0.79))
    assert verdict.state == UNDECIDED
    assert "3 of 3 seeds" in verdict.why
    five = changed(published_campaign(seeds=range(1, 6)), _share(0.05, *[0.79] * 4)[0])
    assert _verdict("C10", campaign=five).state == HOLDS
    seeds = range(1, 11)
    many = changed(published_campaign(seeds=seeds), _share(*[0.5] * 9, 0.81)[0])
    verdict = _verdict("C10", campaign=many)
    assert verdict.state == HOLDS
    assert "seed 10 fails" in verdict.seeds()


def test_one_clear_failure_decides_though_another_condition_is_open() -> None:
    def change(run: RunSummary) -> RunSummary:
        run = set_figures("HTCP", stability=(0.6, 0.65, 0.70)[run.seed - 1])(run)
        return set_figures("HTCP", fairness_min=0.5)(run)

    verdict = _verdict("C7", change)
    assert verdict.state == FAILS
    assert not verdict.criteria[0].clear


def test_a_figure_that_is_not_defined_leaves_its_claim_undecided() -> None:
    verdict = _verdict("C9", set_figures("Fast-TCP", rtt_std_ms=math.nan))
    assert verdict.state == UNDECIDED
    assert "is not defined" in verdict.why
    json.dumps(verdict.as_dict(), allow_nan=False)


def test_stacks_without_a_common_seed_do_not_decide() -> None:
    campaign = result_set_of([run_of("HTCP", seed=1), run_of("Reno", seed=2)])
    verdict = _verdict("C7", campaign=campaign)
    assert verdict.state == UNDECIDED
    assert "no seed has all the runs" in verdict.why


def test_verdicts_are_plain_json_with_every_seeds_numbers() -> None:
    data = json.loads(json.dumps(_verdict("C1").as_dict(), allow_nan=False))
    assert (data["id"], data["state"], data["seeds"]["3"]) == ("C1", "holds", "holds")
    (condition,) = data["conditions"]
    assert (condition["relation"], condition["limit"]) == ("<", 0.75)
    assert condition["value"] == pytest.approx(248 / 423)
    assert condition["seeds"]["2"]["value"] == pytest.approx(248 / 423)
    assert condition["margin"] == pytest.approx(0.75 - 248 / 423)
