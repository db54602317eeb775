"""Companion rules: the conditions of claims that the experiments around the 2005 test decide.

As :mod:`farpath.analysis.claims.paper_rules`, from measures instead of a campaign's figures.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

from farpath.analysis.claims.paper_rules import Criteria
from farpath.analysis.claims.registry import Registry
from farpath.analysis.claims.verdict import Condition, within
from farpath.analysis.claims.view import MissingRunsError
from farpath.analysis.studies import loss_utilisation, recovery, response, sharing, window_cap
from farpath.analysis.studies.measure import Measure, one_of

CompanionRule = Callable[[Sequence[Measure]], Criteria]
#: Every claim's rule that companion experiments can decide.
COMPANION_RULES: Registry[CompanionRule] = Registry()

#: C22's "about 20 minutes", a quarter of it more or less, and what is fast beside that.
TWENTY_MINUTES_S = (900.0, 1500.0)
FAST_PART = 0.1
#: C24's 1.2 per cent, a fifth of it more or less.
WAN_UTILISATION = (0.0096, 0.0144)
LAN_UTILISATION = 0.95
#: C27's length.
CAPPED_S = 600.0


def claims_of(experiment: str) -> tuple[str, ...]:
    """The ids of the claims that a companion experiment decides, if any."""
    return tuple(id_ for id_, name in COMPANION_RULES.experiments.items() if name == experiment)


def _of(measures: Iterable[Measure], experiment: str, quantity: str, **about: str) -> list[Measure]:
    """The measures that are asked for; MissingRunsError if there is none."""
    mine = [measure for measure in measures if measure.experiment == experiment]
    found = one_of(mine, quantity, **about)
    if not found:
        said = ", ".join(about.values())
        raise MissingRunsError(
            f"missing runs of the experiment {experiment}{f': {said}' if said else ''}"
        )
    return found


def _worst(what: str, measures: Iterable[Measure], limit: float) -> Condition:
    """That none is further from theory than a part of it."""
    found = [abs(measure.value / measure.theory - 1) for measure in measures if measure.theory]
    apart = max(found, default=math.nan)
    return Condition(what, apart, "<=", limit)


def _mean(measures: Sequence[Measure]) -> float:
    """Over seeds."""
    return statistics.fmean(measure.value for measure in measures)


@COMPANION_RULES.decides("C21", response.EXPERIMENT)
def throughput_follows_the_response_function(measures: Sequence[Measure]) -> Criteria:
    """Each stack with a published rule, where losses and not the path hold its window."""
    found = _of(measures, response.EXPERIMENT, response.WINDOW, limit=response.BY_LOSS)
    with_theory = [measure for measure in found if measure.theory]
    stacks = dict.fromkeys(measure.about["stack"] for measure in with_theory)
    conditions = tuple(
        _worst(
            f"{stack}: largest deviation from theory",
            [measure for measure in with_theory if measure.about["stack"] == stack],
            0.2,
        )
        for stack in stacks
    )
    losses = sorted({measure.about["drop"] for measure in with_theory})
    return Criteria(conditions, (f"of {', '.join(losses)}",))


@COMPANION_RULES.decides("C22", recovery.EXPERIMENT)
def scalable_and_hstcp_recover_fast_and_reno_in_twenty_minutes(
    measures: Sequence[Measure],
) -> Criteria:
    """1 Gbit/s, 128 ms, one packet lost, delayed ACKs, as hosts had them."""

    def time_s(stack: str) -> Measure:
        about = {"path": "datatag-128", "stack": stack, "acks": "delayed"}
        return _of(measures, recovery.EXPERIMENT, recovery.TIME, **about)[0]

    reno = time_s("reno_2004")
    conditions = [*within("Reno's time to recover", reno.value, *TWENTY_MINUTES_S, "s")]
    for stack, name in (("scalable_2004", "Scalable"), ("hstcp_2004", "HSTCP")):
        what = f"{name}'s time to recover"
        limit_s, against = FAST_PART * reno.value, "a tenth of Reno's"
        conditions.append(Condition(what, time_s(stack).value, "<", limit_s, "s", against))
    return Criteria(tuple(conditions), (f"Reno: {reno.note}",))


@COMPANION_RULES.decides("C23", recovery.EXPERIMENT)
def recovery_follows_the_formula_for_both_ack_policies(measures: Sequence[Measure]) -> Criteria:
    """Every path of the recovery experiment on which Reno lost one packet."""
    conditions = []
    for acks, what in (("each", "each packet acknowledged"), ("delayed", "delayed ACKs")):
        found = _of(measures, recovery.EXPERIMENT, recovery.TIME, stack="reno_2004", acks=acks)
        label = f"{what}, {len(found)} paths: largest deviation from the formula"
        conditions.append(_worst(label, found, 0.1))
    return Criteria(tuple(conditions))


@COMPANION_RULES.decides("C24", loss_utilisation.EXPERIMENT)
def a_loss_of_1e_4_leaves_a_lan_full_and_a_wan_empty(measures: Sequence[Measure]) -> Criteria:
    """1 Gbit/s, Reno, each packet acknowledged."""

    def used(path: str) -> float:
        found = _of(
            measures, loss_utilisation.EXPERIMENT, loss_utilisation.UTILISATION, path=path,
            drop="random:1e-4",
        )  # fmt: skip
        return found[0].value

    return Criteria(
        (
            Condition("utilisation at 0.04 ms", used("lan"), ">=", LAN_UTILISATION),
            *within("utilisation at 120 ms", used("wan"), *WAN_UTILISATION),
        )
    )


@COMPANION_RULES.decides("C25", sharing.MTU_BIAS)
def jumbo_frames_get_fourteen_times_as_much(measures: Sequence[Measure]) -> Criteria:
    """9000 bytes beside 1500 on one bottleneck, Reno."""
    found = _of(measures, sharing.MTU_BIAS, sharing.RATIO, senders="mtu=1500")
    return Criteria(within("9000 bytes' throughput over 1500 bytes'", _mean(found), 6, 20))


@COMPANION_RULES.decides("C26", sharing.RTT_BIAS)
def the_shorter_round_trip_gets_more(measures: Sequence[Measure]) -> Criteria:
    """117 ms beside 172 ms on one bottleneck, Reno, MTU 9000."""
    found = _of(measures, sharing.RTT_BIAS, sharing.RATIO, senders="rtt=172ms")
    return Criteria(within("throughput at 117 ms over that at 172 ms", _mean(found), 1.8, 4))


@COMPANION_RULES.decides("C27", window_cap.EXPERIMENT)
def a_capped_window_loses_nothing_and_holds_the_rate(measures: Sequence[Measure]) -> Criteria:
    """10 Gbit/s, 180 ms, MTU 9000; after slow start, over what the path carries of payload."""
    conditions = []
    again = _of(measures, window_cap.EXPERIMENT, window_cap.RETRANSMITTED)
    used = _of(measures, window_cap.EXPERIMENT, window_cap.UTILISATION)
    for sent, part in zip(again, used, strict=True):
        version = f"IPv{sent.about['ip']}"
        conditions += [
            Condition(f"{version}: packets sent again", sent.value, "<=", 0),
            Condition(f"{version}: mean over the bottleneck", part.value, ">", 0.95),
        ]
    short = [float(sent.about["seconds"]) for sent in again]
    said = f"of {min(short):g} s, not {CAPPED_S:g} s" if min(short) < CAPPED_S else ""
    return Criteria(tuple(conditions), (said,) if said else ())


@COMPANION_RULES.decides("C28", recovery.EXPERIMENT)
def jumbo_frames_speed_recovery_sixfold(measures: Sequence[Measure]) -> Criteria:
    """Every path that was run with both MTUs, with each ACK policy."""
    found = _of(measures, recovery.EXPERIMENT, recovery.TIME, stack="reno_2004", mtu="9000")
    conditions: list[Condition] = []
    for jumbo in found:
        path = jumbo.about["path"].removesuffix("-jumbo")
        about = {**jumbo.about, "path": path, "mtu": "1500"}
        plain = _of(measures, recovery.EXPERIMENT, recovery.TIME, **about)[0]
        what = f"{path}, {jumbo.about['acks']} ACKs: 1500 bytes' time over 9000 bytes'"
        conditions += within(what, plain.value / jumbo.value, 5, 7)
    return Criteria(tuple(conditions))
