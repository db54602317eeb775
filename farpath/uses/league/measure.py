"""The results of a league: the share of each stack beside each other one, and its standing."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from farpath.mechanisms.draw.mechanism import drawn
from farpath.metrics.estimate import Spread, spread
from farpath.metrics.flow import payload_bytes
from farpath.metrics.flow_summary import FlowSummary, flows_of
from farpath.metrics.one_draw import is_one_draw
from farpath.metrics.rtt import ping_delay_ms
from farpath.metrics.run import utilisation
from farpath.metrics.share import fair_shares, joint_means_bps, joint_stretch_s
from farpath.planning.stack_texts import parse_stacks
from farpath.record.record import Record
from farpath.runs.make import MadeRun, MadeSet
from farpath.uses.league.question import STACK, League

#: In the place of the other stack, of a run of one stack.
ALONE = ""


@dataclass(frozen=True)
class Side:
    """What one of the two flows of a run had.

    ``throughput_bps``: its mean in the time that shares count (``farpath.metrics.share``); of a
    flow of a number of bytes, over its own time. ``share``: that over half of both flows', so that
    1 is a fair half. ``retransmits``, ``completion_s``: its own, of the whole run.
    ``utilisation``: of both, the payload that they received over the bottleneck's mean rate in the
    same time. ``delay_ms``: the 95th percentile of ping's RTTs above the base RTT, which both
    caused, and ``delay_p99_ms`` the 99th. ``lost_fraction``: of its packets those that the path
    dropped. ``rtt_ms``: the base RTT. Values that are not known are None.
    """

    share: float
    throughput_bps: float
    retransmits: int | None
    completion_s: float | None
    utilisation: float
    delay_ms: float | None
    delay_p99_ms: float | None
    lost_fraction: float | None
    rtt_ms: float


@dataclass(frozen=True)
class Encounter(Side):
    """The result of one stack beside another in one run.

    ``conditions``: the values of further options, as typed. ``stack``, ``other``: as typed, equal
    for a stack beside itself. ``seed``, ``draw``: of the run; None without a draw. ``record``: the
    name of the run's record. ``one_draw``: whether nothing in the run is random.
    """

    conditions: Mapping[str, str]
    stack: str
    other: str
    seed: int
    record: str
    one_draw: bool = False
    draw: int | None = None


@dataclass(frozen=True)
class Standing:
    """A stack in a league under one set of conditions; medians over runs, a fair half is 1.

    ``won_mean``: its mean share beside the others. ``won_least``: its least share, with the other
    stack. ``left_least``: the least share that it left to another, with that stack. ``own_least``:
    the smaller share of two flows of its own. ``delay_ms``: the mean over all its encounters; None
    if it is not known.
    """

    stack: str
    won_mean: float
    won_least: tuple[float, str]
    left_least: tuple[float, str]
    own_least: float
    delay_ms: float | None

    @property
    def least(self) -> float:
        """The least share of any flow in its encounters, which decides the order."""
        return min(self.won_least[0], self.left_least[0], self.own_least)


def sides_of(record: Record) -> tuple[Side, ...]:
    """Return what each flow of a run had."""
    plan = record.plan
    flows = flows_of(record)[: len(plan.schedule.flows)]
    if plan.transfer_bytes:
        throughputs_bps = tuple(flow.throughput_bps for flow in flows)
        rate_bps = plan.rates.mean
    else:
        throughputs_bps = joint_means_bps(record.samples, plan.schedule)
        from_s, stop_s = joint_stretch_s(plan.schedule)
        rate_bps = plan.rates.integral(from_s, stop_s) / (stop_s - from_s)
    used = utilisation(sum(throughputs_bps), rate_bps)
    delays_ms = ping_delay_ms(record), ping_delay_ms(record, 99)
    return tuple(
        Side(
            *(share, throughput_bps, flow.retransmits, flow.completion_s, used, *delays_ms),
            *(_lost_fraction(record, flow), plan.path.rtt_ms),
        )
        for flow, throughput_bps, share in zip(
            flows, throughputs_bps, fair_shares(throughputs_bps), strict=True
        )
    )


def _lost_fraction(record: Record, flow: FlowSummary) -> float | None:
    """Return the part of a flow's full packets that the path dropped; None if drops are unknown."""
    if flow.drops is None:
        return None
    lost = flow.drops + (flow.lost or 0)
    rows = record.samples.flows
    own = rows[rows["flow"] == flow.flow]
    arrived_bits = float((own["throughput_bps"] * own["interval_s"]).sum())
    arrived = arrived_bits / 8 / payload_bytes(record.plan.path, record.plan.ip_version)
    return lost / (lost + arrived) if lost + arrived else None


def encounters(outcome: MadeSet[tuple[Side, ...]]) -> tuple[Encounter, ...]:
    """Return both sides of each recorded run of two stacks."""
    runs = [made for made in outcome.runs if len(made.value) > 1]
    return tuple(itertools.chain.from_iterable(map(_encounters, runs)))


def alone(outcome: MadeSet[tuple[Side, ...]]) -> tuple[Encounter, ...]:
    """Return each recorded run of a stack alone, as an encounter with nobody."""
    return tuple(
        _encounter(made, made.run.values[STACK], ALONE, made.value[0])
        for made in outcome.runs
        if len(made.value) == 1
    )


def _encounters(made: MadeRun[tuple[Side, ...]]) -> Iterator[Encounter]:
    named = zip(parse_stacks(made.run.values[STACK]), made.value, strict=True)
    for (stack, side), (other, _) in itertools.permutations(named, 2):
        yield _encounter(made, stack, other, side)


def _encounter(made: MadeRun[tuple[Side, ...]], stack: str, other: str, side: Side) -> Encounter:
    data = drawn(made.run.plan)
    return Encounter(
        conditions={name: text for name, text in made.run.values.items() if name != STACK},
        stack=stack,
        other=other,
        seed=made.run.plan.seed,
        **vars(side),
        record=made.record.name,
        one_draw=is_one_draw(made.run.plan),
        draw=None if data is None else data["number"],
    )


def by_conditions(found: tuple[Encounter, ...]) -> dict[str, tuple[Encounter, ...]]:
    """Return encounters by their conditions as text, empty if a league has no further options."""
    groups: dict[str, list[Encounter]] = {}
    for encounter in found:
        title = ", ".join(f"{name} {text}" for name, text in encounter.conditions.items())
        groups.setdefault(title, []).append(encounter)
    return {title: tuple(group) for title, group in groups.items()}


def shares_by_run(found: tuple[Encounter, ...]) -> dict[tuple[str, str], list[float]]:
    """Return the share in each run, by stack and other; of a stack's own pair the smaller."""
    shares: dict[tuple[str, str], list[float]] = {}
    for (stack, other, _), group in each_run(found).items():
        # A run has a side for each of the two; beside itself a stack has both
        shares.setdefault((stack, other), []).append(min(each.share for each in group))
    return shares


def shares_of(found: tuple[Encounter, ...]) -> dict[tuple[str, str], Spread]:
    """Return the shares of all runs, by stack and other; of a stack's own pair the smaller."""
    return {pair: spread(values) for pair, values in shares_by_run(found).items()}


def each_run(found: tuple[Encounter, ...]) -> dict[tuple[str, str, int], list[Encounter]]:
    """Return the sides of each run, by stack, other and seed; both of a stack's own pair."""
    runs: dict[tuple[str, str, int], list[Encounter]] = {}
    for each in found:
        runs.setdefault((each.stack, each.other, each.seed), []).append(each)
    return runs


def standings(league: League, found: tuple[Encounter, ...]) -> tuple[Standing, ...]:
    """Return the stacks with all encounters made; stacks that starve nobody come first.

    The order goes by the least share that any flow had in a stack's encounters, as max-min fairness
    does: stacks that take all and stacks that get nothing stand at the end.
    """
    shares = {pair: share.median for pair, share in shares_of(found).items()}
    stacks = league.stacks
    whole = [
        stack
        for stack in stacks
        if all({(stack, other), (other, stack)} <= shares.keys() for other in stacks)
    ]
    rows = [_standing(stack, stacks, shares, found) for stack in whole]
    return tuple(sorted(rows, key=lambda row: -row.least))


def _standing(
    stack: str,
    stacks: tuple[str, ...],
    shares: Mapping[tuple[str, str], float],
    found: tuple[Encounter, ...],
) -> Standing:
    others = [other for other in stacks if other != stack]
    delays_ms = [
        each.delay_ms for each in found if each.stack == stack and each.delay_ms is not None
    ]
    return Standing(
        stack=stack,
        won_mean=statistics.fmean(shares[stack, other] for other in others),
        won_least=min((shares[stack, other], other) for other in others),
        left_least=min((shares[other, stack], other) for other in others),
        own_least=shares[stack, stack],
        delay_ms=statistics.fmean(delays_ms) if delays_ms else None,
    )
