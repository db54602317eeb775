"""Rules that evaluate the claims about the seven-region test.

Each rule is one pure function, entered in ``RUN_CLAIMS`` under its claim's id. Thresholds are
those of ``claims.toml``. Where the words of a claim leave its reading open, the function says which
reading it takes and why.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping

from farpath.metrics.results import ResultSet
from farpath.metrics.run import Summary
from farpath.runs.claims.rules import Criteria, RunRule
from farpath.runs.claims.verdict import Condition, within

from .paper_stacks import UDT, paper_names
from .result_view import ResultView, mean_mbps_of_regions, over_regions, region

CALTECH, UFL, CERN = "caltech", "ufl", "cern"


#: C5: a mean below this fraction of the initial value has not recovered "near" to it.
RECOVERED = 0.8
#: C14: the stacks that the paper names.
SLOW_TO_RECOVER = ("Reno", "HSTCP", "HSTCP-LP")
#: C35: 37 ms, a fifth more or less.
OTHERS_RTT_STD_MS = (29.6, 44.4)

Rule = Callable[[ResultView], Criteria]
#: The rules of all claims that these runs can decide.
RUN_CLAIMS: dict[str, RunRule] = {}


def _decides(claim_id: str) -> Callable[[Rule], Rule]:
    """Enter the decorated function in ``RUN_CLAIMS``."""

    def enter(rule: Rule) -> Rule:
        def of_results(results: ResultSet, seed: int | None = None) -> Criteria:
            return rule(ResultView(results, seed))

        RUN_CLAIMS[claim_id] = of_results
        return rule

    return enter


def mean_mbps(summary: Summary) -> float:
    """Return the aggregate throughput in Mbit/s."""
    return summary.mean_bps / 1e6


def stability(summary: Summary) -> float:
    """Return S, the coefficient of variation, over the whole run."""
    return summary.stability


def fairness(summary: Summary) -> float:
    """Return the smallest F of all regions with several flows: F min of table 1."""
    return summary.fairness_min


def mhz_per_mbps(summary: Summary) -> float:
    """Return the clock cycles per bit of a run in which CPU was counted."""
    assert summary.mhz_per_mbps is not None
    return summary.mhz_per_mbps


def _best(values: Mapping[str, float]) -> str:
    return max(values, key=lambda stack: values[stack])


def _tcp() -> tuple[str, ...]:
    return tuple(name for name in paper_names() if name != UDT)


def _leading(
    quantity: str, unit: str, values: Mapping[str, float], group: Collection[str], largest: bool
) -> Condition:
    """Return the condition that the named stacks have the largest values, or the smallest."""
    members = {stack: values[stack] for stack in group}
    others = {stack: value for stack, value in values.items() if stack not in group}
    sign = 1 if largest else -1
    weakest = min(members, key=lambda stack: sign * members[stack])
    strongest = max(others, key=lambda stack: sign * others[stack])
    relation = ">" if largest else "<"
    return Condition(
        f"{quantity} of {weakest}",
        members[weakest],
        relation,
        others[strongest],
        unit,
        f"{strongest}'s",
    )


def _ranking_criteria(
    quantity: str,
    values: Mapping[str, float],
    best: Collection[str],
    worst: Collection[str],
    sign: int,
) -> Criteria:
    """Return the conditions that named stacks are among the best, or among the worst.

    Each of k named stacks has to be among the first k + 1 from its end of the ranking. One more
    than k is allowed because the paper's own table 1 has one stack among each of its groups that it
    does not name (Scalable by S, LTCP by F). So one stack that is not named may stand before them:
    each is compared with the second of these, and the seeds must tell the two apart. A remark says
    whether the named stacks alone stand there.

    ``sign``: 1 if the largest value is the best, -1 if the smallest is.
    """
    conditions = []
    unmixed = True
    for group, end in ((best, sign), (worst, -sign)):
        outside = {stack: end * value for stack, value in values.items() if stack not in group}
        first, second = sorted(outside, key=lambda stack: -outside[stack])[:2]
        unmixed &= outside[first] < min(end * values[stack] for stack in group)
        conditions += [
            Condition(
                f"{quantity} of {stack}", values[stack], ">=" if end > 0 else "<=", values[second],
                "", f"{second}'s", tell_apart=True,
            )
            for stack in group
        ]  # fmt: skip
    order = sorted(values, key=lambda stack: -sign * values[stack])
    ranking = ", ".join(f"{stack} {values[stack]:.2f}" for stack in order)
    among = "no other stack stands" if unmixed else "other stacks stand"
    return Criteria(tuple(conditions), (f"{quantity}: {ranking}; {among} among the named groups",))


@_decides("C1")
def reno_is_slow(view: ResultView) -> Criteria:
    """C1, CERN: the mean of Reno over the mean of the best of all stacks."""
    means = view.by_stack(CERN, paper_names(), mean_mbps)
    best = _best(means)
    return Criteria(
        (Condition(f"mean of Reno over {best}'s", means["Reno"] / means[best], "<", 0.75),)
    )


@_decides("C2")
def all_do_well_at_the_shortest_rtt(view: ResultView) -> Criteria:
    """C2, Caltech: every stack's F, and the mean S below that of the other paths.

    The published mean F of 0.90 leaves room for a stack with 0.8.
    """
    caltech, *others = view.mean_over_stacks((CALTECH, UFL, CERN), stability)
    fairness_min = view.by_stack(CALTECH, paper_names(), fairness)
    least_fair = min(fairness_min, key=lambda stack: fairness_min[stack])
    return Criteria(
        (
            Condition("Caltech: mean F", statistics.fmean(fairness_min.values()), ">=", 0.85),
            Condition(f"Caltech: smallest F, {least_fair}'s,", fairness_min[least_fair], ">=", 0.8),
            *(
                Condition("mean S at Caltech", caltech, "<", other, "", name)
                for other, name in zip(others, ("UFL", "CERN"), strict=True)
            ),
        )
    )


def _trend_with_rtt(
    view: ResultView, quantity: str, metric: Callable[[Summary], float]
) -> Criteria:
    """Return the conditions that a mean over stacks rises (S) or falls (F) with the RTT."""
    caltech, ufl, cern = view.mean_over_stacks((CALTECH, UFL, CERN), metric)
    relation = "<" if metric is stability else ">"
    return Criteria(
        (
            Condition(f"mean {quantity} at Caltech", caltech, relation, ufl, "", "UFL"),
            Condition(f"mean {quantity} at UFL", ufl, relation, cern, "", "CERN"),
        )
    )


@_decides("C3")
def stability_worsens_with_rtt(view: ResultView) -> Criteria:
    """C3: the mean S over stacks rises, Caltech < UFL < CERN."""
    return _trend_with_rtt(view, "S", stability)


@_decides("C4")
def fairness_worsens_with_rtt(view: ResultView) -> Criteria:
    """C4: the mean over stacks of the smallest F falls: the paper's 0.77 is table 1's mean."""
    return _trend_with_rtt(view, "F", fairness)


@_decides("C5")
def reno_does_not_recover(view: ResultView) -> Criteria:
    """C5, CERN: the mean of region 7 over the best ten seconds of region 1.

    The paper's words are "its initial value". Other traffic takes from that of every stack, so
    H-TCP, whose aggregate the paper shows to recover, has to pass where Reno does not.
    """
    recovered = view.by_stack(
        CERN, ("Reno", "HTCP"), lambda run: region(run, 7).mean_bps / region(run, 1).peak_bps
    )
    quantity = "mean of region 7 over the best 10 s of region 1"
    return Criteria(
        (
            Condition(f"Reno: {quantity}", recovered["Reno"], "<", RECOVERED),
            Condition(f"HTCP: {quantity}", recovered["HTCP"], ">=", RECOVERED),
        )
    )


@_decides("C6")
def reno_extends_the_rtt(view: ResultView) -> Criteria:
    """C6, CERN: the 99th percentile of Reno's ping RTT over the base RTT."""
    ratio = view.of_stack(CERN, "Reno", lambda run: run.rtt_p99_ms / run.base_rtt_ms)
    return Criteria(within("Reno: 99th percentile of RTT over base", ratio, 1.1, 1.5))


@_decides("C7")
def htcp_is_steadier_and_fairer_than_reno(view: ResultView) -> Criteria:
    """C7, CERN: S and smallest F of H-TCP against Reno's."""
    pair = ("HTCP", "Reno")
    stabilities, fairnesses = (
        view.by_stack(CERN, pair, stability),
        view.by_stack(CERN, pair, fairness),
    )
    return Criteria(
        (
            Condition("S of HTCP", stabilities["HTCP"], "<", stabilities["Reno"], "", "Reno's"),
            Condition("min F of HTCP", fairnesses["HTCP"], ">", fairnesses["Reno"], "", "Reno's"),
        )
    )


@_decides("C8")
def htcp_fills_and_empties_the_buffer(view: ResultView) -> Criteria:
    """C8, CERN: ping RTTs of H-TCP in regions 3 to 5, least, largest and how much they vary.

    The path's buffer was chosen so that the largest can be the published 350 ms. That the RTT
    comes back to the idle path's, and varies more than with two flows, is H-TCP's doing.
    """

    def of_htcp(metric: Callable[[Summary], float]) -> float:
        return view.of_stack(CERN, "HTCP", metric)

    many = (3, 4, 5)
    largest_ms = of_htcp(lambda run: max(region(run, number).rtt_max_ms for number in many))
    least_part = of_htcp(
        lambda run: min(region(run, number).rtt_min_ms for number in many) / run.base_rtt_ms
    )
    std_ms, std_of_two_ms = (
        of_htcp(over_regions(numbers, lambda part: part.rtt_std_ms)) for numbers in (many, (2, 6))
    )
    return Criteria(
        (
            Condition("HTCP: largest RTT of regions 3 to 5", largest_ms, ">=", 300, "ms"),
            Condition("HTCP: least RTT of regions 3 to 5 over base", least_part, "<=", 1.1),
            Condition(
                "HTCP: SD(RTT) of regions 3 to 5", std_ms, ">", std_of_two_ms, "ms",
                "regions 2 and 6:",
            ),
        )
    )  # fmt: skip


@_decides("C9")
def fast_holds_the_rtt(view: ResultView) -> Criteria:
    """C9, CERN: SD(RTT) of FAST is below that of all others and below 15 ms."""
    rtt_std_ms = view.by_stack(CERN, paper_names(), lambda run: run.rtt_std_ms)
    return Criteria(
        (
            _leading("SD(RTT)", "ms", rtt_std_ms, ("Fast-TCP",), largest=False),
            Condition("SD(RTT) of Fast-TCP", rtt_std_ms["Fast-TCP"], "<", 15, "ms"),
        )
    )


@_decides("C10")
def fasts_second_flow_lacks_its_share(view: ResultView) -> Criteria:
    """C10, CERN: F of FAST in region 2."""
    region_fairness = view.of_stack(CERN, "Fast-TCP", lambda run: region(run, 2).fairness)
    return Criteria((Condition("Fast-TCP: F of region 2", region_fairness, "<", 0.8),))


@_decides("C11")
def udt_compares_with_the_better_tcps(view: ResultView) -> Criteria:
    """C11, CERN: UDT's S and mean against H-TCP's, and UDT's smallest F."""
    means = view.by_stack(CERN, (UDT, "HTCP"), mean_mbps)
    deviation = abs(means[UDT] / means["HTCP"] - 1)
    stabilities = view.by_stack(CERN, (UDT, "HTCP"), stability)
    distance = abs(stabilities[UDT] - stabilities["HTCP"])
    return Criteria(
        (
            Condition("S of UDTv2 off HTCP's", distance, "<=", 0.15),
            Condition("mean of UDTv2 off HTCP's, as part of it,", deviation, "<=", 0.15),
            Condition("min F of UDTv2", view.of_stack(CERN, UDT, fairness), ">=", 0.9),
        )
    )


@_decides("C12")
def best_throughput(view: ResultView) -> Criteria:
    """C12, CERN: the three largest means among the TCP stacks."""
    means = view.by_stack(CERN, _tcp(), mean_mbps)
    best = ("Scalable", "BICTCP", "HTCP")
    return Criteria((_leading("mean", "Mbit/s", means, best, largest=True),))


@_decides("C13")
def poorest_throughput(view: ResultView) -> Criteria:
    """C13, CERN: the three smallest means among all stacks."""
    means = view.by_stack(CERN, paper_names(), mean_mbps)
    return Criteria(
        (_leading("mean", "Mbit/s", means, ("Reno", "HSTCP-LP", "HSTCP"), largest=False),)
    )


def _slack_conditions(view: ResultView, stacks: Collection[str]) -> tuple[Condition, ...]:
    """Return the conditions that stacks lose more than others when flows leave.

    The part lost is that of the mean of regions 2 to 4 which regions 5 to 7 do not have. Every
    stack may lose some where other traffic is heavier later. So each of the three that the paper
    names has to lose more than each of the other six.
    """
    lost = view.by_stack(
        CERN,
        paper_names(),
        lambda run: 1 - mean_mbps_of_regions(run, (5, 6, 7)) / mean_mbps_of_regions(run, (2, 3, 4)),
    )
    others = {stack: part for stack, part in lost.items() if stack not in SLOW_TO_RECOVER}
    worst = _best(others)
    quantity = "part of regions 2 to 4 lost in 5 to 7"
    return tuple(
        condition
        for stack in stacks
        for condition in (
            Condition(f"{stack}: {quantity}", lost[stack], ">", 0),
            Condition(f"{stack}: {quantity}", lost[stack], ">", others[worst], "", f"{worst}'s"),
        )
    )


@_decides("C14")
def slow_recovery_as_flows_leave(view: ResultView) -> Criteria:
    """C14, CERN: regions 5 to 7 against regions 2 to 4, for each of three stacks."""
    return Criteria(_slack_conditions(view, SLOW_TO_RECOVER))


@_decides("C15")
def most_and_least_stable(view: ResultView) -> Criteria:
    """C15, CERN: the ranking by S, the smallest first."""
    values = view.by_stack(CERN, paper_names(), stability)
    return _ranking_criteria("S", values, ("HTCP", "BICTCP"), ("Reno", "HSTCP"), sign=-1)


@_decides("C16")
def fairest_and_least_fair(view: ResultView) -> Criteria:
    """C16, CERN: the ranking by the smallest F, the largest first."""
    values = view.by_stack(CERN, paper_names(), fairness)
    unfair = ("Reno", "Fast-TCP", "HSTCP", "HSTCP-LP")
    return _ranking_criteria("min F", values, ("HTCP", "BICTCP"), unfair, sign=1)


@_decides("C17")
def udt_needs_twice_the_cpu(view: ResultView) -> Criteria:
    """C17, CERN: MHz per Mbit/s of UDT over the mean of the TCP stacks."""
    cost = view.cpu_by_stack(CERN, paper_names(), mhz_per_mbps)
    tcp = statistics.fmean(cost[stack] for stack in _tcp())
    return Criteria(within("MHz/Mbps of UDTv2 over TCP's mean", cost[UDT] / tcp, 1.5, 3))


@_decides("C18")
def tcps_cost_about_the_same(view: ResultView) -> Criteria:
    """C18, CERN: the spread of MHz per Mbit/s over the TCP stacks except HSTCP."""
    stacks = tuple(stack for stack in _tcp() if stack != "HSTCP")
    cost = tuple(view.cpu_by_stack(CERN, stacks, mhz_per_mbps).values())
    variation = statistics.stdev(cost) / statistics.fmean(cost)
    return Criteria((Condition("MHz/Mbps: standard deviation over mean", variation, "<", 0.15),))


@_decides("C29")
def two_htcp_flows_share_equally(view: ResultView) -> Criteria:
    """C29, CERN: F of H-TCP in region 2."""
    region_fairness = view.of_stack(CERN, "HTCP", lambda run: region(run, 2).fairness)
    return Criteria((Condition("HTCP: F of region 2", region_fairness, ">=", 0.99),))


@_decides("C30")
def reno_does_not_take_up_the_slack(view: ResultView) -> Criteria:
    """C30: the condition of C5, and that of C14 for Reno."""
    return Criteria((*reno_does_not_recover(view).conditions, *_slack_conditions(view, ("Reno",))))


def _htcp_mean_mbps(view: ResultView, numbers: Collection[int]) -> float:
    return view.of_stack(CERN, "HTCP", lambda run: mean_mbps_of_regions(run, numbers))


@_decides("C31")
def more_than_two_htcp_flows_get_more(view: ResultView) -> Criteria:
    """C31, CERN: H-TCP's mean with more than two flows and with one or two."""
    return Criteria(
        (
            Condition(
                "HTCP: mean of regions 3 to 5", _htcp_mean_mbps(view, (3, 4, 5)), ">",
                _htcp_mean_mbps(view, (1, 2, 6, 7)), "Mbit/s", "regions 1, 2, 6 and 7:",
            ),
        )
    )  # fmt: skip


@_decides("C32")
def two_htcp_flows_are_steadier_than_more(view: ResultView) -> Criteria:
    """C32, CERN: the mean S of H-TCP's regions with two flows and with more."""
    two, more = (
        view.of_stack(CERN, "HTCP", over_regions(numbers, lambda part: part.stability))
        for numbers in ((2, 6), (3, 4, 5))
    )
    return Criteria((Condition("HTCP: S of regions 2 and 6", two, "<", more, "", "3 to 5:"),))


@_decides("C33")
def htcp_needs_more_than_one_flow(view: ResultView) -> Criteria:
    """C33, CERN: H-TCP's mean with one flow, before others came and after they left."""
    shared = _htcp_mean_mbps(view, (2, 3, 4, 5, 6))
    return Criteria(
        tuple(
            Condition(
                f"HTCP: mean of region {number}", _htcp_mean_mbps(view, (number,)), "<", shared,
                "Mbit/s", "regions 2 to 6:",
            )
            for number in (1, 7)
        )
    )  # fmt: skip


@_decides("C35")
def the_others_rtt_varies_by_37_ms(view: ResultView) -> Criteria:
    """C35, CERN: the mean over the eight other stacks of SD(RTT); table 1's is 38 ms."""
    others = tuple(name for name in paper_names() if name != "Fast-TCP")
    mean_ms = statistics.fmean(view.by_stack(CERN, others, lambda run: run.rtt_std_ms).values())
    return Criteria(within("mean SD(RTT) of all but Fast-TCP", mean_ms, *OTHERS_RTT_STD_MS, "ms"))


@_decides("C36")
def new_reno_flows_take_more_than_their_share(view: ResultView) -> Criteria:
    """C36, CERN: the newest Reno flow's part of regions 2 to 4 over an equal share.

    "Often" is read as: on the mean of the three regions.
    """

    def newest_part(run: Summary) -> float:
        means_bps = [region(run, number).flow_means_bps for number in (2, 3, 4)]
        return statistics.fmean(flows[-1] * len(flows) / sum(flows) for flows in means_bps)

    part = view.of_stack(CERN, "Reno", newest_part)
    return Criteria((Condition("Reno: newest flow over an equal share", part, ">", 1),))
