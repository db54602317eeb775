"""Rules that evaluate the claims about the seven-region test.

Each rule is one pure function, registered under its claim's id. Thresholds are those of
``published/claims.csv``. Where the words of a claim leave its reading open, the function says which
reading it takes and why.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from farpath.analysis.claims.verdict import Condition, within
from farpath.analysis.claims.view import ResultView, mean_mbps_of_regions, region
from farpath.analysis.metrics import Summary
from farpath.analysis.paper_stacks import UDT, paper_names

CALTECH, UFL, CERN = "caltech", "ufl", "cern"


@dataclass(frozen=True)
class Criteria:
    """The conditions of a claim, and remarks that decide nothing."""

    conditions: tuple[Condition, ...]
    remarks: tuple[str, ...] = ()


Rule = Callable[[ResultView], Criteria]
#: The rules of all claims that runs of the seven regions can decide.
RULES: dict[str, Rule] = {}

#: The experiments of claims that no run of the seven regions on the three paths decides.
EXPERIMENTS: Mapping[str, str] = {
    "C19": "parallel streams: 1 and 40 flows with CPU counted",
    "C20": "offloads: the same flow with and without, with CPU counted",
    "C21": "response function: one flow of each stack under losses 1e-5 to 1e-2",
    "C22": "recovery: one loss in 1e6 packets, RTT 128 ms, 1 Gbit/s",
    "C23": "recovery: one loss on several paths, with and without delayed ACKs",
    "C24": "loss utilisation: one Reno flow, 1 Gbit/s, loss 1e-4, RTT 0.04 and 120 ms",
    "C25": "MTU bias: two flows of 1500 and 9000 bytes at once",
    "C26": "RTT bias: two flows over 117 and 172 ms at once",
    "C27": "window-capped single stream: 600 s at the bandwidth-delay product",
    "C28": "recovery: one loss with an MTU of 1500 and of 9000 bytes",
}


def _decides(claim_id: str) -> Callable[[Rule], Rule]:
    """Enter the decorated function in ``RULES``."""

    def enter(rule: Rule) -> Rule:
        RULES[claim_id] = rule
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
    does not name (Scalable by S, LTCP by F). A remark says whether the named stacks alone stand
    there.

    ``sign``: 1 if the largest value is the best, -1 if the smallest is.
    """
    conditions = []
    unmixed = True
    for group, end, name in ((best, sign, "best"), (worst, -sign, "worst")):
        others = max(end * value for stack, value in values.items() if stack not in group)
        unmixed &= others < min(end * values[stack] for stack in group)
        for stack in group:
            rank = 1 + sum(end * other > end * values[stack] for other in values.values())
            conditions.append(
                Condition(f"{stack}'s rank from the {name} {quantity}", rank, "<=", len(group) + 1)
            )
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
    """C2, Caltech: the least F of any stack, and its mean S below that of the other paths."""
    caltech, *others = view.mean_over_stacks((CALTECH, UFL, CERN), stability)
    fairness_min = view.by_stack(CALTECH, paper_names(), fairness)
    least_fair = min(fairness_min, key=lambda stack: fairness_min[stack])
    return Criteria(
        (
            Condition(
                f"Caltech: smallest F, {least_fair}'s,", fairness_min[least_fair], ">=", 0.85
            ),
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
    """C5, CERN: Reno's mean in region 7 over the bottleneck's rate."""
    fraction = view.of_stack(CERN, "Reno", lambda run: region(run, 7).mean_bps / run.rate_bps)
    return Criteria((Condition("Reno: region 7 over the bottleneck", fraction, "<", 0.8),))


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
def htcp_fills_the_buffer(view: ResultView) -> Criteria:
    """C8, CERN: the largest ping RTT of H-TCP in regions 3 to 5."""
    rtt_ms = view.of_stack(
        CERN, "HTCP", lambda run: max(region(run, number).rtt_max_ms for number in (3, 4, 5))
    )
    return Criteria((Condition("HTCP: largest RTT of regions 3 to 5", rtt_ms, ">=", 300, "ms"),))


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
    """C11, CERN: UDT's mean against H-TCP's, and UDT's smallest F."""
    means = view.by_stack(CERN, (UDT, "HTCP"), mean_mbps)
    deviation = abs(means[UDT] / means["HTCP"] - 1)
    return Criteria(
        (
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
    """Return the conditions that stacks get less in regions 5 to 7 than in regions 2 to 4."""
    later = view.by_stack(CERN, stacks, lambda run: mean_mbps_of_regions(run, (5, 6, 7)))
    before = view.by_stack(CERN, stacks, lambda run: mean_mbps_of_regions(run, (2, 3, 4)))
    return tuple(
        Condition(
            f"{stack}: mean of regions 5 to 7", later[stack], "<", before[stack], "Mbit/s",
            "2 to 4:",
        )
        for stack in stacks
    )  # fmt: skip


@_decides("C14")
def slow_recovery_as_flows_leave(view: ResultView) -> Criteria:
    """C14, CERN: regions 5 to 7 against regions 2 to 4, for each of three stacks."""
    return Criteria(_slack_conditions(view, ("Reno", "HSTCP", "HSTCP-LP")))


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
