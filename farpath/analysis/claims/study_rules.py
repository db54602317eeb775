"""Rules that evaluate the claims decided by the companion experiments.

They work as those of ``farpath.analysis.claims.paper_rules``, from measures instead of a campaign's
results.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

from farpath.analysis.claims.paper_rules import Criteria
from farpath.analysis.claims.verdict import Condition, within
from farpath.analysis.claims.view import MissingRunsError
from farpath.analysis.studies import loss_utilisation, recovery, response, sharing, window_cap
from farpath.analysis.studies.measure import Measure, select_measures

CompanionRule = Callable[[Sequence[Measure]], Criteria]
#: The rules of all claims that companion experiments can decide.
COMPANION_RULES: dict[str, CompanionRule] = {}
#: The experiment whose measures decide each of these claims.
_EXPERIMENTS: dict[str, str] = {}

#: C22: "about 20 minutes" allows a quarter more or less. Fast is a tenth of Reno's time.
TWENTY_MINUTES_S = (900.0, 1500.0)
FAST_FRACTION = 0.1
#: C24: 1.2 per cent, a fifth more or less.
WAN_UTILISATION = (0.0096, 0.0144)
LAN_UTILISATION = 0.95
#: C27: the length of the published run.
CAPPED_S = 600.0


def claims_of(experiment: str) -> tuple[str, ...]:
    """Return the ids of the claims that a companion experiment decides, if any."""
    return tuple(id_ for id_, name in _EXPERIMENTS.items() if name == experiment)


def _decides(claim_id: str, experiment: str) -> Callable[[CompanionRule], CompanionRule]:
    """Enter the decorated function in ``COMPANION_RULES``, and its experiment."""

    def enter(rule: CompanionRule) -> CompanionRule:
        COMPANION_RULES[claim_id] = rule
        _EXPERIMENTS[claim_id] = experiment
        return rule

    return enter


def _matching(
    measures: Iterable[Measure], experiment: str, quantity: str, **about: str
) -> list[Measure]:
    """Return the measures that match; raise MissingRunsError if there are none."""
    of_experiment = [measure for measure in measures if measure.experiment == experiment]
    matching = select_measures(of_experiment, quantity, **about)
    if not matching:
        options = ", ".join(about.values())
        raise MissingRunsError(
            f"missing runs of the experiment {experiment}{f': {options}' if options else ''}"
        )
    return matching


def _within_theory(quantity: str, measures: Iterable[Measure], limit: float) -> Condition:
    """Return the condition that every measure is within ``limit`` of theory, as a fraction."""
    deviations = [abs(measure.value / measure.theory - 1) for measure in measures if measure.theory]
    largest = max(deviations, default=math.nan)
    return Condition(quantity, largest, "<=", limit)


def _mean(measures: Sequence[Measure]) -> float:
    """Return the mean over seeds."""
    return statistics.fmean(measure.value for measure in measures)


@_decides("C21", response.EXPERIMENT)
def throughput_follows_the_response_function(measures: Sequence[Measure]) -> Criteria:
    """C21: each stack with a published rule, where losses and not the path limit its window."""
    windows = _matching(measures, response.EXPERIMENT, response.WINDOW, limit=response.BY_LOSS)
    with_theory = [measure for measure in windows if measure.theory]
    stacks = dict.fromkeys(measure.about["stack"] for measure in with_theory)
    conditions = tuple(
        _within_theory(
            f"{stack}: largest deviation from theory",
            [measure for measure in with_theory if measure.about["stack"] == stack],
            0.2,
        )
        for stack in stacks
    )
    losses = sorted({measure.about["drop"] for measure in with_theory})
    return Criteria(conditions, (f"of {', '.join(losses)}",))


@_decides("C22", recovery.EXPERIMENT)
def scalable_and_hstcp_recover_fast_and_reno_in_twenty_minutes(
    measures: Sequence[Measure],
) -> Criteria:
    """C22: 1 Gbit/s, 128 ms, one packet lost, delayed ACKs as the hosts had them."""

    def time_s(stack: str) -> Measure:
        about = {"path": "datatag-128", "stack": stack, "acks": "delayed"}
        return _matching(measures, recovery.EXPERIMENT, recovery.TIME, **about)[0]

    reno = time_s("reno_2004")
    conditions = [*within("Reno's time to recover", reno.value, *TWENTY_MINUTES_S, "s")]
    for stack, name in (("scalable_2004", "Scalable"), ("hstcp_2004", "HSTCP")):
        quantity = f"{name}'s time to recover"
        limit_s, limit_name = FAST_FRACTION * reno.value, "a tenth of Reno's"
        conditions.append(Condition(quantity, time_s(stack).value, "<", limit_s, "s", limit_name))
    return Criteria(tuple(conditions), (f"Reno: {reno.note}",))


@_decides("C23", recovery.EXPERIMENT)
def recovery_follows_the_formula_for_both_ack_policies(measures: Sequence[Measure]) -> Criteria:
    """C23: every path of the recovery experiment on which Reno lost one packet."""
    conditions = []
    for acks, policy in (("each", "each packet acknowledged"), ("delayed", "delayed ACKs")):
        times = _matching(
            measures, recovery.EXPERIMENT, recovery.TIME, stack="reno_2004", acks=acks
        )
        label = f"{policy}, {len(times)} paths: largest deviation from the formula"
        conditions.append(_within_theory(label, times, 0.1))
    return Criteria(tuple(conditions))


@_decides("C24", loss_utilisation.EXPERIMENT)
def a_loss_of_1e_4_leaves_a_lan_full_and_a_wan_empty(measures: Sequence[Measure]) -> Criteria:
    """C24: 1 Gbit/s, Reno, each packet acknowledged."""

    def utilisation(path: str) -> float:
        matching = _matching(
            measures, loss_utilisation.EXPERIMENT, loss_utilisation.UTILISATION, path=path,
            drop="random:1e-4",
        )  # fmt: skip
        return matching[0].value

    return Criteria(
        (
            Condition("utilisation at 0.04 ms", utilisation("lan"), ">=", LAN_UTILISATION),
            *within("utilisation at 120 ms", utilisation("wan"), *WAN_UTILISATION),
        )
    )


@_decides("C25", sharing.MTU_BIAS)
def jumbo_frames_get_fourteen_times_as_much(measures: Sequence[Measure]) -> Criteria:
    """C25: packets of 9000 and of 1500 bytes on one bottleneck, Reno."""
    ratios = _matching(measures, sharing.MTU_BIAS, sharing.RATIO, senders="mtu=1500")
    return Criteria(within("9000 bytes' throughput over 1500 bytes'", _mean(ratios), 6, 20))


@_decides("C26", sharing.RTT_BIAS)
def the_shorter_round_trip_gets_more(measures: Sequence[Measure]) -> Criteria:
    """C26: RTTs of 117 and of 172 ms on one bottleneck, Reno, MTU 9000."""
    ratios = _matching(measures, sharing.RTT_BIAS, sharing.RATIO, senders="rtt=172ms")
    return Criteria(within("throughput at 117 ms over that at 172 ms", _mean(ratios), 1.8, 4))


@_decides("C27", window_cap.EXPERIMENT)
def a_capped_window_loses_nothing_and_holds_the_rate(measures: Sequence[Measure]) -> Criteria:
    """C27: 10 Gbit/s, 180 ms, MTU 9000; after slow start, over the path's payload rate."""
    conditions = []
    retransmissions = _matching(measures, window_cap.EXPERIMENT, window_cap.RETRANSMITTED)
    utilisations = _matching(measures, window_cap.EXPERIMENT, window_cap.UTILISATION)
    for retransmitted, utilisation in zip(retransmissions, utilisations, strict=True):
        version = f"IPv{retransmitted.about['ip']}"
        conditions += [
            Condition(f"{version}: packets sent again", retransmitted.value, "<=", 0),
            Condition(f"{version}: mean over the bottleneck", utilisation.value, ">", 0.95),
        ]
    durations_s = [float(retransmitted.about["seconds"]) for retransmitted in retransmissions]
    remark = f"of {min(durations_s):g} s, not {CAPPED_S:g} s" if min(durations_s) < CAPPED_S else ""
    return Criteria(tuple(conditions), (remark,) if remark else ())


@_decides("C28", recovery.EXPERIMENT)
def jumbo_frames_speed_recovery_sixfold(measures: Sequence[Measure]) -> Criteria:
    """C28: every path that was run with both MTUs, with each ACK policy."""
    times = _matching(measures, recovery.EXPERIMENT, recovery.TIME, stack="reno_2004", mtu="9000")
    conditions: list[Condition] = []
    for jumbo in times:
        path = jumbo.about["path"].removesuffix("-jumbo")
        about = {**jumbo.about, "path": path, "mtu": "1500"}
        plain = _matching(measures, recovery.EXPERIMENT, recovery.TIME, **about)[0]
        quantity = f"{path}, {jumbo.about['acks']} ACKs: 1500 bytes' time over 9000 bytes'"
        conditions += within(quantity, plain.value / jumbo.value, 5, 7)
    return Criteria(tuple(conditions))
