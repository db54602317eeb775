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
from farpath.analysis.studies import (
    cpu_streams,
    end_hosts,
    loss_utilisation,
    parallel_streams,
    recovery,
    response,
    sharing,
    tuning,
    window_cap,
)
from farpath.analysis.studies.measure import Measure, select_measures
from farpath.mechanisms.offloads import ALL, NONE
from farpath.planning.experiment_schema import ALL_BUT

CompanionRule = Callable[[Sequence[Measure]], Criteria]
#: The rules of all claims that companion experiments can decide.
COMPANION_RULES: dict[str, CompanionRule] = {}
#: The experiment whose measures decide each of these claims.
_EXPERIMENTS: dict[str, str] = {}

RENO = "reno_2004"
#: C19: one stream, and many.
ONE_STREAM, MANY_STREAMS = "1", "40"
#: C20: "roughly three times", a third less.
OFFLOAD_FACTOR = 2.0
#: C22: "about 20 minutes" allows a quarter more or less. Fast is within a minute.
TWENTY_MINUTES_S = (900.0, 1500.0)
FAST_S = 60.0
#: C24: 1.2 per cent, a fifth more or less.
WAN_UTILISATION = (0.0096, 0.0144)
LAN_UTILISATION = 0.95
#: C27: the length of the published run.
CAPPED_S = 600.0
#: C25, C26: how two flows share hangs on the phase in which their packets meet a full buffer.
SHARING_SEEDS = 3
#: C34: a stack does well at this loss if it gets so many times Reno's throughput.
HIGH_LOSS, DOES_WELL = "1e-3", 2.0
#: C37: "several seconds".
SEVERAL_S = (2.0, 10.0)
#: C41: "almost".
ALMOST = 0.95
#: C42: 4.45 of 7.46 Gbit/s, a quarter more or less.
UDT_PART = (0.45, 0.75)
#: C43: 4 of 5.64 Gbit/s, a fifth more or less.
IPV6_PART = (0.57, 0.85)
#: C44, C45: other programs on a host, where it has most of them.
MOST_LOAD = "3"
#: C45: "constant".
CONSTANT = 0.95
#: C46: 770 of 960 Mbit/s, a sixteenth more or less.
FAR_PART = (0.75, 0.85)
#: C47: "more than 20x".
BUFFERS_FACTOR = 20.0
#: C48: 30 per cent, a third more or less.
BURST_FACTOR = (1.2, 1.4)


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


def _bit_cost(costs: Sequence[Measure], streams: str, offloads: str) -> float:
    """Return the mean cost of a bit over seeds."""
    about = {"streams": streams, "offloads": offloads}
    return _mean(_matching(costs, cpu_streams.EXPERIMENT, cpu_streams.COST, **about))


def _bit_costs(measures: Sequence[Measure]) -> tuple[Sequence[Measure], str]:
    """Return the costs of a bit at the rate that most numbers of streams ran at, and a remark."""
    costs = select_measures(measures, cpu_streams.COST)
    if not costs:
        raise MissingRunsError(
            f"missing runs of the experiment {cpu_streams.EXPERIMENT} of the host lab: no records, "
            f"'make campaign EXPERIMENT={cpu_streams.EXPERIMENT} QEMU=1' makes them"
        )
    at_one_rate = cpu_streams.at_usual_rate(costs)
    return at_one_rate, f"at {at_one_rate[0].about['rate']} Mbit/s"


@_decides("C19", cpu_streams.EXPERIMENT)
def more_streams_cost_more_for_a_bit(measures: Sequence[Measure]) -> Criteria:
    """C19: without offloads, as of the card that has no TCP of its own, and with all."""
    costs, remark = _bit_costs(measures)
    conditions = [
        Condition(
            f"GHz/Gbps, offloads {offloads}: {MANY_STREAMS} streams",
            _bit_cost(costs, MANY_STREAMS, offloads),
            ">",
            _bit_cost(costs, ONE_STREAM, offloads),
            limit_name="one stream",
        )
        for offloads in (NONE, ALL)
    ]
    return Criteria(tuple(conditions), (remark,))


@_decides("C20", cpu_streams.EXPERIMENT)
def offloads_cut_the_cost_of_a_bit(measures: Sequence[Measure]) -> Criteria:
    """C20: without any offload over all of them, for each number of streams."""
    costs, remark = _bit_costs(measures)
    numbers = sorted({measure.about["streams"] for measure in costs}, key=int)
    conditions = [
        Condition(
            f"GHz/Gbps without offloads over with, streams: {streams}",
            _bit_cost(costs, streams, NONE) / _bit_cost(costs, streams, ALL),
            ">=",
            OFFLOAD_FACTOR,
        )
        for streams in numbers
    ]
    toe = "the paper's card has a TCP of its own, which takes more off a host than these offloads"
    return Criteria(tuple(conditions), (remark, toe))


@_decides("C21", response.EXPERIMENT)
def throughput_follows_the_response_function(measures: Sequence[Measure]) -> Criteria:
    """C21: each stack with a published curve, where losses and not the path limit its window.

    The curves are printed in closed form (``response.printed_window``). The simulation of a stack's
    rule in whole packets is the project's own; that the kernel follows it is a remark.
    """
    windows = _matching(measures, response.EXPERIMENT, response.WINDOW, limit=response.BY_LOSS)
    conditions, losses = [], set()
    for stack in dict.fromkeys(measure.about["stack"] for measure in windows):
        deviations = []
        for measure in select_measures(windows, response.WINDOW, stack=stack):
            printed = response.printed_window(stack, float(measure.about["loss"]))
            if printed is not None:
                deviations.append(abs(measure.value / printed - 1))
                losses.add(measure.about["drop"])
        if deviations:
            quantity = f"{stack}: largest deviation from its published curve"
            conditions.append(Condition(quantity, max(deviations), "<=", 0.2))
    simulated = [measure for measure in windows if measure.theory]
    remarks = [f"of {', '.join(sorted(losses))}"]
    if simulated:
        largest = _within_theory("largest deviation from own simulation", simulated, 0.2)
        remarks.append(f"of all stacks, {largest}")
    return Criteria(tuple(conditions), tuple(remarks))


@_decides("C22", recovery.EXPERIMENT)
def scalable_and_hstcp_recover_fast_and_reno_in_twenty_minutes(
    measures: Sequence[Measure],
) -> Criteria:
    """C22: 1 Gbit/s, 128 ms, one packet lost, delayed ACKs as the hosts had them."""

    def time_s(stack: str) -> Measure:
        about = {"path": "datatag-128", "stack": stack, "acks": "delayed"}
        return _matching(measures, recovery.EXPERIMENT, recovery.TIME, **about)[0]

    reno, scalable, hstcp = map(time_s, (RENO, "scalable_2004", "hstcp_2004"))
    conditions = [
        *within("Reno's time to recover", reno.value, *TWENTY_MINUTES_S, "s"),
        Condition("HSTCP's time to recover", hstcp.value, "<", FAST_S, "s"),
        # "Very fast" against "rapid"
        Condition("Scalable's time to recover", scalable.value, "<", hstcp.value, "s", "HSTCP's"),
    ]
    return Criteria(tuple(conditions), (f"Reno: {reno.note}",))


@_decides("C23", recovery.EXPERIMENT)
def recovery_follows_the_formula_for_both_ack_policies(measures: Sequence[Measure]) -> Criteria:
    """C23: every path of the recovery experiment on which Reno lost one packet.

    Whole recoveries test the time, first parts of long ones only the slope of the same law.
    """
    conditions = []
    for acks, policy in (("each", "each packet acknowledged"), ("delayed", "delayed ACKs")):
        for seen, quantity in ((recovery.WHOLE, "time"), (recovery.SLOPE, "slope of the growth")):
            times = _matching(
                measures, recovery.EXPERIMENT, recovery.TIME, stack=RENO, acks=acks, seen=seen
            )
            label = f"{policy}, {quantity} on {len(times)} paths: largest deviation"
            conditions.append(_within_theory(label, times, 0.1))
    unseen = [
        measure.condition
        for measure in select_measures(measures, recovery.TIME, stack=RENO, seen=recovery.NOTHING)
    ]
    remarks = (f"without a recovery that is to be seen: {'; '.join(unseen)}",) if unseen else ()
    return Criteria(tuple(conditions), remarks)


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


def _ratios(measures: Sequence[Measure], experiment: str, senders: str) -> list[Measure]:
    """Return the ratios of two flows on hosts with jitter, or on exact ones where none has any."""
    ratios = _matching(measures, experiment, sharing.RATIO, senders=senders)
    return [ratio for ratio in ratios if sharing.JITTER in ratio.about] or ratios


@_decides("C25", sharing.MTU_BIAS)
def jumbo_frames_get_fourteen_times_as_much(measures: Sequence[Measure]) -> Criteria:
    """C25: packets of 9000 and of 1500 bytes on one bottleneck, Reno."""
    ratios = _ratios(measures, sharing.MTU_BIAS, "mtu=1500")
    conditions = within("9000 bytes' throughput over 1500 bytes'", _mean(ratios), 6, 20)
    return Criteria(conditions, least_seeds=SHARING_SEEDS)


@_decides("C26", sharing.RTT_BIAS)
def the_shorter_round_trip_gets_more(measures: Sequence[Measure]) -> Criteria:
    """C26: 117 ms beside each RTT that is printed for the longer one, Reno, MTU 9000.

    For the same two throughputs one document prints 172 ms, the other 181 ms.
    """
    conditions: list[Condition] = []
    for rtt_ms in (172, 181):
        ratios = _ratios(measures, sharing.RTT_BIAS, f"rtt={rtt_ms}ms")
        quantity = f"throughput at 117 ms over that at {rtt_ms} ms"
        conditions += within(quantity, _mean(ratios), 1.8, 4)
    return Criteria(tuple(conditions), least_seeds=SHARING_SEEDS)


def _of_free_hosts(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures of hosts that are infinitely fast, so that only the path limits."""
    return [measure for measure in measures if window_cap.HOST not in measure.about]


@_decides("C27", window_cap.EXPERIMENT)
def a_capped_window_loses_nothing_and_holds_the_rate(measures: Sequence[Measure]) -> Criteria:
    """C27: 10 Gbit/s, 180 ms, MTU 9000; after slow start, over the path's payload rate.

    That it is the cap which avoids loss shows beside a window of half as much again.
    """
    free = _of_free_hosts(measures)
    wider = _matching(free, window_cap.EXPERIMENT, window_cap.RETRANSMITTED_WIDER)
    conditions = [Condition("a wider window: packets sent again", _mean(wider), ">", 0)]
    retransmissions = _matching(free, window_cap.EXPERIMENT, window_cap.RETRANSMITTED)
    utilisations = _matching(free, window_cap.EXPERIMENT, window_cap.UTILISATION)
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
    times = _matching(measures, recovery.EXPERIMENT, recovery.TIME, stack=RENO, mtu="9000")
    conditions: list[Condition] = []
    for jumbo in times:
        path = jumbo.about["path"].removesuffix("-jumbo")
        about = {**jumbo.about, "path": path, "mtu": "1500"}
        about.pop("seen", None)
        plain = _matching(measures, recovery.EXPERIMENT, recovery.TIME, **about)[0]
        quantity = f"{path}, {jumbo.about['acks']} ACKs: 1500 bytes' time over 9000 bytes'"
        conditions += within(quantity, plain.value / jumbo.value, 5, 7)
    return Criteria(tuple(conditions))


@_decides("C34", response.EXPERIMENT)
def some_new_stacks_do_well_at_a_high_loss(measures: Sequence[Measure]) -> Criteria:
    """C34: a loss of 1e-3 on each path, the two best stacks of 2004 but Reno."""
    throughputs = _matching(
        measures, response.EXPERIMENT, response.THROUGHPUT, drop=f"random:{HIGH_LOSS}"
    )
    conditions, remarks = [], []
    for path in dict.fromkeys(measure.about["path"] for measure in throughputs):
        on_path = select_measures(throughputs, response.THROUGHPUT, path=path)
        reno = _mean(_matching(on_path, response.EXPERIMENT, response.THROUGHPUT, stack=RENO))
        stacks = {measure.about["stack"] for measure in on_path} - {RENO, "udt"}
        ratios = {
            stack: _mean(select_measures(on_path, response.THROUGHPUT, stack=stack)) / reno
            for stack in sorted(stacks)
        }
        best = sorted(ratios, key=lambda stack: -ratios[stack])
        if len(best) > 1:
            second = ratios[best[1]]
            conditions.append(
                Condition(f"{path}: second best stack over Reno", second, ">=", DOES_WELL)
            )
            remarks.append(f"{path}: {best[0]} and {best[1]}")
    return Criteria(tuple(conditions), tuple(remarks))


@_decides("C37", recovery.EXPERIMENT)
def fast_takes_several_seconds_to_recover(measures: Sequence[Measure]) -> Criteria:
    """C37: 1 Gbit/s, 128 ms, one packet lost."""
    about = {"path": "datatag-128", "stack": "fast", "acks": "delayed"}
    time = _matching(measures, recovery.EXPERIMENT, recovery.TIME, **about)[0]
    return Criteria(within("FAST's time to recover", time.value, *SEVERAL_S, "s"))


def _on_each_path(
    measures: Sequence[Measure], quantity: str, mechanism: str, relation: str, said: tuple[str, str]
) -> Criteria:
    """Return the condition for each path that all settings but one compare so with all of them.

    ``mechanism``: without the one. ``said``: how a condition names the value and its limit. Raises
    MissingRunsError if a path of the experiment lacks runs of either.
    """

    def by_path(name: str) -> dict[str, list[Measure]]:
        return {
            path: _matching(measures, tuning.EXPERIMENT, quantity, mechanism=name, path=path)
            for path in tuning.PATHS
        }

    without, tuned = by_path(mechanism), by_path(tuning.TUNED)
    label, limit_label = said
    return Criteria(
        tuple(
            Condition(
                f"{path}: {label}", _mean(without[path]), relation, _mean(tuned[path]),
                tuned[path][0].unit, limit_label,
            )
            for path in tuning.PATHS
        )
    )  # fmt: skip


@_decides("C38", tuning.EXPERIMENT)
def sack_slows_a_sender_down(measures: Sequence[Measure]) -> Criteria:
    """C38: tuned hosts, which have SACK off, and the same hosts with SACK."""
    said = ("throughput with SACK", "without")
    return _on_each_path(measures, tuning.THROUGHPUT, f"{ALL_BUT}sack", "<", said)


@_decides("C39", tuning.EXPERIMENT)
def a_short_transmit_queue_slows_a_sender_down(measures: Sequence[Measure]) -> Criteria:
    """C39: tuned hosts, with the queue as it was delivered and as it is recommended."""
    said = ("throughput with 100 packets", "with 30,000")
    return _on_each_path(measures, tuning.THROUGHPUT, f"{ALL_BUT}txqueue", "<", said)


@_decides("C40", tuning.EXPERIMENT)
def a_cached_threshold_slows_the_next_connection_down(measures: Sequence[Measure]) -> Criteria:
    """C40: tuned hosts, with the threshold of a connection of 64 KiB and without."""
    said = ("time to fill it with a cached threshold", "without")
    return _on_each_path(measures, tuning.FILL_TIME, f"{ALL_BUT}cache", ">", said)


@_decides("C41", parallel_streams.EXPERIMENT)
def a_wide_area_carries_almost_what_a_fibre_pair_does(measures: Sequence[Measure]) -> Criteria:
    """C41: the same hosts, with the published streams and windows."""

    def sum_mbps(**about: str) -> float:
        sums = _matching(
            measures, parallel_streams.EXPERIMENT, parallel_streams.SUM, toe="yes", **about
        )
        return _mean(sums)

    wide = sum_mbps(path="pittsburgh-sunnyvale", streams="16", window="2000000")
    near = sum_mbps(path="booth", streams="40")
    return Criteria((Condition("wide area over back to back", wide / near, ">=", ALMOST),))


@_decides("C42", parallel_streams.EXPERIMENT)
def udt_stays_below_parallel_streams(measures: Sequence[Measure]) -> Criteria:
    """C42: back to back, hosts whose cards have no offload, packets of 1500 bytes."""

    def sum_mbps(**about: str) -> float:
        about |= {"path": "booth", "toe": "no"}
        return _mean(
            _matching(measures, parallel_streams.EXPERIMENT, parallel_streams.SUM, **about)
        )

    udt, streams = sum_mbps(stack=parallel_streams.UDT), sum_mbps(stack=RENO, streams="40")
    return Criteria(within("UDT over 40 TCP streams", udt / streams, *UDT_PART))


@_decides("C43", window_cap.EXPERIMENT)
def ipv6_is_slower_than_ipv4(measures: Sequence[Measure]) -> Criteria:
    """C43: the same path, host and window."""
    free = _of_free_hosts(measures)
    ipv6, ipv4 = (
        _mean(_matching(free, window_cap.EXPERIMENT, window_cap.THROUGHPUT, ip=ip))
        for ip in ("6", "4")
    )
    return Criteria(within("throughput of IPv6 over that of IPv4", ipv6 / ipv4, *IPV6_PART))


def _host_mbps(measures: Sequence[Measure], **about: str) -> float:
    """Return the throughput of a host with one processor."""
    about["processors"] = "1"
    return _mean(_matching(measures, end_hosts.EXPERIMENT, end_hosts.THROUGHPUT, **about))


@_decides("C44", end_hosts.EXPERIMENT)
def other_programs_slow_a_slow_host_down(measures: Sequence[Measure]) -> Criteria:
    """C44: the host of 1.2 GHz, the most programs of the same priority that were run."""
    loaded, alone = (
        _host_mbps(measures, rtt="1", cpu="1.2", load=load) for load in (MOST_LOAD, "0")
    )
    return Criteria(
        (Condition("1.2 GHz, with three programs", loaded, "<", alone, "Mbit/s", "without"),)
    )


@_decides("C45", end_hosts.EXPERIMENT)
def other_programs_leave_a_fast_host_as_it_is(measures: Sequence[Measure]) -> Criteria:
    """C45: the host of 2.8 GHz, as in C44."""
    loaded, alone = (
        _host_mbps(measures, rtt="1", cpu="2.8", load=load) for load in (MOST_LOAD, "0")
    )
    part = Condition("2.8 GHz, with three programs over without", loaded / alone, ">=", CONSTANT)
    return Criteria((part,))


@_decides("C46", end_hosts.EXPERIMENT)
def a_longer_way_slows_a_host_down(measures: Sequence[Measure]) -> Criteria:
    """C46: the slide names no host: of both clocks the one whose throughput falls more."""
    parts = {
        cpu: _host_mbps(measures, rtt="15", cpu=cpu, load="0")
        / _host_mbps(measures, rtt="1", cpu=cpu, load="0")
        for cpu in ("1.2", "2.8")
    }
    falls = min(parts, key=lambda cpu: parts[cpu])
    return Criteria(within(f"{falls} GHz, 15 ms over 1 ms", parts[falls], *FAR_PART))


def _tuned_over(measures: Sequence[Measure], mechanism: str, path: str) -> float:
    """Return the throughput of tuned hosts over that of hosts with all settings but one."""
    tuned, without = (
        _mean(_matching(measures, tuning.EXPERIMENT, tuning.THROUGHPUT, mechanism=name, path=path))
        for name in (tuning.TUNED, f"{ALL_BUT}{mechanism}")
    )
    return tuned / without


@_decides("C47", tuning.EXPERIMENT)
def tuned_buffers_give_twenty_times_as_much(measures: Sequence[Measure]) -> Criteria:
    """C47: tuned hosts, with the buffers of a path and with 64 KiB."""
    return Criteria(
        tuple(
            Condition(
                f"{path}: tuned over all but buffers", _tuned_over(measures, "buffers", path), ">",
                BUFFERS_FACTOR,
            )
            for path in tuning.PATHS
        )
    )  # fmt: skip


@_decides("C48", tuning.EXPERIMENT)
def longer_bursts_give_a_third_more(measures: Sequence[Measure]) -> Criteria:
    """C48: tuned hosts with jumbo frames, bursts of 4096 and of 512 bytes on the bus."""
    factor = _tuned_over(measures, "burst", "land-speed")
    return Criteria(within("land-speed: tuned over all but bursts", factor, *BURST_FACTOR))
