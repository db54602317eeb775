"""Rules: for each claim the conditions that decide it, from a campaign's figures.

One pure function per claim, registered under its id. Thresholds are those of
``published/claims.csv``. Where its words leave a reading open, the function says which
one it takes and why.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from farpath.analysis.claims.registry import Registry
from farpath.analysis.claims.verdict import Condition, within
from farpath.analysis.claims.view import ResultView, mean_mbps_of_regions, region
from farpath.analysis.metrics import Summary
from farpath.analysis.paper_stacks import UDT, paper_names

CALTECH, UFL, CERN = "caltech", "ufl", "cern"


@dataclass(frozen=True)
class Criteria:
    """A claim's conditions, and remarks that decide nothing."""

    conditions: tuple[Condition, ...]
    remarks: tuple[str, ...] = ()


Rule = Callable[[ResultView], Criteria]
#: Every claim's rule that runs of the seven regions can decide.
RULES: Registry[Rule] = Registry()

#: What the claims need that no run of the seven regions on the three paths can decide.
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


def mean_mbps(summary: Summary) -> float:
    """Aggregate throughput in Mbit/s."""
    return summary.mean_bps / 1e6


def stability(summary: Summary) -> float:
    """S over the whole run."""
    return summary.stability


def fairness(summary: Summary) -> float:
    """The smallest F of all regions with several flows, table 1's F min."""
    return summary.fairness_min


def mhz_per_mbps(summary: Summary) -> float:
    """Clock cycles per bit; only asked of runs in which they were counted."""
    assert summary.mhz_per_mbps is not None
    return summary.mhz_per_mbps


def _best(figures: Mapping[str, float]) -> str:
    return max(figures, key=lambda stack: figures[stack])


def _tcp() -> tuple[str, ...]:
    return tuple(name for name in paper_names() if name != UDT)


def _ahead(
    what: str, unit: str, figures: Mapping[str, float], named: Collection[str], top: bool
) -> Condition:
    """That some stacks have the largest figures, or the smallest."""
    ours = {stack: figures[stack] for stack in named}
    others = {stack: value for stack, value in figures.items() if stack not in named}
    sign = 1 if top else -1
    last = min(ours, key=lambda stack: sign * ours[stack])
    first = max(others, key=lambda stack: sign * others[stack])
    relation = ">" if top else "<"
    return Condition(f"{what} of {last}", ours[last], relation, others[first], unit, f"{first}'s")


def _ranked(
    what: str,
    figures: Mapping[str, float],
    best: Collection[str],
    worst: Collection[str],
    sign: int,
) -> Criteria:
    """That each of k named stacks is among the first k + 1 from its end of a ranking.

    ``sign``: 1 if the largest figure is the best, -1 if the smallest. One more than k
    because the paper's own table 1 has one stack that it does not name among each of
    its groups (Scalable by S, LTCP by F); whether the named ones alone stand there is
    a remark.
    """
    conditions = []
    alone = True
    for group, end, name in ((best, sign, "best"), (worst, -sign, "worst")):
        others = max(end * value for stack, value in figures.items() if stack not in group)
        alone &= others < min(end * figures[stack] for stack in group)
        for stack in group:
            rank = 1 + sum(end * other > end * figures[stack] for other in figures.values())
            conditions.append(
                Condition(f"{stack}'s rank from the {name} {what}", rank, "<=", len(group) + 1)
            )
    order = sorted(figures, key=lambda stack: -sign * figures[stack])
    shown = ", ".join(f"{stack} {figures[stack]:.2f}" for stack in order)
    among = "no other stack stands" if alone else "other stacks stand"
    return Criteria(tuple(conditions), (f"{what}: {shown}; {among} among the named groups",))


@RULES.decides("C1")
def reno_is_slow(look: ResultView) -> Criteria:
    """CERN: the mean of Reno over that of the best of all stacks."""
    means = look.of(CERN, paper_names(), mean_mbps)
    best = _best(means)
    return Criteria(
        (Condition(f"mean of Reno over {best}'s", means["Reno"] / means[best], "<", 0.75),)
    )


@RULES.decides("C2")
def all_do_well_at_the_shortest_rtt(look: ResultView) -> Criteria:
    """Caltech: the least F of any stack; and its mean S below those of the others."""
    here, *others = look.means((CALTECH, UFL, CERN), stability)
    fair = look.of(CALTECH, paper_names(), fairness)
    least = min(fair, key=lambda stack: fair[stack])
    return Criteria(
        (
            Condition(f"Caltech: smallest F, {least}'s,", fair[least], ">=", 0.85),
            *(
                Condition("mean S at Caltech", here, "<", other, "", name)
                for other, name in zip(others, ("UFL", "CERN"), strict=True)
            ),
        )
    )


def _along_the_rtt(look: ResultView, what: str, figure: Callable[[Summary], float]) -> Criteria:
    """A figure's means over stacks, rising (S) or falling (F) with the RTT."""
    caltech, ufl, cern = look.means((CALTECH, UFL, CERN), figure)
    relation = "<" if figure is stability else ">"
    return Criteria(
        (
            Condition(f"mean {what} at Caltech", caltech, relation, ufl, "", "UFL"),
            Condition(f"mean {what} at UFL", ufl, relation, cern, "", "CERN"),
        )
    )


@RULES.decides("C3")
def stability_worsens_with_rtt(look: ResultView) -> Criteria:
    """Mean S over stacks: Caltech < UFL < CERN."""
    return _along_the_rtt(look, "S", stability)


@RULES.decides("C4")
def fairness_worsens_with_rtt(look: ResultView) -> Criteria:
    """Mean F over stacks, of each stack's smallest: the paper's 0.77 is that of table 1."""
    return _along_the_rtt(look, "F", fairness)


@RULES.decides("C5")
def reno_does_not_recover(look: ResultView) -> Criteria:
    """CERN Reno: region 7's mean over the bottleneck's rate."""
    part = look.one(CERN, "Reno", lambda run: region(run, 7).mean_bps / run.rate_bps)
    return Criteria((Condition("Reno: region 7 over the bottleneck", part, "<", 0.8),))


@RULES.decides("C6")
def reno_extends_the_rtt(look: ResultView) -> Criteria:
    """CERN Reno: the 99th percentile of ping RTT over the base RTT."""
    part = look.one(CERN, "Reno", lambda run: run.rtt_p99_ms / run.base_rtt_ms)
    return Criteria(within("Reno: 99th percentile of RTT over base", part, 1.1, 1.5))


@RULES.decides("C7")
def htcp_is_steadier_and_fairer_than_reno(look: ResultView) -> Criteria:
    """CERN: S and smallest F of H-TCP beside Reno's."""
    pair = ("HTCP", "Reno")
    steady, fair = look.of(CERN, pair, stability), look.of(CERN, pair, fairness)
    return Criteria(
        (
            Condition("S of HTCP", steady["HTCP"], "<", steady["Reno"], "", "Reno's"),
            Condition("min F of HTCP", fair["HTCP"], ">", fair["Reno"], "", "Reno's"),
        )
    )


@RULES.decides("C8")
def htcp_fills_the_buffer(look: ResultView) -> Criteria:
    """CERN HTCP: the largest ping RTT of regions 3 to 5."""
    rtt_ms = look.one(
        CERN, "HTCP", lambda run: max(region(run, number).rtt_max_ms for number in (3, 4, 5))
    )
    return Criteria((Condition("HTCP: largest RTT of regions 3 to 5", rtt_ms, ">=", 300, "ms"),))


@RULES.decides("C9")
def fast_holds_the_rtt(look: ResultView) -> Criteria:
    """CERN: SD(RTT) of FAST below all others' and below 15 ms."""
    spread = look.of(CERN, paper_names(), lambda run: run.rtt_std_ms)
    return Criteria(
        (
            _ahead("SD(RTT)", "ms", spread, ("Fast-TCP",), top=False),
            Condition("SD(RTT) of Fast-TCP", spread["Fast-TCP"], "<", 15, "ms"),
        )
    )


@RULES.decides("C10")
def fasts_second_flow_lacks_its_share(look: ResultView) -> Criteria:
    """CERN FAST: F of region 2."""
    share = look.one(CERN, "Fast-TCP", lambda run: region(run, 2).fairness)
    return Criteria((Condition("Fast-TCP: F of region 2", share, "<", 0.8),))


@RULES.decides("C11")
def udt_compares_with_the_better_tcps(look: ResultView) -> Criteria:
    """CERN UDT: its mean beside H-TCP's, and its smallest F."""
    means = look.of(CERN, (UDT, "HTCP"), mean_mbps)
    off = abs(means[UDT] / means["HTCP"] - 1)
    return Criteria(
        (
            Condition("mean of UDTv2 off HTCP's, as part of it,", off, "<=", 0.15),
            Condition("min F of UDTv2", look.one(CERN, UDT, fairness), ">=", 0.9),
        )
    )


@RULES.decides("C12")
def best_throughput(look: ResultView) -> Criteria:
    """CERN: the top three means among the TCP stacks."""
    means = look.of(CERN, _tcp(), mean_mbps)
    best = ("Scalable", "BICTCP", "HTCP")
    return Criteria((_ahead("mean", "Mbit/s", means, best, top=True),))


@RULES.decides("C13")
def poorest_throughput(look: ResultView) -> Criteria:
    """CERN: the bottom three means among all stacks."""
    means = look.of(CERN, paper_names(), mean_mbps)
    return Criteria((_ahead("mean", "Mbit/s", means, ("Reno", "HSTCP-LP", "HSTCP"), top=False),))


def _taking_up_slack(look: ResultView, stacks: Collection[str]) -> tuple[Condition, ...]:
    """That stacks have less in regions 5 to 7 than in 2 to 4, over all their time."""
    later = look.of(CERN, stacks, lambda run: mean_mbps_of_regions(run, (5, 6, 7)))
    before = look.of(CERN, stacks, lambda run: mean_mbps_of_regions(run, (2, 3, 4)))
    return tuple(
        Condition(
            f"{stack}: mean of regions 5 to 7", later[stack], "<", before[stack], "Mbit/s",
            "2 to 4:",
        )
        for stack in stacks
    )  # fmt: skip


@RULES.decides("C14")
def slow_recovery_as_flows_leave(look: ResultView) -> Criteria:
    """CERN, for each of the three: regions 5 to 7 beside regions 2 to 4."""
    return Criteria(_taking_up_slack(look, ("Reno", "HSTCP", "HSTCP-LP")))


@RULES.decides("C15")
def most_and_least_stable(look: ResultView) -> Criteria:
    """CERN: the ranking of S, the smallest first."""
    figures = look.of(CERN, paper_names(), stability)
    return _ranked("S", figures, ("HTCP", "BICTCP"), ("Reno", "HSTCP"), sign=-1)


@RULES.decides("C16")
def fairest_and_least_fair(look: ResultView) -> Criteria:
    """CERN: the ranking of the smallest F, the largest first."""
    figures = look.of(CERN, paper_names(), fairness)
    unfair = ("Reno", "Fast-TCP", "HSTCP", "HSTCP-LP")
    return _ranked("min F", figures, ("HTCP", "BICTCP"), unfair, sign=1)


@RULES.decides("C17")
def udt_needs_twice_the_cpu(look: ResultView) -> Criteria:
    """CERN: MHz per Mbit/s of UDT over the mean of the TCP stacks."""
    cost = look.cpu_of(CERN, paper_names(), mhz_per_mbps)
    tcp = statistics.fmean(cost[stack] for stack in _tcp())
    return Criteria(within("MHz/Mbps of UDTv2 over TCP's mean", cost[UDT] / tcp, 1.5, 3))


@RULES.decides("C18")
def tcps_cost_about_the_same(look: ResultView) -> Criteria:
    """CERN: the spread of MHz per Mbit/s over the TCP stacks without HSTCP."""
    stacks = tuple(stack for stack in _tcp() if stack != "HSTCP")
    cost = tuple(look.cpu_of(CERN, stacks, mhz_per_mbps).values())
    part = statistics.stdev(cost) / statistics.fmean(cost)
    return Criteria((Condition("MHz/Mbps: standard deviation over mean", part, "<", 0.15),))


@RULES.decides("C29")
def two_htcp_flows_share_equally(look: ResultView) -> Criteria:
    """CERN HTCP: F of region 2."""
    share = look.one(CERN, "HTCP", lambda run: region(run, 2).fairness)
    return Criteria((Condition("HTCP: F of region 2", share, ">=", 0.99),))


@RULES.decides("C30")
def reno_does_not_take_up_the_slack(look: ResultView) -> Criteria:
    """C5, and of C14 what it says of Reno."""
    return Criteria((*reno_does_not_recover(look).conditions, *_taking_up_slack(look, ("Reno",))))
